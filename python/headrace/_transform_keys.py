"""The keys of all transforms, as the library lists them."""

from __future__ import annotations

import inspect
import json
from typing import Any

from . import _core

KINDS = ("slides", "volumes")
OPERATIONS: dict[str, dict[str, list[dict[str, str]]]] = {
    kind: {operation["name"]: operation["options"] for operation in operations}
    for kind, operations in json.loads(_core.transform_operations()).items()
}
"""Kind of image -> name -> its keys, each with key, default, accepts and text."""


def keys_text(name: str) -> str:
    """The keys of an operation and what they accept, for its docs."""
    lines = []
    for kind in KINDS:
        if name not in OPERATIONS[kind]:
            continue
        options = OPERATIONS[kind][name]
        lines.append(f"For {kind}{':' if options else ', without options.'}")
        lines += [f"    {o['key']}: {o['text']} ({o['accepts']}; default {o['default']})" for o in options]
    return "\n".join(lines) + "\n"


def signature_of(name: str) -> inspect.Signature:
    """All keys of either kind, with the default of the first kind that has them."""
    parameters: dict[str, inspect.Parameter] = {}
    for kind in KINDS:
        for option in OPERATIONS[kind].get(name, []):
            parameters.setdefault(
                option["key"],
                inspect.Parameter(option["key"], inspect.Parameter.KEYWORD_ONLY, default=_value_of(option["default"])),
            )
    return inspect.Signature(list(parameters.values()))


def _value_of(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
