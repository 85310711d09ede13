"""Takes spans and events that chatbots send, and turns them into interactions. In: requests. Out: stored turns."""
