"""Claim: every robot.yaml that comes with the project satisfies the published JSON Schema, and files with
typical mistakes do not, according to a validator that nobody here wrote.

usage: validate_robots.py SOURCE_DIR
"""

import copy
import json
import pathlib
import re
import sys

import jsonschema
import yaml


class Loader(yaml.SafeLoader):
    """YAML 1.2 numbers: PyYAML alone takes 1e-3 for a text."""


Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$"),
    list("-+0123456789."),
)

MISTAKES = {  # what is wrong: how to make it so in a good file
    "no version": lambda r: r.pop("version"),
    "version 2": lambda r: r.update(version=2),
    "unknown key": lambda r: r.update(colour="red"),
    "both urdf and dh": lambda r: r.update(urdf="a.urdf", dh={"convention": "classic", "joints": []}),
    "gravity with two numbers": lambda r: r.update(gravity=[0, 0]),
    "number as text": lambda r: r.update(joints={"j": {"drive": {"gear_ratio": "32"}}}),
    "both inertias of a drive": lambda r: r.update(
        joints={"j": {"drive": {"rotor_inertia": 1, "motor_inertia": 1}}}
    ),
    "negative noise": lambda r: r.update(
        sensors=[{"name": "s", "type": "encoder", "joint": "j", "noise": -1}]
    ),
    "unknown sensor": lambda r: r.update(sensors=[{"name": "s", "type": "nose"}]),
    "angle that is no angle": lambda r: r.update(joints={"j": {"locked": "tau/2"}}),
}

source = pathlib.Path(sys.argv[1])
schema = json.loads((source / "docs" / "robot.schema.json").read_text(encoding="utf-8"))
jsonschema.Draft7Validator.check_schema(schema)
validator = jsonschema.Draft7Validator(schema)

failures = []
files = sorted((source / "examples").glob("*/*.yaml"))  # robots, real, demo
for path in files:
    robot = yaml.load(path.read_text(encoding="utf-8"), Loader)
    for error in validator.iter_errors(robot):
        where = ".".join(str(p) for p in error.absolute_path)
        failures.append(f"{path.name}: {where}: {error.message}")
if not files:
    failures.append("there is no examples/*/*.yaml")

good = {"version": 1, "urdf": "a.urdf", "joints": {"j": {"locked": "-3*pi/4"}}}
if not validator.is_valid(good):
    failures.append("the schema refuses a good file")
for name, spoil in MISTAKES.items():
    bad = copy.deepcopy(good)
    spoil(bad)
    if validator.is_valid(bad):
        failures.append(f"the schema accepts a file with this mistake: {name}")

print("\n".join(failures) or f"{len(files)} robots satisfy the schema, {len(MISTAKES)} mistakes do not")
sys.exit(bool(failures))
