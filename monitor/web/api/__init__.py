"""The JSON API, `/api/v1`: one module a noun, described by OpenAPI."""

from fastapi import APIRouter

router = APIRouter(prefix="/api/v1")
