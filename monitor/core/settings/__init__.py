"""DOC monitor/core/settings"""
