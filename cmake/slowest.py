#!/usr/bin/env python3
"""Prints the slowest compilations of a Ninja build tree and fails when one exceeds the limit.

usage: slowest.py BUILD_DIR [LIMIT_SECONDS]

Times are the wall times of each compiler call in BUILD_DIR/.ninja_log; build with as many jobs as cores and
without ccache for numbers that mean something (./run buildtime does). Behind a batch of files are its members.
"""

import pathlib
import re
import sys

build = pathlib.Path(sys.argv[1])
limit = float(sys.argv[2]) if len(sys.argv) > 2 else 30.0


def name_of(output):
    batch = re.search(r"unity_(\w+)_cxx\.cxx\.o$", output)
    if not batch:
        return output.split(".dir/")[-1].replace("__/", "").removesuffix(".o")
    members = re.findall(r'#include "(.*)"', (build / output.removesuffix(".o")).read_text())
    return f"{batch[1]}: {' '.join(pathlib.Path(member).stem for member in members)}"


seconds = {}
for line in (build / ".ninja_log").read_text().splitlines()[1:]:
    start, end, _, output, _ = line.split("\t")
    if output.endswith(".o"):
        seconds[name_of(output)] = (int(end) - int(start)) / 1000
slowest = sorted(seconds.items(), key=lambda item: -item[1])
for name, time in slowest[:12]:
    print(f"{time:7.1f} s  {name}")
print(f"{sum(seconds.values()):7.1f} s  in {len(seconds)} compilations")
too_slow = [name for name, time in slowest if time > limit]
if too_slow:
    sys.exit(f"slower than {limit:.0f} s: {', '.join(too_slow)}")
