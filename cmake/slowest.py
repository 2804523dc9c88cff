#!/usr/bin/env python3
"""Prints the slowest compilations of a Ninja build tree and fails when one exceeds the limit.

usage: slowest.py BUILD_DIR [LIMIT_SECONDS]

Times are the wall times of each compiler call in BUILD_DIR/.ninja_log; build with as many jobs as cores and
without ccache for numbers that mean something (./run buildtime does).
"""

import pathlib
import sys

limit = float(sys.argv[2]) if len(sys.argv) > 2 else 30.0
seconds = {}
for line in (pathlib.Path(sys.argv[1]) / ".ninja_log").read_text().splitlines()[1:]:
    start, end, _, output, _ = line.split("\t")
    if output.endswith(".o"):
        seconds[output.split(".dir/")[-1].replace("__/", "")] = (int(end) - int(start)) / 1000
slowest = sorted(seconds.items(), key=lambda item: -item[1])
for name, time in slowest[:12]:
    print(f"{time:7.1f} s  {name}")
print(f"{sum(seconds.values()):7.1f} s  in {len(seconds)} compilations")
too_slow = [name for name, time in slowest if time > limit]
if too_slow:
    sys.exit(f"slower than {limit:.0f} s: {', '.join(too_slow)}")
