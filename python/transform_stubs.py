"""Writes transforms.pyi from transforms.py: each class with the keys of its operation, as the library lists them, so that a type checker finds
a wrong one.  python transform_stubs.py PACKAGE_FOLDER SOURCE OUTPUT"""

import ast
import importlib.util
import json
import re
import sys
from pathlib import Path

HEAD = '"""The transforms of run configs, with the keys that the library knows. Made by transform_stubs.py."""\n'
IMPORTS = """
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal, Union

from ._core import UsageError as UsageError

Range = Union[float, tuple[float, float], Sequence[float]]
"""


def type_of(accepts):
    """The type of what a key accepts, by the words of its form."""
    if accepts == "true or false":
        return "bool"
    if accepts.startswith("a number or a range"):
        return "Range"
    if re.fullmatch(r"-?[\d.e+-]+ to -?[\d.e+-]+", accepts):
        return "float"
    if re.match(r"(a list of|\d+ numbers)", accepts):
        return "Sequence[str]" if accepts == "a list of names" else "Sequence[float]"
    if accepts == "text":
        return "str"
    words = accepts.split(", ")
    return f"Literal[{', '.join(map(repr, words))}]" if all(re.fullmatch(r"[a-z_]+", word) for word in words) else "Any"


def key_types(operations, name):
    """Key -> type, of either kind of image."""
    found = {}
    for kind in operations.values():
        for option in kind.get(name, []):
            found.setdefault(option["key"], []).append(type_of(option["accepts"]))
    return {key: " | ".join(dict.fromkeys(types)) for key, types in found.items()}


def stub_of(function):
    function.body = [ast.Expr(ast.Constant(...))]
    return function


def class_stub(node, operations):
    body = []
    name = next((line.value.value for line in node.body if isinstance(line, ast.Assign) and line.targets[0].id == "name"), "")
    for line in node.body:
        if isinstance(line, ast.FunctionDef) and line.name not in ("__setattr__", "__init_subclass__"):
            body.append(stub_of(line))
        elif isinstance(line, ast.AnnAssign) and not line.target.id.startswith("_"):
            line.value = None
            body.append(line)
    keys = key_types(operations, name)
    if name and any(name in kind for kind in operations.values()):
        parameters = "".join(f", {key}: {kind} = ..." for key, kind in keys.items())
        body.append(ast.parse(f"def __init__(self{', *' if keys else ''}{parameters}) -> None: ...").body[0])
    node.body = body or [ast.Expr(ast.Constant(...))]
    return node


def stubs(source, operations):
    lines = []
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef):
            lines.append(class_stub(node, operations))
        elif isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            lines.append(stub_of(node))
        elif isinstance(node, ast.Assign) and node.targets[0].id in ("__all__", "Entry"):
            lines.append(node)
    return HEAD + IMPORTS + "\n" + "\n".join(ast.unparse(ast.fix_missing_locations(line)) for line in lines) + "\n"


def operations_of(package):
    """As _transform_keys.py has them: name -> keys, by kind of image."""
    spec = importlib.util.spec_from_file_location("_core", next(Path(package).glob("_core*.so")))
    core = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(core)
    return {kind: {one["name"]: one["options"] for one in operations} for kind, operations in json.loads(core.transform_operations()).items()}


if __name__ == "__main__":
    Path(sys.argv[3]).write_text(stubs(Path(sys.argv[2]).read_text(), operations_of(sys.argv[1])))
