"""DOC monitor/assess"""
