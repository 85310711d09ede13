"""Slavic languages, whose nouns and verbs take endings. Out: a `Wording` each."""
