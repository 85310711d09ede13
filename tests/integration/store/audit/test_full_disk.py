"""An export or a proof for which the disk has no room: what was there before stays, and no half of a file is left."""

from __future__ import annotations

from datetime import timedelta

import pytest

from monitor.audit.export import ExportAbout
from monitor.cli.audit.disclosure import _write_export, _write_json
from monitor.core.errors import WrongSettings
from monitor.store.audit.proofs import Proofs
from tests.factories.answers import NOON, an_assessment
from tests.rig.audit.shipped import verified
from tests.rig.full_disk import room_for
from tests.rig.store.audit_trail import Trail
from tests.rig.store.keys import KEY

ABOUT = ExportAbout(
    app=None,
    start=NOON - timedelta(days=1),
    end=NOON + timedelta(days=1),
    made_at=NOON,
    made_by="ann",
    verifier_key=KEY,
)


def test_an_export_without_room_leaves_the_one_of_before(engine, database, tmp_path):
    trail, path = Trail(engine, database), tmp_path / "all.zip"
    trail.write(an_assessment(id="a"))
    trail.turn()
    with Proofs(engine).snapshot() as snapshot:

        def write():
            return _write_export(path, snapshot, ABOUT, snapshot.between(None, ABOUT.start, ABOUT.end, disclose=False))

        write()
        with room_for(1_000), pytest.raises(WrongSettings, match=r"all\.zip: cannot be written: File too large"):
            write()
    assert verified(path.read_bytes(), KEY)[0] == 0
    assert list(tmp_path.glob("all*")) == [path]


def test_a_proof_without_room_leaves_the_one_of_before(tmp_path):
    path = tmp_path / "proof.json"
    _write_json(path, {"id": "a"})
    with room_for(1_000), pytest.raises(WrongSettings, match=r"proof\.json: File too large"):
        _write_json(path, {"id": "b" * 2_000})
    assert path.read_text() == '{\n  "id": "a"\n}\n'
    assert list(tmp_path.glob("proof*")) == [path]
