"""In: golden sets, and runs of probes. Out: their rows, and what alerts, pages and reports read of them."""
