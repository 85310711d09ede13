"""DOC monitor/store/tables"""
