"""Claim: code compiled for AVX2 defines no symbol that other code could pick up at link time.

A weak copy of a shared inline function (std::, Eigen::, proprio::) in an AVX2 object may be the one the linker
keeps for the whole program; it then crashes machines without AVX2. So every symbol such an object exports must
carry the namespace proprio::isa_avx2, in its own name or in a template argument that makes it unique.

usage: isa_symbols_test.py NM COMPILER FILE   (FILE lists the library's object files, one per line)
"""

import pathlib
import subprocess
import sys
import tempfile

NAMESPACE = "7proprio8isa_avx2"  # proprio::isa_avx2 in a mangled name
DATA_POINTER = "DW.ref."  # pointer to the personality routine, emitted for exception tables; no code


def leaks(nm, objects):
    """(object name, mangled symbol) for each exported symbol outside the namespace."""
    found = []
    for path in objects:
        listing = subprocess.run([nm, "--defined-only", "--extern-only", "--format=posix", path],
                                 check=True, capture_output=True, text=True).stdout
        symbols = [line.split()[0] for line in listing.splitlines() if line]
        found += [(pathlib.Path(path).name, s) for s in symbols
                  if NAMESPACE not in s and not s.startswith(DATA_POINTER)]
    return found


def check_the_checker(nm, compiler):
    """A shared inline function is found as a leak, the same function inside the namespace is not."""
    code = """namespace proprio { inline int leak(int x) { return x; } int (*keep)(int) = nullptr; }
    namespace proprio { namespace isa_avx2 { int fine(int x) { keep = leak; return x; } } }"""
    with tempfile.TemporaryDirectory() as folder:
        source, target = pathlib.Path(folder) / "x_avx2.cc", pathlib.Path(folder) / "x_avx2.o"
        source.write_text(code)
        subprocess.run([compiler, "-O0", "-c", source, "-o", target], check=True)
        symbols = sorted(symbol for _, symbol in leaks(nm, [target]))
    assert symbols == ["_ZN7proprio4keepE", "_ZN7proprio4leakEi"], symbols


nm, compiler, object_list = sys.argv[1:]
check_the_checker(nm, compiler)
objects = [p for p in pathlib.Path(object_list).read_text().split("\n") if "_avx2.cc" in p]
findings = leaks(nm, objects)
for name, symbol in findings:
    readable = subprocess.run(["c++filt", symbol], capture_output=True, text=True).stdout.strip()
    print(f"{name} exports '{readable}' ({symbol}); put it into proprio::isa_avx2 or make it static")
print(f"{len(objects)} AVX2 objects, {len(findings)} symbols outside proprio::isa_avx2")
sys.exit(bool(findings))
