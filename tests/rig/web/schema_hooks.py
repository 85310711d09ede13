"""What schemathesis has to be told of: words that only this program makes, and what it has stored."""

import os

import schemathesis
from hypothesis import strategies as st

schemathesis.openapi.format("cursor", st.sampled_from(os.environ["SCHEMA_CURSORS"].split(",")))
