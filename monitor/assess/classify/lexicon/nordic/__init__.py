"""Nordic languages. Out: a `Wording` of Swedish, and one of Danish and Norwegian, which word refusals alike."""
