"""DOC monitor/privacy"""
