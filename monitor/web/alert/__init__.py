"""DOC monitor/web/alert"""
