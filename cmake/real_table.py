#!/usr/bin/env python3
"""One table of the identifications below a folder: errors per joint on data that took no part."""
import json
import pathlib
import sys

for folder in sorted(p for p in pathlib.Path(sys.argv[1]).iterdir() if p.is_dir()):
    file = folder / "estimate.json"
    if not file.exists():
        text = (folder / "text").read_text().strip().splitlines()
        print(f"{folder.name:<10} not identified: {text[-1] if text else 'no message'}")
        continue
    result = json.loads(file.read_text())
    print(f"{folder.name:<10} {result['method']}, {'passed' if result['passed'] else 'failed'}, "
          f"{'possible' if result['consistent'] else 'NOT possible'}, condition {result['condition_number']:.3g}")
    print(f"{'':10} {'joint':<20} {'validation %':>12} {'rms':>8} {'as given %':>11}")
    for joint in result["errors"]["validation"]["joints"]:
        given = joint["baselines"].get("as_given") or {}
        cells = [joint["percent"], joint["rms"], given.get("percent")]
        percent, rms, before = ("-" if cell is None else f"{cell:.3g}" for cell in cells)
        print(f"{'':10} {joint['joint']:<20} {percent:>12} {rms:>8} {before:>11}")
