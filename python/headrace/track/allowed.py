"""What of a run may leave its folder. All that is not named here stays: ids of images and cases, names and paths of files, free text.

Names of cohorts, scanners and phases come from tables, where anything may stand: they are sent only where the target's `fields` names them; else the
groups are numbered in the order of their names.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .. import _core, _transform_keys

LINE = ("epoch", "loss", "cross_entropy", "soft_dice", "learning_rate", "gradient_norm")
TIMES = ("patches_per_s", "stall_fraction")
TABLE = json.loads(_core.figure_table())  # what is said of every figure: which are sent, too


def _places(where: str) -> list[Mapping[str, Any]]:
    return sorted((row for row in TABLE if row["tracked"][where]), key=lambda row: row["tracked"][where])


# Of validations and groups of an evaluation; numbers below them are sent, lists (matrices, curves, intervals) by the tables that name them.
FIGURES = (*(row["validation"] or row["key"].split(".")[0] for row in _places("number")), "images", "cases", "of_images")
# Columns of the tables of groups: paths, without the class. What validations call a figure stands before its path.
COLUMNS = tuple(dict.fromkeys(name for row in _places("column") for name in (row["validation"], row["key"].removesuffix(".{class}")) if name))
GROUPS = {"cohorts": "cohort", "scanners": "scanner", "phases": "phase"}
# Of the config only keys that Headrace knows are sent, so nothing of a mapping that is free (arguments of one's own functions, weights of cohorts);
# and of these only numbers and switches, but for the keys whose text is one of a fixed list of words or a name of a split, and lists of classes.
WORDS = ("task", "data.train", "data.val", "data.outside", "data.version", "data.expect_hash", "sampling.balance", "sampling.order", "loader.device",
         "loader.element", "loader.layout", "loader.decode", "loader.gpudirect", "model.name", "train.schedule", "train.amp", "train.loss.pixel",
         "train.loss.region", "train.best.figure", "train.best.over", "train.best.better", "eval.window", "eval.grading")
CLASSES = ("sampling.near_classes", "eval.tumour_classes", "eval.lesion_classes")
KNOWN = {key for key in _core.run_config_keys() if not key.endswith(".arguments")} - {"tracking", "gates", "sampling.cohort_weights"}
OPERATIONS = {name: {option["key"] for option in options} for kind in _transform_keys.OPERATIONS.values() for name, options in kind.items()}
TRANSFORM_WORDS = ("method", "of")
TAGS = ("config_hash", "dataset_hash", "preprocessing_sha256", "code_version", "decoder", "images", "parameters", "seed")
ARTEFACTS = ("final.safetensors", "best.safetensors", "config.json", "preprocessing.json", "run.json", "metrics.jsonl", "eval.json", "report.html")


def numbers(value: Any, name: str) -> Iterator[tuple[str, float]]:
    """Numbers of nested mappings by their path; what is undefined (null) and lists are left out."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from numbers(inner, f"{name}/{key}")
    elif isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
        yield name, float(value)


def figures(group: Mapping[str, Any], prefix: str) -> dict[str, float]:
    """Figures of a validation, or of a group of an evaluation."""
    return dict(pair for key in FIGURES if key in group for pair in numbers(group[key], f"{prefix}/{key}"))


def group_names(names: Iterable[str], kind: str, fields: tuple[str, ...]) -> dict[str, str]:
    """What the cohorts, scanners or phases of a run are called outside of it."""
    ordered = sorted(names)
    return {name: name if kind in fields else f"{GROUPS[kind]}-{number}" for number, name in enumerate(ordered, 1)}


def parameters(config: Mapping[str, Any]) -> dict[str, str]:
    """The config as flat parameters; keys of transforms have their place in the list. A key may also stand as its path, as in a sweep's search."""
    return dict(_flat(config, ""))


def is_sent(path: str) -> bool:
    """Whether values of this key are, as far as their kind is."""
    key = re.sub(r"(\.\d+)+$", "", path)  # without the place in its list
    operation = re.fullmatch(r"transforms\.\d+\.(\w+)\.(\w+)", key)
    return operation[2] in OPERATIONS.get(operation[1], ()) if operation else key in KNOWN


def _flat(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if path == "transforms" and isinstance(value, list):
        for number, one in enumerate(value):
            yield from _flat(one, f"{path}.{number}")
    elif re.fullmatch(r"transforms\.\d+", path):
        for name, options in (value if isinstance(value, Mapping) else {value: {}}).items():
            if options:
                yield from _flat(options, f"{path}.{name}")
            elif name in OPERATIONS:
                yield path, name
    elif is_sent(path):
        yield from _leaf(value, path)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flat(inner, f"{path}.{key}" if path else str(key))


def _leaf(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """The value of a key that is sent, where it is of a kind that is."""
    word = path in WORDS or path.startswith("transforms.") and path.endswith(tuple(f".{one}" for one in TRANSFORM_WORDS))
    if isinstance(value, list) and any(isinstance(one, list) for one in value):
        for number, one in enumerate(value):
            yield from _leaf(one, f"{path}.{number}")
    elif isinstance(value, list):
        if path in CLASSES or not any(isinstance(one, (str, Mapping)) for one in value):
            yield path, ", ".join(_text(one) for one in value)
    elif word or not isinstance(value, (str, Mapping)):
        yield path, _text(value)


def _text(value: Any) -> str:
    return "true" if value is True else "false" if value is False else "null" if value is None else str(value)


def plain_name(name: str) -> str:
    """A name that every tracker takes. One that had other characters gets a part of its hash, so that two stay two."""
    kept = "/".join(re.sub(r"[^\w.\- ]", "_", part) if part.strip(".") else "_" * max(1, len(part)) for part in name.split("/"))
    if kept == name and len(name) <= 200:
        return name
    return f"{kept[:190]}-{hashlib.sha256(name.encode()).hexdigest()[:6]}"
