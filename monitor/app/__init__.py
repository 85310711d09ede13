"""DOC monitor/app"""
