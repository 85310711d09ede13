"""OpenTelemetry traces of the program's own stages. In: stages (`core/stage.py`). Out: spans over OTLP/HTTP.

Imported only where `MONITOR_TRACING__ENDPOINT` is set.
"""
