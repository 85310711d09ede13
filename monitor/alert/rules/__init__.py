"""DOC monitor/alert/rules"""
