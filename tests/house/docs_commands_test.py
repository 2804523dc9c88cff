#!/usr/bin/env python3
"""Claim: the commands that the documents show run as shown.

Every block that starts with "```sh run" in README.md and docs/*.md is executed by bash, stopping at the first failure, in a
scratch folder of its page where `examples` leads to the project's and `proprio` is the built command.
usage: docs_commands_test.py SOURCE_DIR COMMAND SCRATCH
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

root, command, scratch = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
failed = []
count = 0
for page in [root / "README.md", *sorted(root.glob("docs/*.md"))]:
    blocks = re.findall(r"^```sh run\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
    if not blocks:
        continue
    folder = scratch / page.stem
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "examples").symlink_to(root / "examples")
    environment = dict(os.environ, PATH=f"{command.parent}:{os.environ['PATH']}")
    for block in blocks:
        count += 1
        result = subprocess.run(["bash", "-euo", "pipefail", "-c", block], cwd=folder, env=environment, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if result.returncode != 0:
            failed.append(f"{page.relative_to(root)}: exit code {result.returncode} from\n{block}{result.stdout}")
print("\n".join(failed) or f"{count} blocks of commands run as shown")
sys.exit(1 if failed else 0)
