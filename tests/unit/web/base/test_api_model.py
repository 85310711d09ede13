from __future__ import annotations

import pytest

from monitor.web.base.api_model import masked_throughout

ADA, BOB = "ada@example.org", "bob@example.org"


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        ([ADA, BOB, "eve@example.org"], ["[e-mail]", "[e-mail] (2)", "[e-mail] (3)"]),
        (["[e-mail] (2)", ADA, BOB], ["[e-mail] (2)", "[e-mail]", "[e-mail] (3)"]),
        ([ADA, BOB, "[e-mail] (2)"], ["[e-mail]", "[e-mail] (2)", "[e-mail] (2) (2)"]),
    ],
)
def test_names_that_are_alike_when_masked_are_numbered_and_none_is_lost(names, shown):
    before = {name: {name: place} for place, name in enumerate(names)}
    after = masked_throughout(before)
    assert list(after) == shown
    assert [list(inner.values()) for inner in after.values()] == [[place] for place in range(len(names))]
