"""Which translation units a header is in, by includes: what a change of it rebuilds."""
import re

INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.M)
CODE = (".hpp", ".cuh", ".inc", ".cpp", ".cu")
UNITS = (".cpp", ".cu")
FOLDERS = ("headrace/", "learn/", "cli/", "python/")  # of what is shipped: tests may include what they test


def includers(root, names):
    """For each file of those folders, the files that include it. Includes name files from the root on."""
    ours = {name for name in names if name.startswith(FOLDERS) and name.endswith(CODE)}
    by_file = {}
    for name in sorted(ours):
        for included in INCLUDE.findall((root / name).read_text(errors="replace")):
            if included in ours:
                by_file.setdefault(included, []).append(name)
    return by_file


def units_with(header, by_file):
    """The units that include a header, at whatever depth."""
    seen, waiting = {header}, [header]
    while waiting:
        for name in by_file.get(waiting.pop(), []):
            if name not in seen:
                seen.add(name)
                waiting.append(name)
    return sorted(name for name in seen if name.endswith(UNITS))
