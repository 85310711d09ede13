"""What schemathesis has to be told of: words that only this program makes, and what it has stored."""

import os

import schemathesis
from hypothesis import strategies as st

schemathesis.openapi.format("cursor", st.sampled_from(os.environ["SCHEMA_CURSORS"].split(",")))
schemathesis.openapi.format("rules", st.just("rules:\n  - {name: a, signal: {rate: negative}, above: 0.3}\n"))
schemathesis.openapi.format("tag", st.just("user=4711"))
