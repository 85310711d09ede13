"""The commands about labels: `monitor review`, `evaluate`, `calibrate` and `profiles`.

Takes stored interactions and labelled files; gives offers to label, tables of figures, pages and profiles.
"""
