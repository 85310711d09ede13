"""What is written for people to read later; so far its charts."""
