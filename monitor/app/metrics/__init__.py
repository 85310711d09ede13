"""What a process says of itself to those who watch it."""
