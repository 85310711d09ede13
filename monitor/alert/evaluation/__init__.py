"""DOC monitor/alert/evaluation"""
