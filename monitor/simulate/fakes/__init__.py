"""DOC monitor/simulate/fakes"""
