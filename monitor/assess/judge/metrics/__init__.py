"""The judged metrics, one module for each or for two that share their prompt."""
