"""In: the text of a YAML file. Out: its values or a form of them; errors name the file, the line and the column.

`problems` words what is wrong with any form, also one that is read from the environment or from JSON.
"""
