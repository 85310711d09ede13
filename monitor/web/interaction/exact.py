"""Who may look for answers by a value that is personal data: of one customer, or in a label that should have none."""

from __future__ import annotations

from dataclasses import replace

from fastapi import Request

from monitor.app.wiring.application import Application
from monitor.privacy.masking import redact
from monitor.privacy.tag_digest import tag_digests
from monitor.store.interaction.filters import Filters
from monitor.web.base.access import Identity, Permission
from monitor.web.base.guard import Forbidden


def permitted(request: Request, who: Identity, filters: Filters) -> Filters:
    """The filters; for those who may see personal data also with the digests that find redacted tags.

    Others could find out by guessing who a masked or redacted value belongs to.

    Raises:
        Forbidden: `who` may not see personal data, and a value that is sought would be masked.
    """
    sought = (*filters.exact.values, filters.environment, filters.model, filters.topic)
    if not who.may(Permission.UNMASK) and any(value is not None and redact(value) != value for value in sought):
        raise Forbidden(f"the role {who.role} sees personal data masked only, and cannot search for it")
    if filters.exact.tag is None or not who.may(Permission.UNMASK):
        return filters
    application: Application = request.app.state.application
    digests = tag_digests(application.auditing.known_tag_keys(), *filters.exact.tag)
    return replace(filters, exact=replace(filters.exact, tag_digests=digests))
