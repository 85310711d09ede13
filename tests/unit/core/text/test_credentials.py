from __future__ import annotations

import pytest

from monitor.core.text.credentials import without_credentials


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://ada:s3cret@llm.example.org/v1", "https://***@llm.example.org/v1"),
        ("https://s3cret@llm.example.org/v1", "https://***@llm.example.org/v1"),
        ("https://:s3cret@llm.example.org:8443", "https://***@llm.example.org:8443"),
        ("https://ada:s3@cret@llm.example.org/v1", "https://***@llm.example.org/v1"),
        ("https://ada:s3/cret@llm.example.org/v1", "https://***@llm.example.org/v1"),
        ("https://ada:s3?cr#et@llm.example.org/v1", "https://***@llm.example.org/v1"),
        ("HTTPS://a:s3cret@b, http://c:s3cret@d", "HTTPS://***@b, http://***@d"),
        ("https://b/v1?api_key=s3cret&n=1", "https://b/v1?api_key=***&n=1"),
        ("https://b/v1?n=1&X-Amz-Signature=s3cret#top", "https://b/v1?n=1&X-Amz-Signature=***#top"),
        ("https://b/#access_token=s3cret", "https://b/#access_token=***"),
    ],
)
def test_credentials_are_hidden(url, shown):
    assert without_credentials(url) == shown


@pytest.mark.parametrize(
    "text", ["https://llm.example.org:8000/v1?n=1", "support@example.org", "[/a]b+", "", "https://medium.com/@ada"]
)
def test_other_texts_are_as_they_were(text):
    assert without_credentials(text) == text
