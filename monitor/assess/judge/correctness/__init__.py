"""In: a question, its reference answer, contexts and an answer. Out: a grade from 1 to 5, or that it is not sure."""
