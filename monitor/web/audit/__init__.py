"""DOC monitor/web/audit"""
