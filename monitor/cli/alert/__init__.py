"""The commands `monitor alerts` and `monitor rules`.

Takes alert and rule names, silences and rules files; gives tables, JSON and what people did about alerts.
"""
