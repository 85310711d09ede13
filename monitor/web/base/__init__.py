"""DOC monitor/web/base"""
