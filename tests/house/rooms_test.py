"""Claim: no room of the library includes a room that comes after it in the dependency order.

usage: rooms_test.py SOURCE_DIR ROOM...   (rooms in dependency order)
"""

import pathlib
import re
import sys
import tempfile

INCLUDE = re.compile(r'^\s*#\s*include\s*["<]proprio/(\w+)/')


def violations(source_dir, rooms):
    """Sentences, one per include that points to a later or unknown room; test files are exempt."""
    found = []
    library = pathlib.Path(source_dir) / "proprio"
    for path in sorted(p for p in library.rglob("*") if p.suffix in (".h", ".cc")):
        room = path.relative_to(library).parts[0]
        if path.name.endswith("_test.cc") or "testing" in path.relative_to(library).parts:
            continue
        where = path.relative_to(source_dir)
        if room not in rooms:
            found.append(f"{where}: '{room}' is not a room; the rooms are {', '.join(rooms)}")
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            if match and match[1] not in rooms[: rooms.index(room) + 1]:
                found.append(
                    f"{where}:{number}: room '{room}' includes '{match[1]}', which comes after it; "
                    f"it may include only {', '.join(rooms[: rooms.index(room) + 1])}"
                )
    return found


def check_the_checker():
    """A tree with one wrong include gives exactly one finding; the same include in a test is allowed."""
    with tempfile.TemporaryDirectory() as folder:
        core = pathlib.Path(folder) / "proprio" / "core"
        core.mkdir(parents=True)
        for name in ("wrong.h", "fine_test.cc"):
            (core / name).write_text('#include "proprio/core/error.h"\n#include "proprio/model/model.h"\n')
        found = violations(folder, ["core", "spatial", "model"])
    assert len(found) == 1 and found[0].startswith("proprio/core/wrong.h:2:"), found


check_the_checker()
findings = violations(sys.argv[1], sys.argv[2:])
print("\n".join(findings) or "all includes follow the order of the rooms")
sys.exit(bool(findings))
