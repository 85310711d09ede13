"""Settings of the document look-up, which finds the texts of documents that traces know by id only."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, SecretStr, model_validator

from monitor.core.settings.sections import Section


class LookupSource(Section):
    """One source of texts: a database with a query, an HTTP address, or a file of JSON lines."""

    database_url: SecretStr | None = Field(None, description="PostgreSQL or SQLite; goes with query")
    query: str | None = Field(None, description="gives id and text: SELECT id, text FROM chunks WHERE id IN :ids")
    url: Annotated[str | None, Field(pattern=r"^https?://[^/{}\s]+")] = Field(
        None, description="http(s) URL: with {id} a GET for each document, else a POST of the ids"
    )
    token: SecretStr | None = Field(None, description="url only: sent as a bearer token")
    path: Path | None = Field(None, description="a file of JSON lines, one for each document")
    id_path: str = Field("id", min_length=1, description="url and path: where the id stands, as in chunk.id")
    text_path: str = Field("text", min_length=1, description="url and path: where the text stands")
    items_path: str = Field("", description="url without {id}: where the list of documents stands in the answer")

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.database_url is None) != (self.query is None):
            raise ValueError("database_url and query go together")
        if self.query is not None and ":ids" not in self.query:
            raise ValueError("query needs the bind :ids, as in WHERE id IN :ids")
        if sum(one is not None for one in (self.query, self.url, self.path)) > 1:
            raise ValueError("only one of query, url and path can be set")
        return self

    @property
    def is_set(self) -> bool:
        return self.query is not None or self.url is not None or self.path is not None


class LookupSettings(LookupSource):
    """The look-up of all apps, with others for single ones, and its limits."""

    by_app: dict[str, LookupSource] = Field({}, description="another source for single apps")
    timeout: float = Field(5.0, gt=0, le=60, description="seconds for one query or request")
    patience: float = Field(300.0, ge=0, description="seconds for which turns wait while the source is down")
    cache_bytes: int = Field(32 * 2**20, ge=0, description="bytes of memory for texts that were found")
    cache_seconds: float = Field(600.0, gt=0, description="how long a text that was found is kept")
