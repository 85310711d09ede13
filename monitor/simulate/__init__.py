"""A fictional cloud provider's support bot with its traffic, for the demo and for fire drills."""
