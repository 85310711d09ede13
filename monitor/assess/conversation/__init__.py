"""Follow-up questions, completed from the turns before them without a language model.

In: interactions, and the earlier turns of their conversations. Out: a `StandaloneQuestion` for each that leans on them.
"""
