"""Which tests a change can reach, by headrace/LAYERS, the CMake files and what the tests' text names; `make check` runs them.

Usage: affected.py [--base REV] [--out FOLDER] [FILE...]
  --base REV   the change is what differs from REV, with what is not committed (default: where this branch left main; on main what is not
               committed, or else the last commit)
  FILE...      the change is these files, whatever git says
  --build FOLDER  names only targets that this build has
  --out FOLDER writes the lists targets, ctest (an expression for -R), pytest, headers and code into it, each empty where nothing is to be run
Rules, one a row of RULES; a file that none names reaches everything. A changed layer reaches all layers that may include it; a Python test is
reached through the commands, tools and packages that it drives, and a command stands for what its file in cli/ includes. reach.txt has exceptions.
"""
import argparse
import re
import subprocess
import sys
from pathlib import Path

from cmake_tests import CppTests
from include_reach import INCLUDE, includers
from project_tree import CODE, HALVES, files_of, layer_of, read_layers
from python_reach import PythonTests, commands_in, is_test_file

MANY_HEADERS = 60  # from here on all headers are compiled, as the CTest case `headers` does
EVERYTHING, MENTIONED, NOTHING = "everything", "mentioned", "nothing"
# First row that matches. MENTIONED: tests whose text has the file's name. NOTHING: the checks of `make style` alone.
RULES = (
    (r"(headrace|learn)/([^/]+/)?README\.md|cli/README\.md", NOTHING),
    (r"(headrace|learn)/[^/]+", EVERYTHING),
    (r"(headrace|learn)/[^/]+/.+", "layer"),
    (r"cli/.+", "program"),
    (r"python/(headrace|headrace_program)/.+", "package"),
    (r"python/.+", "core of the package"),
    (r"tests/cases/.+", "cases"),
    (r"tests/layering/.+", "house rules"),
    (r"tests/temporary_folder\.hpp|tests/matrices\.hpp", "cpp test"),
    (r"tests/(learn/)?[^/]+", EVERYTHING),
    (r"tests/[^/]+/.+\.py", "python test"),
    (r"tests/.+", "cpp test"),
    (r"samples/README\.md", NOTHING),
    (r"samples/configs/.+|docs/.+|examples/.+|[^/]+\.md|LICENSE|CITATION\.cff|Makefile", MENTIONED),
    (r"tools/gpu_check/.+|tools/gpu-check", "gpu bundle"),
    (r"tools/wheel/.+|tools/(demo|derive_|make_font_table).*|bench/.+", MENTIONED),
    (r"\.ci/.+|\.clang-(format|tidy)|\.gitignore|\.pre-commit-config\.yaml", NOTHING),
    (r"samples/.+|tools/deps/.+|cmake/.+|third_party/.+|CMakeLists\.txt|CMakePresets\.json|pyproject\.toml", EVERYTHING),
)


def rule_of(name):
    return next((rule for pattern, rule in RULES if re.fullmatch(pattern, name)), None)


def read_exceptions(path):
    """{(kind, name): words} of reach.txt."""
    rows = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        if line.strip() and not line.startswith("#"):
            head, _, words = line.partition(":")
            kind, name = head.split()
            rows[kind, name] = words.split()
    return rows


def commands_of(root):
    path = root / "cli/commands.inc"
    return set(re.findall(r"^HR_COMMAND\((\w+)\)", path.read_text(), re.M)) if path.exists() else set()


class Tree:
    """The repository as the rules see it."""

    def __init__(self, root):
        self.root, self.names = root, files_of(root)
        self.rows = read_layers(root)
        self.exceptions = read_exceptions(root / "tests/layering/reach.txt")
        self.cpp = CppTests(root, self.names, self.rows)
        self.python = PythonTests(root, self.names)
        self.commands = commands_of(root)
        self.by_file = includers(root, self.names)
        self.command_layers = {c: self._layers_below(f"cli/{c}.cpp") for c in self.commands}
        package = root / "python/CMakeLists.txt"
        linked = {"ingest", "config", "process"} & set(self.rows) if package.exists() else set()  # headrace_learn of python/CMakeLists.txt
        self.package_layers = linked | {lower for layer in linked for lower in self.rows[layer]}
        self.drives = {name: self._driven(name) for name in self.python.files}

    def _layers_below(self, start):
        """The layers whose headers a file of cli/ includes, itself or through the files of cli/ that it uses."""
        layers, seen, waiting = set(), set(), [start]
        while waiting:
            one = waiting.pop()
            if one in seen or not (self.root / one).is_file():
                continue
            seen.add(one)
            for included in INCLUDE.findall((self.root / one).read_text(errors="replace")):
                if included.split("/")[0] in HALVES and layer_of(included):
                    layers.add(layer_of(included))
                elif included.startswith("cli/"):
                    waiting += [included, included.rsplit(".", 1)[0] + ".cpp"]
        return layers

    def _driven(self, name):
        """(commands, tools, whether the Python package, layers named in reach.txt) that a Python test drives."""
        if name.startswith("tests/layering/"):
            return set(), set(), False, set()  # house rules: their texts are examples
        texts, _ = self.python.files[name]
        words = [w for (kind, path), ws in self.exceptions.items() if kind == "drives" and (name == path or name.startswith(path + "/")) for w in ws]
        commands = commands_in(texts, self.commands) | (set(words) & self.commands)
        for command in sorted(commands):
            commands |= set(self.exceptions.get(("starts", command), ()))
        tools = {tool for tool in self.cpp.tools if tool in texts}
        package = "import headrace" in texts or "package" in words
        return commands, tools, package, {w for w in words if w in self.rows and w not in self.commands}

    def layers_driven(self, name):
        commands, tools, package, layers = self.drives[name]
        return layers.union(*(self.command_layers[c] for c in commands), *(self.cpp.tools[t] for t in tools),
                            self.package_layers if package else ())

    def users(self, layer):
        return {layer} | {user for user, allowed in self.rows.items() if layer in allowed}


