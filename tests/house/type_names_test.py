"""No two headers define a type of the same name in the same namespace: the linker would silently
mix their functions. Usage: type_names_test.py SOURCE_DIR"""
import collections
import pathlib
import re
import sys

source = pathlib.Path(sys.argv[1])
places = collections.defaultdict(list)
for path in sorted(source.glob("proprio/**/*.h")) + sorted(source.glob("apps/**/*.h")):
    namespace = ""
    for line in path.read_text().splitlines():
        if match := re.match(r"namespace ([\w:]+) \{", line):
            namespace = match.group(1)
        if match := re.match(r"(?:struct|class|enum class) (\w+)[^;]*\{", line):
            places[namespace, match.group(1)].append(path.relative_to(source))

twice = {name: files for name, files in places.items() if len(files) > 1}
for (namespace, name), files in twice.items():
    print(f"{namespace}::{name} is defined in {' and in '.join(map(str, files))}; rename one of them")
if len(places) < 100:
    print(f"only {len(places)} types found in {source}: is the path right?")
    sys.exit(1)
sys.exit(1 if twice else 0)
