"""What is usual in an app: frozen references in the database, and how relevant its chunks are.

Takes the live assessments of a period; gives frozen rows of scores, sealed as acts, to those who rank later answers.
"""
