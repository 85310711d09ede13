"""The OpenAPI document: FastAPI's description of the routes, with RFC 9457 problems in place of its own errors."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from typing_extensions import override

from monitor.web.base.problem import Problem


class DashboardApp(FastAPI):
    @override
    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            document = super().openapi()
            schemas = document["components"]["schemas"]
            for unused in ("HTTPValidationError", "ValidationError"):
                schemas.pop(unused, None)
            schemas[Problem.__name__] = Problem.model_json_schema()
            self.openapi_schema = document
        return self.openapi_schema
