"""Rows as the store reads them, and the log that their records are sealed in."""

from __future__ import annotations

from monitor.audit.canonical import canonical
from monitor.audit.key import Signer
from monitor.audit.merkle import leaf_hash, root_of
from monitor.audit.note import Checkpoint, signed
from tests.factories.answers import NOON, at

ORIGIN = "monitor.example/audit"
SIGNER = Signer(ORIGIN, bytes(range(32)))
SECRET = bytes(range(32))


def an_interaction_row(**over):
    known = {
        "app": "support-bot",
        "id": "q-1",
        "occurred_at": NOON,
        "stored_at": at(1),
        "environment": "production",
        "conversation_id": "c-1",
        "turn": None,
        "question": "How long are deleted snapshots kept?",
        "answer": "Deleted snapshots are kept for 30 days.",
        "retrieved_documents": [{"id": "d-1", "text": "Deleted snapshots are kept for 30 days.", "score": 1.0}],
        "supporting_documents": None,
        "reference_answer": None,
        "model": "gpt-test",
        "prompt_version": None,
        "tags": {"topic": "storage"},
        "trace_id": None,
        "latency_ms": 120.0,
        "input_tokens": 100,
        "output_tokens": 10,
        "marks": [],
        "source_topic": "answers",
        "source_partition": 0,
        "source_offset": 7,
        "cost": 0.0042,
        "tag_digests": ["a1f4c39b00d2e57788aa31c4095fe6d2"],
        "unscored": None,
        "replaced_at": None,
        "replaced_offset": None,
    }
    return known | over


def an_assessment_row(**over):
    known = {
        "app": "support-bot",
        "id": "q-1",
        "profile_hash": "0123456789abcdef",
        "occurred_at": NOON,
        "profile_name": "minilm",
        "embedding_model": "minilm/fp32",
        "verdict": "grounded",
        "rule_verdict": "grounded",
        "reasons": [],
        "refusal_kind": "none",
        "refusal_correct": None,
        "p_grounded": 0.7,
        "p_refusal": 0.1,
        "p_self_generated": 0.2,
        "uncalibrated": True,
        "sdq": 0.1,
        "sdrd": None,
        "sda": 1.0,
        "qrd": -0.3,
        "qa": 1e-7,
        "features": {"joined": {"sdq": 0.1}, "undefined": {}},
        "support": {"origin": "extractive", "documents": []},
        "rank": 0.019960079,
        "reference": "89abcdef01234567",
        "diagnosis": None,
        "live": True,
        "revised_at": None,
        "earlier": None,
        "evidence": {"alignment": []},
    }
    return known | over


def a_judgement_row(**over):
    known = {
        "app": "support-bot",
        "id": "q-1",
        "metric": "faithfulness",
        "model": "gpt-test",
        "prompt_hash": "fedcba9876543210",
        "occurred_at": NOON,
        "mode": "separate",
        "score": 0.5,
        "reason": None,
        "parts": {"statements": ["it is kept"]},
        "calls": 2,
        "input_tokens": 100,
        "output_tokens": 10,
        "cost": 0.25,
        "judged_at": at(5),
        "inclusion": 0.125,
    }
    return known | over


class Log:
    """A sealed log in memory: leaves, nodes and checkpoints."""

    def __init__(self, records, signer=SIGNER):
        self.signer = signer
        self.bodies = [canonical(record) for record in records]
        self.leaves = [leaf_hash(body) for body in self.bodies]

    def node(self, level, index):
        return root_of(self.leaves[index << level : (index + 1) << level])

    def note(self, size):
        checkpoint = Checkpoint(origin=self.signer.name, size=size, root=root_of(self.leaves[:size]))
        return signed(checkpoint, self.signer)
