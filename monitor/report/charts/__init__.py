"""Charts, written as SVG.

Takes points with their intervals; gives SVG elements for pages and PNG images for Slack.
"""
