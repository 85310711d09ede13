"""Weekly reports. In: stored reports.

Out: their list, each as page, HTML, Markdown and JSON, `/api/v1/reports`, and last week's reports on demand.
"""
