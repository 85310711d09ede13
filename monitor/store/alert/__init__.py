"""DOC monitor/store/alert"""
