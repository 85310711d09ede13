"""DOC monitor/ingest/kafka"""
