"""The command line: one module or folder for each noun; `app.py` assembles them.

Takes arguments and the settings in force; gives a table, a page or JSON, and an exit code.
"""
