"""DOC monitor/app/background"""
