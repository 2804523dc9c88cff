"""Claim: a public header includes nothing heavier than <Eigen/Core>, so that using proprio compiles in seconds.

Public is every header that is installed: all but testing/ and *_internal.h (cmake/install.cmake).

usage: headers_test.py SOURCE_DIR
"""

import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)')

findings = []
library = pathlib.Path(sys.argv[1]) / "proprio"
headers = [p for p in sorted(library.rglob("*.h"))
           if "testing" not in p.relative_to(library).parts and not p.name.endswith("_internal.h")]
for path in headers:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        name = match[2]
        standard = match[1] == "<" and re.fullmatch(r"[a-z_0-9]+|std[a-z]+\.h", name)
        if not (standard or name.startswith("proprio/") or name == "Eigen/Core"):
            findings.append(f"{path.relative_to(library.parent)}:{number}: public header includes '{name}'; only the "
                            "standard library, <Eigen/Core> and proprio/ are allowed, move the rest into the .cc file")
print("\n".join(findings) or f"{len(headers)} public headers are light")
sys.exit(bool(findings) or not headers)
