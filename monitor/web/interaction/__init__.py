"""DOC monitor/web/interaction"""
