"""What proves the record: canonical bytes, commitments, the Merkle tree, signed checkpoints, and the export."""
