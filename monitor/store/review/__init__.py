"""DOC monitor/store/review"""
