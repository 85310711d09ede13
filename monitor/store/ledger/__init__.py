"""DOC monitor/store/ledger"""
