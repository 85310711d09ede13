"""From bytes to interactions: where messages come from, what they may look like, and what cannot be one."""
