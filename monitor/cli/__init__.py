"""DOC monitor/cli"""
