"""What is installed beside the code: optional packages, code that users name in settings, and the documentation.

In: names. Out: imported packages and objects, or an error that says what to install or correct; pages.
"""
