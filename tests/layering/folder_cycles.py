"""Pairs of folders of a layer that include each other: a newcomer can't read the one without the other."""
import re
from collections import defaultdict

from project_tree import HALVES

FOLDERS = tuple(f"{half}/" for half in HALVES)
INCLUDE = re.compile(r'\s*#\s*include\s+"((?:headrace|learn)(?:/[^"]+)?)/[^/"]+"')
BACK_ENDS = ("cpu", "cuda", "no_cuda", "nvidia")  # how a folder's work is done there: part of the folder
LISTED = "tests/layering/folder_cycles.txt"


def room(folder):
    head, _, last = folder.rpartition("/")
    return head if last in BACK_ENDS else folder


def all_arrows(root, names):
    """{(from, to): [(file, line)]} between any two folders."""
    found = defaultdict(list)
    for name in names:
        if not name.startswith(FOLDERS) or not name.endswith((".hpp", ".cpp", ".cu", ".cuh", ".inc")):
            continue
        own = room(name.rpartition("/")[0])
        for number, line in enumerate((root / name).read_text(errors="replace").splitlines(), 1):
            include = INCLUDE.match(line)
            if include and (to := room(include[1])) != own:
                found[own, to].append((name, number))
    return found


def arrows(root, names):
    """Those between two folders of one layer."""
    return {(own, to): lines for (own, to), lines in all_arrows(root, names).items() if own.split("/")[1:2] == to.split("/")[1:2]}


def pairs_of(found):
    """The pairs of folders that include each other, each once."""
    return sorted({tuple(sorted(pair)) for pair in found if pair[::-1] in found})


def check_folders(root, names):
    """New pairs, and listed ones that have no reason or are none any more."""
    lines = (root / LISTED).read_text().splitlines() if (root / LISTED).exists() else []
    listed = {}
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.startswith("#"):
            listed[tuple(sorted(line.split()[:2]))] = number
            if len(line.split()) < 3:
                yield f"{LISTED}:{number}: give the reason after the two folders"
    found = arrows(root, names)
    pairs = set(pairs_of(found))
    for pair in sorted(pairs - set(listed)):
        fewer = min((pair, pair[::-1]), key=lambda p: len(found[p]))
        file, number = found[fewer][0]
        yield f"{file}:{number}: {fewer[0]} includes {fewer[1]}, which includes it; move what both need, or list the pair in {LISTED}"
    for pair in sorted(set(listed) - pairs):
        yield f"{LISTED}:{listed[pair]}: {pair[0]} and {pair[1]} do not include each other; remove the line"
