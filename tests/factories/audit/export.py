"""An export of a small log, with hostile text in it, packed and unpacked."""

from __future__ import annotations

import zipfile
from hashlib import sha256
from io import BytesIO
from itertools import pairwise

from monitor.audit.canonical import canonical
from monitor.audit.export import ConsistencyProof, ExportAbout, ExportedRecord, write_export
from monitor.audit.merkle import consistency_proof, inclusion_proof
from monitor.audit.record import (
    ASSESSMENT_PERSONAL,
    INTERACTION_PERSONAL,
    act_record,
    assessment_record,
    disclosed,
    interaction_record,
)
from tests.factories.answers import NOON, at
from tests.factories.audit.rows import SECRET, SIGNER, Log, an_assessment_row, an_interaction_row

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>"
DEFINITION = {"name": "minilm", "threshold": 0.5, "weight": 1.0, "tiny": 1e-7}
PROFILE = {"name": "minilm", "embedding_model": "minilm/fp32", "definition": DEFINITION}
INTERACTIONS = [
    an_interaction_row(id=f"q-{n}", question=f"{n}? {HOSTILE}", tag_digests=None, cost=None) for n in range(5)
]
ASSESSMENTS = [an_assessment_row(id=f"q-{n}") for n in range(5)]
SOURCE = "rules: []"
RULES = {"source": SOURCE, "digest": sha256(SOURCE.encode()).hexdigest(), "rules": {}}
ACTS = [
    act_record(
        kind="profile",
        app="",
        subject="0123456789abcdef",
        body={"by": "monitor", "definition": sha256(canonical(DEFINITION)).hexdigest()},
    ),
    act_record(kind="rules", app="", subject="rules", body={"by": "monitor", **RULES}),
]
LOG = Log(
    [
        *ACTS,
        *(interaction_record(row, SECRET) for row in INTERACTIONS),
        *(assessment_record(row, SECRET) for row in ASSESSMENTS),
        interaction_record(an_interaction_row(app="other-bot", cost=None), SECRET),
    ]
)
SIZES = (4, 7, len(LOG.leaves))
ABOUT = ExportAbout(
    app="support-bot", start=NOON, end=at(60), made_at=at(90), made_by="ann", verifier_key=SIGNER.verifier_key
)
ERASED = 3  # the leaf of an interaction of which the secret is gone


def the_records(log=LOG):
    size = len(log.leaves)
    opened = [None, None]
    opened += [disclosed(row, SECRET, INTERACTION_PERSONAL) for row in INTERACTIONS]
    opened += [disclosed(row, SECRET, ASSESSMENT_PERSONAL) for row in ASSESSMENTS]
    opened[ERASED] = None
    for index, of in enumerate(opened):
        proof = inclusion_proof(index, size, log.node)
        yield ExportedRecord(index=index, body=log.bodies[index].decode(), proof=proof, disclosed=of)


def an_export(**over):
    out, log = BytesIO(), over.pop("log", LOG)
    known = {
        "records": the_records(log),
        "checkpoints": [log.note(size) for size in SIZES],
        "consistency": [
            ConsistencyProof(old=old, new=new, proof=consistency_proof(old, new, log.node))
            for old, new in pairwise(SIZES)
        ],
        "profiles": {"0123456789abcdef": PROFILE},
        "rules": [RULES],
        "about": ABOUT,
    }
    write_export(out, **{**known, **over})
    return out.getvalue()


EXPORT = an_export()


def unpacked(content=EXPORT):
    with zipfile.ZipFile(BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}
