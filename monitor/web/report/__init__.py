"""DOC monitor/web/report"""
