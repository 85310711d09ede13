"""DOC monitor/store/privacy"""
