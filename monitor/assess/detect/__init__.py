"""Stronger models that some users have: what in an answer do the documents not carry?"""
