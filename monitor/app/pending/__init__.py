"""Work that was left undone with the event, and the workers that do it."""
