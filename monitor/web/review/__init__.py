"""DOC monitor/web/review"""
