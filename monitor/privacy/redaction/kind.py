"""What can be found in a text, and the words that take its place."""

from __future__ import annotations
