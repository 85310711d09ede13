"""In: golden questions and a chatbot. Out: how right its answers are, and how fast a conversation gets there.

Formulas: metrics.md §4. Targets ask the chatbot; the judge is `monitor.assess.judge.correctness`.
"""
