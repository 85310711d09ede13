"""The weekly report: what was counted of one app's week, what that says, and how it looks."""
