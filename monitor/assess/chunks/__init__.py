"""In: a question, the documents that were retrieved for it, their vectors, and the verdict on the answer.

Out: the documents' chunks, which of them are relevant, redundant and used, and the diagnosis that they lead to.
"""
