"""A data set's raw folder as nnU-Net defines it: dataset.json, imagesTr, labelsTr. Needs no nnunetv2."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ._core import MalformedError, NotFoundError, UnsupportedError, UsageError


@dataclass(frozen=True)
class RawCase:
    """A training case: one file for each channel, and its labels."""

    name: str
    images: tuple[Path, ...]
    labels: Path


@dataclass(frozen=True)
class LabelValues:
    """Names of label values, and which of them, if any, is for voxels that are not annotated."""

    names: tuple[str, ...]
    """By value, from 0 on, without the ignored one. Values that only regions have are named by their number."""
    ignore: int | None


def read_dataset_json(folder: Path) -> dict[str, Any]:
    path = folder / "dataset.json"
    try:
        dataset: dict[str, Any] = json.loads(path.read_text())
    except FileNotFoundError:
        raise NotFoundError(f"{path}: not there; expected nnU-Net's raw folder of a data set, with dataset.json, imagesTr and labelsTr") from None
    except ValueError as error:
        raise MalformedError(f"{path}: no JSON: {error}") from None
    for key in ("channel_names", "labels", "file_ending"):
        if not isinstance(dataset, dict) or key not in dataset:
            raise MalformedError(f"{path}: has no '{key}': expected nnU-Net's version 2")
    return dataset


def label_values(dataset: Mapping[str, Any], where: object) -> LabelValues:
    """Of the key `labels`, also of region-based data sets. Errors: MalformedError, UnsupportedError (more values than labels can have)."""
    names: dict[int, str] = {}
    ignore = None
    for name, given in dataset["labels"].items():
        values = given if isinstance(given, (list, tuple)) else [given]
        if any(isinstance(value, bool) or not isinstance(value, int) or value < 0 for value in values):
            raise MalformedError(f"{where}: label '{name}' has the value {given!r}: expected a whole number from 0 on, or a list of such")
        if name == "ignore":
            ignore = values[0]
        elif len(values) == 1:
            names[values[0]] = name
        else:
            for value in values:
                names.setdefault(value, f"label-{value}")
    if sorted(names) != list(range(len(names))) or len(names) > 255:
        raise UnsupportedError(f"{where}: the labels have the values {sorted(names)}: expected 0, 1, 2 … without a gap, below 255")
    return LabelValues(tuple(names[value] for value in range(len(names))), ignore)


def training_cases(folder: Path, dataset: Mapping[str, Any]) -> list[RawCase]:
    """All cases, by name. Errors: NotFoundError (a file that is missing), UsageError (no cases)."""
    ending, count = str(dataset["file_ending"]), len(dataset["channel_names"])
    listed = dataset.get("dataset")
    if listed:
        cases = [RawCase(name, tuple(folder / one for one in item["images"]), folder / item["label"]) for name, item in sorted(listed.items())]
    else:
        first = f"_0000{ending}"
        names = sorted(path.name[:-len(first)] for path in (folder / "imagesTr").glob(f"*{first}") if not path.name.startswith("."))
        cases = [RawCase(name, tuple(folder / "imagesTr" / f"{name}_{c:04d}{ending}" for c in range(count)), folder / "labelsTr" / f"{name}{ending}")
                 for name in names]
    if not cases:
        raise UsageError(f"{folder}: imagesTr has no file …_0000{ending}")
    for case in cases:
        for path in (*case.images, case.labels):
            if not path.is_file():
                raise NotFoundError(f"{path}: of case '{case.name}', not there")
    return cases


@contextmanager
def staged_for_ingest(folder: Path, dataset: Mapping[str, Any]) -> Iterator[Path]:
    """A folder that `headrace ingest volumes` takes: the training cases alone, and each label value as a class, of regions too."""
    values = label_values(dataset, folder / "dataset.json")
    labels = {name: value for value, name in enumerate(values.names)}
    if values.ignore is not None:
        labels["ignore"] = values.ignore
    cases = training_cases(folder, dataset)
    items = {case.name: {"images": [os.path.abspath(path) for path in case.images], "label": os.path.abspath(case.labels)} for case in cases}
    with TemporaryDirectory(prefix="headrace-nnunet-") as staged:
        text = json.dumps({"channel_names": dataset["channel_names"], "labels": labels, "file_ending": dataset["file_ending"],
                           "numTraining": len(cases), "dataset": items})
        (Path(staged) / "dataset.json").write_text(text)
        yield Path(staged)
