"""DOC monitor/cli/review"""
