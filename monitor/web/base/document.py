"""The OpenAPI document: what FastAPI makes of the routes, with our form of problems in place of its own."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI

from monitor.web.base.problem import Problem


class Described(FastAPI):
    """The application, and its description."""

    def openapi(self) -> dict[str, Any]:
        """The document; made once."""
        if self.openapi_schema is None:
            document = super().openapi()
            schemas = document["components"]["schemas"]
            for unused in ("HTTPValidationError", "ValidationError"):
                schemas.pop(unused, None)
            schemas[Problem.__name__] = Problem.model_json_schema()
            self.openapi_schema = document
        return self.openapi_schema
