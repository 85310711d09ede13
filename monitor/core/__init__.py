"""DOC monitor/core"""
