"""In: texts of any language, from people, models and servers.

Out: their sentences, words and plain prose, safe to show; regular expressions and durations from settings.
"""
