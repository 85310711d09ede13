"""What `monitor.store.audit.verify` checks: ranges of leaves and their rows, the tree, and what no range covers."""
