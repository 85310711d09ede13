"""DOC monitor/web/signin"""
