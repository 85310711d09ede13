"""The part of the composition root that wires the document look-up."""

from __future__ import annotations

from monitor.core.errors import WrongSettings
from monitor.core.settings.lookup import LookupSettings, LookupSource
from monitor.ingest.lookup.guard import CachedLookup, PatientLookup
from monitor.ingest.lookup.lookup import DocumentLookup, LookupByApp


def document_lookup(settings: LookupSettings) -> DocumentLookup | None:
    """The look-up of the settings, with its cache and patience; None if no source is set.

    Connects to nothing yet.

    Raises:
        WrongSettings: a source is malformed.
    """
    by_app = {app: _guarded(source, settings) for app, source in settings.by_app.items() if source.is_set}
    default = _guarded(settings, settings) if settings.is_set else None
    return LookupByApp(default, by_app) if default is not None or by_app else None


def sources(settings: LookupSettings) -> dict[str, DocumentLookup]:
    """Every source without cache and patience, by its setting, for a check."""
    named = {"MONITOR_LOOKUP": settings, **{f"MONITOR_LOOKUP__BY_APP {app}": s for app, s in settings.by_app.items()}}
    return {name: _source(source, settings.timeout) for name, source in named.items() if source.is_set}


def _guarded(source: LookupSource, settings: LookupSettings) -> DocumentLookup:
    patient = PatientLookup(_source(source, settings.timeout), patience=settings.patience)
    return CachedLookup(patient, max_bytes=settings.cache_bytes, seconds=settings.cache_seconds)


def _source(source: LookupSource, timeout: float) -> DocumentLookup:
    if source.database_url is not None and source.query is not None:
        from monitor.ingest.lookup.sql import SqlLookup

        return SqlLookup(source.database_url.get_secret_value(), source.query, timeout=timeout)
    if source.url is not None:
        from monitor.ingest.lookup.http import HttpLookup

        return HttpLookup(
            source.url,
            timeout=timeout,
            token=source.token.get_secret_value() if source.token else None,
            text_path=source.text_path,
            id_path=source.id_path,
            items_path=source.items_path,
        )
    if source.path is not None:
        from monitor.ingest.lookup.file import FileLookup

        return FileLookup(source.path, text_path=source.text_path, id_path=source.id_path)
    raise WrongSettings("MONITOR_LOOKUP: no source is set")
