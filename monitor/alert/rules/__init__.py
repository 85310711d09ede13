"""The rules file: YAML text comes in; rules, grouping and inhibitions go out.

Every error names the file, the line and the column.
"""
