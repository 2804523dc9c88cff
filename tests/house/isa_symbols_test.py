"""Claim: code compiled for AVX2 defines no symbol that other code could pick up at link time.

A weak copy of a shared inline function (std::, Eigen::, proprio::) in an AVX2 object may be the one the linker
keeps for the whole program; it then crashes machines without AVX2. So every symbol such an object defines must
carry the namespace proprio::isa_avx2, in its own name or in a template argument that makes it unique. Two exceptions
hold no code: tables of constants that are defined once (strong symbols), and exception-table pointers. Start-up
code (dynamic initialisers) would run before the dispatch and is refused as well.

usage: isa_symbols_test.py NM COMPILER FILE   (FILE lists the library's object files, one per line)
"""

import pathlib
import subprocess
import sys
import tempfile

NAMESPACE = "7proprio8isa_avx2"  # proprio::isa_avx2 in a mangled name
POINTER = "DW.ref."  # pointer to the personality routine of exceptions
START_UP = "_GLOBAL__sub_I_"  # g++'s name for the dynamic initialisers of a file


def leaks(nm, objects):
    """(object name, symbol) for each symbol that must not be there."""
    found = []
    for path in objects:
        listing = subprocess.run([nm, "--defined-only", "--format=posix", path],
                                 check=True, capture_output=True, text=True).stdout
        for symbol, kind in (line.split()[:2] for line in listing.splitlines()):
            exported = kind.isupper() or kind in "uvw"
            harmless = (NAMESPACE in symbol or symbol.startswith(POINTER)
                        or kind in "DR" and symbol.startswith("_ZN7proprio"))
            if exported and not harmless or symbol.startswith(START_UP):
                found.append((pathlib.Path(path).name, symbol))
    return found


def check_the_checker(nm, compiler):
    """A shared inline function, a variable and a dynamic initialiser are found; functions in the namespace and constants are not."""
    code = """namespace proprio { inline int leak(int x) { return x; } int (*keep)(int); int zero(); int late = zero(); }
    namespace proprio { namespace isa_avx2 { int fine(int x) { keep = leak; return x; } } }
    namespace proprio { extern const int kTable[] = {1, 2}; }"""
    with tempfile.TemporaryDirectory() as folder:
        source, target = pathlib.Path(folder) / "x_avx2.cc", pathlib.Path(folder) / "x_avx2.o"
        source.write_text(code)
        subprocess.run([compiler, "-O0", "-c", source, "-o", target], check=True)
        symbols = sorted(symbol.split("I_")[0] for _, symbol in leaks(nm, [target]))
    assert symbols == ["_GLOBAL__sub_", "_ZN7proprio4keepE", "_ZN7proprio4lateE", "_ZN7proprio4leakEi"], symbols


nm, compiler, object_list = sys.argv[1:]
check_the_checker(nm, compiler)
objects = [p for p in pathlib.Path(object_list).read_text().split("\n") if "_avx2.cc" in p]
findings = leaks(nm, objects)
for name, symbol in findings:
    readable = subprocess.run(["c++filt", symbol], capture_output=True, text=True).stdout.strip()
    print(f"{name} defines '{readable}' ({symbol}); only code of proprio::isa_avx2 and constants may be in it")
print(f"{len(objects)} AVX2 objects, {len(findings)} forbidden symbols")
sys.exit(bool(findings))
