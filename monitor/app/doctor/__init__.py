"""`monitor doctor`: checks everything that a run needs. In: the application. Out: findings, and how to mend them.

`examine` lists the checks: of `parts` of the program, of `services` that it reaches, and of what is `stored`.
"""
