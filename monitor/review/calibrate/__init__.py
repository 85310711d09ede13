"""From labelled answers of one's own to a profile whose probabilities hold for them."""
