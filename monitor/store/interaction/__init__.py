"""DOC monitor/store/interaction"""
