"""DOC monitor/app/wiring"""
