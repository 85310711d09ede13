"""Numbers with their units: how they are written in figures and words, read, and compared."""
