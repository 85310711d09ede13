"""From counts to pages: rules over the minute rollup, the state of each alert, and who is told."""
