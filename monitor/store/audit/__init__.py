"""DOC monitor/store/audit"""
