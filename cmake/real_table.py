#!/usr/bin/env python3
"""One table of the identifications below a folder: errors per joint, on the data that it was trained with and on data
that took no part. Fails where one of them wrote no result."""
import json
import pathlib
import sys


def text(number):
    return "-" if number is None else f"{number:.3g}"


missing = 0
for folder in sorted(p for p in pathlib.Path(sys.argv[1]).iterdir() if p.is_dir()):
    file = folder / "estimate.json"
    if not file.exists():
        said = (folder / "text").read_text().strip().splitlines()
        print(f"{folder.name:<10} not identified: {said[-1] if said else 'no message'}")
        missing += 1
        continue
    result = json.loads(file.read_text())
    print(f"{folder.name:<10} {result['method']}, {'passed' if result['passed'] else 'failed'}, "
          f"{'possible' if result['consistent'] else 'NOT possible'}, condition {result['condition_number']:.3g}")
    print(f"{'':10} {'joint':<20} {'training %':>12} {'rms':>8} {'validation %':>14} {'rms':>8} {'as given %':>12}")
    trained = {joint["joint"]: joint for joint in result["errors"]["training"]["joints"]}
    for joint in result["errors"]["validation"]["joints"]:
        before = joint["baselines"].get("as_given") or {}
        fit = trained.get(joint["joint"], {})
        print(f"{'':10} {joint['joint']:<20} {text(fit.get('percent')):>12} {text(fit.get('rms')):>8} "
              f"{text(joint['percent']):>14} {text(joint['rms']):>8} {text(before.get('percent')):>12}")
sys.exit(1 if missing else 0)
