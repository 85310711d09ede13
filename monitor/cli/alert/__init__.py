"""DOC monitor/cli/alert"""
