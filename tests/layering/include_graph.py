"""Folders of both halves and which includes which: the structure in numbers, of the working tree or of a commit, to be compared before and after.

Usage: include_graph.py [--rev REV] [--list] [ROOT]
  --rev REV   of a commit, by the halves of its layers as the working tree's headrace/LAYERS states them
  --list      every arrow between folders and between layers, with how many includes it stands for
An arrow is that files of one folder include files of another, however many. cpu, cuda, no_cuda and nvidia are part of the folder that they lie in.
"""
import argparse
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from folder_cycles import all_arrows, pairs_of, room
from include_reach import CODE
from project_tree import HALVES, files_of, layer_of, read_homes


def circles_of(arrows):
    """Sets of three or more folders each of which reaches all others of its set, as sorted lists."""
    next_to, reached = {}, {}
    for one, to in arrows:
        next_to.setdefault(one, []).append(to)
    for start in next_to:
        waiting, seen = [start], set()
        while waiting:
            for to in next_to.get(waiting.pop(), ()):
                if to not in seen:
                    seen.add(to)
                    waiting.append(to)
        reached[start] = seen
    found = {tuple(sorted(to for to in seen if start in reached.get(to, ()))) for start, seen in reached.items() if start in seen}
    return sorted(circle for circle in found if len(circle) > 2)


class Graph:
    def __init__(self, root, homes):
        names = files_of(root)
        self.homes = homes
        self.files = Counter(room(n.rpartition("/")[0]) for n in names if n.startswith(tuple(f"{half}/" for half in HALVES)) and n.endswith(CODE))
        self.folders = {pair: len(lines) for pair, lines in all_arrows(root, names).items()}
        self.layers = Counter()
        for (one, to), count in self.folders.items():
            if self.layer(one) != self.layer(to) and self.layer(one) and self.layer(to):
                self.layers[self.layer(one), self.layer(to)] += count

    @staticmethod
    def layer(folder):
        return layer_of(f"{folder}/")

    def half(self, folder):
        """That of its layer, wherever the commit has it."""
        return self.homes.get(self.layer(folder), folder.split("/")[0])

    def rows(self):
        """(name, layers, folders, files, arrows of folders, arrows of layers, includes) of each half, of the way between them, and together."""
        ways = [(f"{one}/" if one == to else f"{one}/ -> {to}/", one, to) for one in HALVES for to in HALVES]
        for name, one, to in ways:
            own = [f for f in self.files if one == to == self.half(f)]
            arrows = [pair for pair in self.folders if (self.half(pair[0]), self.half(pair[1])) == (one, to)]
            layers = {(self.layer(a), self.layer(b)) for a, b in arrows} & set(self.layers)
            yield (name, len({self.layer(f) for f in own} - {None}), len(own), sum(self.files[f] for f in own), len(arrows), len(layers),
                   sum(self.folders[pair] for pair in arrows))

    def text(self, with_list):
        rows = list(self.rows())
        rows.append(("together", *(sum(column) for column in list(zip(*rows))[1:])))
        heads = ("", "layers", "folders", "files", "arrows of folders", "arrows of layers", "includes")
        yield "".join(head.rjust(len(head) + 2) if i else head.ljust(20) for i, head in enumerate(heads))
        for row in rows:
            yield "".join(str(value).rjust(len(heads[i]) + 2) if i else value.ljust(20) for i, value in enumerate(row))
        pairs = pairs_of(self.folders)
        yield f"pairs of folders that include each other: {len(pairs)}"
        for one, to in pairs:
            yield f"  {one} {to}  ({self.folders[one, to]} includes there, {self.folders[to, one]} back)"
        circles = circles_of(self.folders)
        yield f"circles of three folders or more: {len(circles)}"
        for circle in circles:
            yield f"  {' '.join(circle)}"
        if with_list:
            for what, arrows in (("folders", self.folders), ("layers", self.layers)):
                yield f"arrows of {what}:"
                for (one, to), count in sorted(arrows.items()):
                    yield f"  {one} -> {to}  {count}"


def unpack(root, rev, folder):
    """The halves of a commit, as files below `folder`."""
    there = subprocess.run(["git", "-C", root, "ls-tree", "--name-only", rev, "--", *HALVES], capture_output=True, text=True)
    if there.returncode or not there.stdout:
        sys.exit(f"include_graph.py: git knows no code of commit '{rev}' in {root}; name another one with --rev")
    archive = subprocess.run(["git", "-C", root, "archive", rev, *there.stdout.split()], capture_output=True, check=True)
    subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rev")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).resolve().parents[2])
    given = parser.parse_args(arguments)
    homes = read_homes(given.root)
    with tempfile.TemporaryDirectory() as folder:
        if given.rev:
            unpack(given.root, given.rev, folder)
        print("\n".join(Graph(Path(folder) if given.rev else given.root, homes).text(given.list)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
