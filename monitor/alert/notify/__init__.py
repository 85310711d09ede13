"""DOC monitor/alert/notify"""
