"""Finding what is personal in a text: by forms that anybody's texts have, by countries, by patterns of one's own.

`monitor.privacy.masking` shows texts with it, always; `redactor` takes it out of what arrives, where that is asked for.
"""
