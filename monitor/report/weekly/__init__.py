"""The weekly report of one app.

Takes what was counted of a week; gives its content as JSON, and that as HTML, Markdown or a Slack message.
"""
