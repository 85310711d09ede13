"""What changed: rows of an alert's window and baseline come in; findings, clusters of questions and examples go out.

`explain.explain` shows the flow. Everything here is pure; `store/alert/explanations.py` reads the rows.
"""
