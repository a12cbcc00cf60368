"""What of a run may leave its folder. All that is not named here stays: ids of images and cases, names and paths of files, free text.

Names of cohorts, scanners and phases come from tables, where anything may stand: they are sent only where the target's `fields` names them; else the
groups are numbered in the order of their names.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

LINE = ("epoch", "loss", "cross_entropy", "soft_dice", "learning_rate", "gradient_norm")
TIMES = ("patches_per_s", "stall_fraction")
# Of validations and groups of an evaluation; numbers below them are sent, lists (matrices, curves, intervals) by the tables that name them.
FIGURES = ("mean_dice", "dice", "iou", "pooled_dice", "accuracy", "surface_dice", "hd95", "kappa", "tumour", "detection", "gleason", "lesion",
           "calibration", "objects", "images", "cases", "of_images")
GROUPS = {"cohorts": "cohort", "scanners": "scanner", "phases": "phase"}
# Keys of the config whose text is one of a fixed list of words, or a name of a split. Of all others only numbers and switches are sent.
WORDS = ("task", "data.train", "data.val", "data.outside", "data.version", "data.expect_hash", "sampling.balance", "sampling.order", "loader.device",
         "loader.element", "loader.layout", "loader.decode", "loader.gpudirect", "model.name", "train.schedule", "train.amp", "train.loss.pixel",
         "train.loss.region", "train.best.figure", "train.best.over", "train.best.better", "eval.window", "eval.grading")
TRANSFORM_WORDS = ("method", "preset", "mode", "interpolation")
NOT_SENT = ("tracking", "gates", "sampling.cohort_weights")
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
    """The config as flat parameters; keys of transforms have their place in the list."""
    return {key: text for key, text in _flat(config, "") if not key.startswith("_")}


def _flat(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if path in NOT_SENT:
        return
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flat(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list) and any(isinstance(one, (dict, list)) for one in value):
        for number, one in enumerate(value):
            yield from _flat(one, f"{path}.{number}")
    elif isinstance(value, list):
        if all(isinstance(one, (bool, int, float)) for one in value) or path.endswith("_classes"):
            yield path, ", ".join(_text(one) for one in value)
    elif not isinstance(value, str) or path in WORDS or _transform_word(path):
        yield path, _text(value)
    elif path.startswith("transforms.") and re.fullmatch(r"transforms\.\d+", path):
        yield path, value


def _transform_word(path: str) -> bool:
    return path.startswith("transforms.") and path.rsplit(".", 1)[-1] in TRANSFORM_WORDS


def _text(value: Any) -> str:
    return "true" if value is True else "false" if value is False else "null" if value is None else str(value)


def plain_name(name: str) -> str:
    """A name that every tracker takes. One that had other characters gets a part of its hash, so that two stay two."""
    kept = "/".join(re.sub(r"[^\w.\- ]", "_", part) if part.strip(".") else "_" * max(1, len(part)) for part in name.split("/"))
    if kept == name and len(name) <= 200:
        return name
    return f"{kept[:190]}-{hashlib.sha256(name.encode()).hexdigest()[:6]}"
