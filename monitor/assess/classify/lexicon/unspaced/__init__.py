"""Languages without spaces between words, or whose words take endings: their patterns match pieces of text.

Out: a `Wording` each.
"""
