"""DOC monitor/store/pending"""
