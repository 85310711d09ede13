"""DOC monitor/web/ledger"""
