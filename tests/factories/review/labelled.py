"""Labelled answers for evaluation and calibration."""

from __future__ import annotations

HOLDS = ["Deleted snapshots are kept for 30 days, then they are purged for good.", "A volume has at most 64 TiB."]
INVENTED = "Trained hamsters carry every second moonbeam towards breakfast."
