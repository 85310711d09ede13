"""DOC monitor/cli/demo"""
