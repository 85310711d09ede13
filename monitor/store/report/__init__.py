"""DOC monitor/store/report"""
