"""Reports and their charts.

Takes counts and figures; gives the weekly report of an app, and charts as SVG or PNG.
"""
