"""DOC monitor/report/charts"""
