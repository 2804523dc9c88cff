#!/usr/bin/env python3
"""Claim: the documents name only what exists.

Checked: files and tests named in docs/literature.md, its lists of IDs without gaps and their counts, links between the pages, the rules of check, and that the C++ examples of
the README and of the pages are those that are compiled. usage: docs_test.py SOURCE_DIR
"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
problems = []


def literature():
    text = (root / "docs/literature.md").read_text(encoding="utf-8")
    sources = "\n".join(p.read_text(encoding="utf-8") for folder in ("proprio", "apps")
                        for p in (root / folder).rglob("*_test.cc"))
    tests = {f"{suite}.{name}" for suite, name in re.findall(r"^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", sources, re.M)}
    suites = {test.split(".")[0] for test in tests}
    for suite, name in set(re.findall(r"`([A-Z]\w+)\.(\*|[A-Z]\w+)`", text)) - {("Suite", "Name")}:
        if (suite not in suites) if name == "*" else (f"{suite}.{name}" not in tests):
            problems.append(f"docs/literature.md: there is no test {suite}.{name}")
    rooms = "|".join(p.name for p in (root / "proprio").iterdir() if p.is_dir())
    for unit in set(re.findall(rf"`((?:{rooms})/[\w/]+)`", text)):
        if not list(root.glob(f"proprio/{unit}.*")):
            problems.append(f"docs/literature.md: there is no proprio/{unit}.*")
    totals = [0, 0, 0]
    for letter, count in (("T", 85), ("L", 80), ("A", 58), ("R", 97)):
        rows = re.findall(rf"^\| {letter}-(\d+) \|.*\| (\w+)[^|]*\|$", text, re.M)
        if [int(row) for row, _ in rows] != list(range(1, count + 1)):
            problems.append(f"docs/literature.md: rows {letter}-01 to {letter}-{count} are not complete and in order")
        for row, status in rows:
            if status not in ("done", "partly", "planned"):
                problems.append(f"docs/literature.md: {letter}-{row} is '{status}', expected done, partly or planned")
        counts = [sum(status == one for _, status in rows) for one in ("done", "partly", "planned")]
        totals = [a + b for a, b in zip(totals, counts)]
        expected = f"({letter}-01 to {letter}-{count}) | {' | '.join(map(str, counts))} | {count} |"
        if expected not in text:
            problems.append(f"docs/literature.md: the table of lists should say {expected}")
    expected = f"| all | {' | '.join(map(str, totals))} | {sum(totals)} |"
    if expected not in text:
        problems.append(f"docs/literature.md: the table of lists should say {expected}")


def links():
    for page in [*root.glob("*.md"), *root.glob("docs/*.md"), *root.glob("proprio/*/README.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            if not (page.parent / target).exists():
                problems.append(f"{page.relative_to(root)}: the link {target} leads nowhere")


def example():
    compiled = (root / "examples/cpp/quickstart.cc").read_text(encoding="utf-8")
    compiled = compiled.split("// [README:begin]\n")[1].split("// [README:end]")[0]
    if f"```cpp\n{compiled}```" not in (root / "README.md").read_text(encoding="utf-8"):
        problems.append("README.md: its C++ example is not examples/cpp/quickstart.cc")
    for file in (root / "examples/cpp").glob("*.cc"):
        page = root / "docs" / f"{file.stem}.md"
        if file.stem != "quickstart" and not (page.exists() and
                                              f"```cpp\n{file.read_text(encoding='utf-8')}```" in page.read_text(encoding="utf-8")):
            problems.append(f"docs/{file.stem}.md: the text of examples/cpp/{file.name} is not in it")


def rules():
    page = (root / "docs/command.md").read_text(encoding="utf-8")
    for file in (root / "proprio/model").glob("lint*.cc"):
        for rule in re.findall(r'"([a-z]+-[a-z]+)"', file.read_text(encoding="utf-8")):
            if f"`{rule}`" not in page:
                problems.append(f"docs/command.md: the rule {rule} of check is missing")


literature()
links()
example()
rules()
print("\n".join(problems) or "documents and code agree")
sys.exit(1 if problems else 0)
