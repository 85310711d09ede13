"""DOC web/deadletters"""
