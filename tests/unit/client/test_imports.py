"""What a chatbot loads with the client."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
SCRIPT = """
import sys
import monitor.client
ours = {name for name in sys.modules if name.startswith("monitor.")}
assert all(name.startswith("monitor.client") for name in ours), ours
roots = {name.partition(".")[0] for name in sys.modules}
others = {name for name in roots if name not in sys.stdlib_module_names and name not in {"monitor", "sitecustomize"}}
print(*sorted(name for name in others if not name.startswith("_")))
"""


def test_importing_the_client_loads_the_standard_library_only():
    # -S: no site packages, and so nothing that an editable install or a .pth file loads
    done = subprocess.run([sys.executable, "-S", "-c", SCRIPT], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == ""
