"""In: a question and what was said before. Out: the chatbot's answer, by HTTP, chat API, Python callable or command."""
