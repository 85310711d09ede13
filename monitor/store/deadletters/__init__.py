"""DOC store/deadletters"""
