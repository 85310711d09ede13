"""True rates of a period from labels that were drawn for it."""