class Plan:
    """Collects what a change reaches: CTest's names, pytest's addresses, headers to compile alone, and why everything is run."""

    def __init__(self, tree):
        self.tree = tree
        self.cases, self.pytest, self.headers, self.code = set(), set(), set(), set()
        self.everything = []

    def add(self, name):
        tree, rule = self.tree, rule_of(name)
        if name.endswith(CODE) and (tree.root / name).is_file():
            self.code.add(name)
        if name.endswith((".hpp", ".cuh")) and layer_of(name):
            self._headers_with(name)
        if rule in (EVERYTHING, None):
            self.everything.append(name)
        elif rule == MENTIONED:
            self._mentioning(name)
        elif rule == "layer":
            self._layer(layer_of(name))
        elif rule == "program":
            self._program(name)
        elif rule == "package":
            self._package(name)
        elif rule == "core of the package":
            self.pytest |= {n for n, (_, _, package, _) in tree.drives.items() if package}
            if name.startswith("python/parts/"):
                self.pytest |= {n for n, (texts, _) in tree.python.files.items() if any("parts" in t or "python:" in t for t in texts)}
        elif rule == "cases":
            self.pytest |= {n for n in tree.python.files if n.startswith("tests/cases/")}
        elif rule == "house rules":
            self.pytest |= {n for n in tree.python.files if n.startswith("tests/layering/")}
            self.cases |= tree.cpp.of_folder("layering") - {"headers", "samples"}
        elif rule == "gpu bundle":
            self.pytest |= {n for n in tree.python.files if n.startswith("tests/gpu/")}
        elif rule == "python test":
            self._python_file(name)
        elif rule == "cpp test":
            self.cases |= tree.cpp.using(name)
            tools = {t for t in tree.cpp.tools if t == Path(name).stem}
            self.pytest |= {n for n, (_, used, _, _) in tree.drives.items() if used & tools}
            if not name.endswith((*CODE, "CMakeLists.txt")):
                self._mentioning(name)

    def _layer(self, layer):
        tree = self.tree
        self.cases |= tree.cpp.of_layers({layer}, tree.rows)
        shown = tree.exceptions.get(("shown", layer))
        for name in tree.drives:
            if shown:
                self.pytest |= set(tree.python.naming(name, shown)) if f"!{name}" not in shown else set()
            elif tree.layers_driven(name) & (tree.users(layer) - {"cli"}):
                self.pytest.add(name)

    def _program(self, name):
        """The commands whose files use this one; a file that none or all of them use is every command's."""
        tree = self.tree
        seen, waiting = set(), [name]
        while waiting:
            one = waiting.pop()
            if one not in seen:
                seen.add(one)
                waiting += tree.by_file.get(one, [])
                stem = one.rsplit(".", 1)[0]
                waiting += [n for n in (f"{stem}.hpp",) if one.endswith(".cpp") and n in tree.names]
                waiting += [n for n in (f"{stem}.cpp",) if one.endswith(".hpp") and n in tree.names]
        reached = {Path(n).stem for n in seen} & tree.commands
        self.cases |= tree.cpp.of_folder("cli")
        if not reached or name.endswith(".inc") or name.endswith("CMakeLists.txt"):
            reached = tree.commands
        self.pytest |= {n for n, (commands, _, _, _) in tree.drives.items() if commands & reached}

    def _package(self, name):
        parts = name.split("/")
        part = parts[2] if len(parts) > 3 else None  # a package in the package: sweep, track
        for test, (commands, _, package, _) in self.tree.drives.items():
            if part in commands or (part == "track" and "sweep" in commands) or (part is None and package):
                self.pytest.add(test)

    def _python_file(self, name):
        files = self.tree.python.files
        if is_test_file(name):
            self.pytest |= {name} & set(files)
        else:
            reached = {n for n, (_, used) in files.items() if name in used}
            # What a program of a test starts, and what makes golden values, no import shows.
            self.pytest |= reached or {n for n in files if n.startswith(name.rsplit("/", 1)[0] + "/")}
            self._mentioning(name)

    def _mentioning(self, name):
        last = Path(name).name
        self.pytest |= {n for n, (texts, _) in self.tree.python.files.items() if any(last in t for t in texts)}
        for other in self.tree.names:
            if re.fullmatch(r"tests/[^/]+/.*\.(cpp|hpp|cu)", other) and last in (self.tree.root / other).read_text(errors="replace"):
                self.cases |= self.tree.cpp.using(other)

    def _headers_with(self, header):
        waiting = [header]
        while waiting:
            one = waiting.pop()
            if one not in self.headers:
                self.headers.add(one)
                waiting += [n for n in self.tree.by_file.get(one, []) if n.endswith(".hpp")]

    def finish(self):
        """What is run: where everything is reached, every test without a choice."""
        tree = self.tree
        if self.everything:
            self.cases, self.pytest = set(tree.cpp.cases), set(tree.python.files)
        whole = {n for n in self.pytest if "::" not in n}
        self.pytest = {n for n in self.pytest if n.split("::")[0] not in whole or n in whole}
        self.headers = {h for h in self.headers if h.endswith(".hpp") and (tree.root / h).is_file()}
        if len(self.headers) > MANY_HEADERS:
            self.cases.add("headers")
        if "headers" in self.cases:
            self.headers = set()

    def targets(self, build=None):
        built = self.tree.cpp.programs(self.cases)
        files = {n.split("::")[0] for n in self.pytest}
        if files:
            built |= {"headrace", "headrace_python"}.union(*(self.tree.drives[n][1] for n in files))
            built |= {"test_tools"} if any(n.startswith("tests/gpu/") for n in files) else set()
        if build:
            there = set(re.findall(r"^build (\w+)(?: \|.*)?: ", (build / "build.ninja").read_text(), re.M))
            built &= there
        return sorted(built)

    def lists(self, build=None):
        return {"targets": self.targets(build), "ctest": [f"^({'|'.join(sorted(self.cases))})$"] if self.cases else [],
                "pytest": ["tests"] if self.everything else sorted(self.pytest), "headers": sorted(self.headers), "code": sorted(self.code)}


