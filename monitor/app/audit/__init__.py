"""DOC app/audit"""
