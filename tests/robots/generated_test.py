"""Claim: the generated robot files are what their generators write, so nobody edits them by hand."""

import importlib
import sys
from pathlib import Path

robots = Path(sys.argv[1]) / "examples" / "robots"
sys.dont_write_bytecode = True
sys.path.insert(0, str(robots / "generate"))

failures = []
for generator in ("tx40", "humanoid", "mobile_manipulator"):
    for name, text in importlib.import_module(generator).files().items():
        if (robots / name).read_text() != text:
            failures.append(f"examples/robots/{name} differs from what generate/{generator}.py writes; run it again")
print("\n".join(failures) or "all generated robots are current")
sys.exit(1 if failures else 0)