def plan_for(root, changed):
    plan = Plan(Tree(root))
    for name in changed:
        plan.add(name)
    plan.finish()
    return plan


def git(root, *words):
    done = subprocess.run(["git", "-C", root, *words], capture_output=True, text=True, timeout=60)
    return done.stdout.strip() if done.returncode == 0 else None


def default_base(root):
    """Where this branch left main; on main itself the last commit where something is not committed, the one before it otherwise."""
    for main in ("origin/main", "main"):
        base = git(root, "merge-base", "HEAD", main)
        if base and base != git(root, "rev-parse", "HEAD"):
            return base
    return git(root, "rev-parse", "HEAD" if git(root, "status", "--porcelain") else "HEAD~1")


def changed_since(root, base):
    """Files that differ from a commit, gone ones and new ones too; None where git does not know the commit."""
    differing = git(root, "diff", "--name-only", "--no-renames", base, "--")
    new = git(root, "ls-files", "--others", "--exclude-standard")
    return None if differing is None or new is None else sorted({*differing.splitlines(), *new.splitlines()} - {""})


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base")
    parser.add_argument("--build", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2])
    parser.add_argument("files", nargs="*")
    given = parser.parse_args(arguments)
    base = None if given.files else given.base or default_base(given.root)
    changed = given.files or (changed_since(given.root, base) if base else None)
    if changed is None:
        sys.exit(f"affected.py: git knows no commit '{base or 'HEAD~1'}' in {given.root}; name another one with --base, or the changed files")
    plan = plan_for(given.root, changed)
    lists = plan.lists(given.build)
    print(f"{len(changed)} changed files" + (f" since {base[:12]}" if base else ""))
    if plan.everything:
        more = f" and {len(plan.everything) - 3} more" if len(plan.everything) > 3 else ""
        print(f"everything is reached, by {', '.join(plan.everything[:3])}{more}")
    files = {n.split("::")[0] for n in plan.pytest}
    print(f"C++ tests: {len(plan.cases)} of {len(plan.tree.cpp.cases)}; Python test files: {len(files)} of {len(plan.tree.python.files)}")
    for name, lines in lists.items():
        if given.out:
            given.out.mkdir(parents=True, exist_ok=True)
            (given.out / name).write_text("".join(f"{line}\n" for line in lines))
        print(f"{name}: {' '.join(lines) or '-'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
