"""DOC monitor/core/text"""
