"""From scores to a verdict with its reasons."""
