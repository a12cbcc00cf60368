"""What each Python test file of tests/ drives, read from its text: the program's commands and tools that it names, the Python package, and the
helpers and fixtures through which it does so. A helper counts function by function, so that a fixture that trains is no reason for a file that
does not use it."""
import ast
import re

FOLDERS = ("", "cli", "learn/handover")  # of tests/, whose helpers every file may import (tests/conftest.py)


def is_test_file(name):
    last = name.rsplit("/", 1)[-1]
    return name.startswith("tests/") and name.endswith(".py") and (last.startswith("test_") or last.endswith("_test.py"))


def statements_of(tree):
    """Every statement, at whatever depth; far fewer than the nodes of their expressions."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        for field in ("body", "orelse", "finalbody", "handlers"):
            waiting += getattr(node, field, [])


def imports_of(tree):
    """{name here: (module, name there or None)} of all imports of a file."""
    found = {}
    for node in statements_of(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found[alias.asname or alias.name.split(".")[0]] = (alias.name, None)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                found[alias.asname or alias.name] = (node.module, alias.name)
    return found


def definitions_of(tree):
    """{name: node} of what a file defines at its top."""
    found = {}
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found[node.name] = node
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                for part in ast.walk(target):
                    if isinstance(part, ast.Name):
                        found[part.id] = node
    return found


class Module:
    def __init__(self, name, text):
        self.name = name
        self.tree = ast.parse(text)
        self.imports, self.definitions = imports_of(self.tree), definitions_of(self.tree)
        self.said = {}

    def names_and_texts(self, definition):
        """Those of a definition, or of all of the file (None)."""
        if definition not in self.said:
            if definition:
                self.said[definition] = names_and_texts(self.definitions[definition])
            else:
                own = {id(node): name for name, node in self.definitions.items()}
                parts = [self.names_and_texts(own[id(n)]) if id(n) in own else names_and_texts(n) for n in self.tree.body]
                self.said[None] = set().union(*(p[0] for p in parts)), set().union(*(p[1] for p in parts))
        return self.said[definition]


def names_and_texts(node):
    """What is named below a node, and its texts but for docstrings, keys and what is looked for in another text."""
    names, texts, not_said = set(), set(), set()
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            names.add(part.id)
        elif isinstance(part, ast.arg):
            names.add(part.arg)
        elif isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant):
            not_said.add(part.value)
        elif isinstance(part, ast.Subscript):
            not_said.add(part.slice)
        elif isinstance(part, ast.Dict):
            not_said |= set(part.keys)
        elif isinstance(part, ast.Compare):
            not_said |= {part.left} if isinstance(part.left, ast.Constant) else set()
        elif isinstance(part, ast.Constant) and isinstance(part.value, str) and part not in not_said:
            texts.add(part.value)
    return names, texts


class PythonTests:
    """`files`: {test file: (texts it names, helper files it uses)}; texts include "import x" for modules that are none of ours."""

    def __init__(self, root, names):
        ours = [n for n in names if n.startswith("tests/") and n.endswith(".py")]
        self.modules = {n: Module(n, (root / n).read_text(errors="replace")) for n in ours}
        self.files = {n: self._reach(n) for n in ours if is_test_file(n)}

    def naming(self, name, words):
        """The tests of a file that name one of these texts, as pytest's addresses: a text with a dot anywhere in theirs, `x.py` as a helper that they
        use, any other as a text of its own."""
        def named(texts, used):
            helpers = {u.rsplit("/", 1)[-1] for u in used}
            return any(w in helpers or w in texts or ("." in w and any(w in text for text in texts)) for w in words)

        if not named(*self.files[name]):
            return []
        tests = [d for d, node in self.modules[name].definitions.items() if re.match(r"test|Test", d) and not isinstance(node, ast.Assign)]
        found = [t for t in tests if named(*self._reach(name, t))]
        return [f"{name}::{t}" for t in found] if 0 < len(found) <= len(tests) / 2 else [name]

    def _module(self, stem, user):
        """The helper that `import stem` finds from a file, or None where it is none of ours."""
        for folder in (user.rsplit("/", 1)[0], *(f"tests/{f}".rstrip("/") for f in FOLDERS)):
            if f"{folder}/{stem.replace('.', '/')}.py" in self.modules:
                return f"{folder}/{stem.replace('.', '/')}.py"
        return None

    def _conftests(self, name):
        parts = name.split("/")
        return [n for n in ("/".join([*parts[:i], "conftest.py"]) for i in range(1, len(parts))) if n in self.modules]

    def _reach(self, name, start=None):
        texts, used, seen = set(), set(), set()
        conftests = self._conftests(name)
        waiting = [(name, start)]  # (file, definition or None for all of it)
        while waiting:
            file, definition = waiting.pop()
            if (file, definition) in seen:
                continue
            seen.add((file, definition))
            used.add(file)
            module = self.modules[file]
            names, found = module.names_and_texts(definition)
            texts |= found
            if definition is None:
                for stem, _ in module.imports.values():
                    texts.add(f"import {stem.split('.')[0]}")
            for one in names:
                if definition and one in module.definitions:
                    waiting.append((file, one))
                elif one in module.imports:
                    stem, there = module.imports[one]
                    helper = self._module(stem, file)
                    if helper:
                        waiting.append((helper, there if there in self.modules[helper].definitions else None))
                    else:
                        texts.add(f"import {stem.split('.')[0]}")
                # A fixture, also one that a text names (getfixturevalue, usefixtures).
                for conftest in conftests:
                    if one in self.modules[conftest].definitions and one not in module.definitions:
                        waiting.append((conftest, one))
            for text in found:
                waiting += [(c, text) for c in conftests if text in self.modules[c].definitions]
        return texts, (used | set(conftests)) - {name}


def commands_in(texts, commands):
    """The program's commands that these texts name: as a word of a command line, or in a sentence after the program's name."""
    found = {text for text in texts if text in commands}
    for text in texts:
        found |= {word for word in re.findall(r"\bheadrace\s+([a-z]+)\b", text) if word in commands}
    return found
