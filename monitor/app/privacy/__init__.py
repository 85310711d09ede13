"""DOC monitor/app/privacy"""
