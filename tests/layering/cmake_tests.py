"""The C++ tests and tools of tests/, read from its CMake files: CTest's names, the programs to build, the layers that they link."""
import posixpath
import re

from project_tree import WORKS

INCLUDE = re.compile(r'^\s*#\s*include\s+"(tests/[^"]+)"', re.M)


def folder_of(name):
    """The folder of tests/ that a file belongs to: loader, learn/train; None of a file that lies in none."""
    folders = name.split("/")[1:-1]
    return "/".join(folders[:2 if folders[0] == WORKS else 1]) if folders else None


class CppTests:
    """`cases`: {CTest's name: (folder of tests/, program to build or None, layers linked by name)}; `tools`: {name: layers}."""

    def __init__(self, root, names, rows):
        self.cases, self.tools, self.borrowed = {}, {}, {}
        for name in names:
            if re.fullmatch(r"tests/(learn/)?[^/]+/(CMakeLists\.txt|[^/]+\.cmake)", name):
                self._read(folder_of(name), (root / name).read_text(), rows)
        for name in names:  # tests that include helpers of another folder
            if name.startswith("tests/") and name.endswith((".cpp", ".hpp", ".cu", ".cuh")):
                for included in INCLUDE.findall((root / name).read_text(errors="replace")):
                    self.borrowed.setdefault(included, set()).add(folder_of(name))

    def _read(self, folder, text, rows):
        text = re.sub(r"#[^\n]*", "", text)
        linked = {layer for layer in re.findall(r"\bheadrace_(\w+)", text) if layer in rows} | ({posixpath.basename(folder)} & set(rows))
        for kind, words in re.findall(r"\bheadrace_(test|tool)\(([^)]*)\)", text):
            name, links = words.split()[0], {w for w in re.findall(r"\bheadrace_(\w+)", words) if w in rows}
            if kind == "test":
                self.cases[name] = (folder, f"test_{name}", links)
            else:
                self.tools[name] = links
        for words in re.findall(r"\badd_test\(NAME ([^)]*)\)", text):
            name, program = words.split()[0], words.split()[2]
            self.cases[name] = (folder, program if re.fullmatch(r"[a-z_]+", program) else None, linked)
        for other in re.findall(r"(?<![\w}/])(?:\.\./)+[^\s)\"]+", text):  # sources of another folder of tests/
            self.borrowed.setdefault(posixpath.normpath(f"tests/{folder}/{other}"), set()).add(folder)

    def of_folder(self, folder):
        return {name for name, (where, _, _) in self.cases.items() if where == folder}

    def of_layers(self, layers, rows):
        """The cases that link one of these layers, directly or through another."""
        return {name for name, (_, _, links) in self.cases.items()
                if layers & (links | {lower for layer in links for lower in rows[layer]})}

    def using(self, name):
        """The cases of the folder of a file of tests/, and of folders that borrow it."""
        folders, seen, waiting = {folder_of(name)} - {None}, set(), [name]
        while waiting:
            one = waiting.pop()
            if one not in seen:
                seen.add(one)
                folders |= self.borrowed.get(one, set())
                stem = one.rsplit(".", 1)[0]
                waiting += [f"{stem}.hpp", f"{stem}.cpp"]
        return {case for folder in folders for case in self.of_folder(folder)}

    def programs(self, cases):
        return {self.cases[name][1] for name in cases} - {None}
