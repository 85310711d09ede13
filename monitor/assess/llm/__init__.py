"""In: prompts with their data. Out: answers in the form that the prompt asks for, with their cost.

One adapter talks to an OpenAI-compatible server, call by call or through its batch endpoint.
"""
