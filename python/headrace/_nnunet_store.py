"""Which store a data set of nnU-Net is trained from, and a fold's view of it."""

from __future__ import annotations

import csv
import json
import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ._core import MalformedError, NotFoundError, UsageError
from ._nnunet_check import CheckedCase
from ._nnunet_plan import Axes, NetworkPlan
from ._work import ingest_labels
from .store import Cohort, open as open_store

_RECORD = "headrace.json"
_AGAIN = "Run: python -m headrace.nnunet prepare"
# Folders of a store that no change of splits writes into.
_SHARED = ("images", "index", "histograms", "manifests", "sources")


@dataclass(frozen=True)
class Prepared:
    """What `prepare` found out about a data set; kept as JSON in nnU-Net's folder of preprocessed data."""

    store: str
    """A path relative to that folder, or an absolute one."""
    dataset_hash: str
    cases: Mapping[str, CheckedCase]

    def write(self, folder: Path) -> None:
        cases = {name: {"store_axes": case.axes.store, "mirrored": case.axes.mirrored, "labels_sha256": case.labels_sha256}
                 for name, case in sorted(self.cases.items())}
        text = json.dumps({"version": 1, "store": self.store, "dataset_hash": self.dataset_hash, "cases": cases}, indent=1)
        temporary = folder / f".{_RECORD}-{os.getpid()}"
        temporary.write_text(text + "\n")
        temporary.replace(folder / _RECORD)


def read_prepared(folder: Path) -> Prepared:
    """Errors: NotFoundError (`prepare` was not run), MalformedError."""
    path = folder / _RECORD
    try:
        record = json.loads(path.read_text())
        if record["version"] != 1:
            raise MalformedError(f"{path}: version {record['version']}, expected 1. {_AGAIN}")
        cases = {name: CheckedCase(_axes(case), str(case["labels_sha256"])) for name, case in record["cases"].items()}
        return Prepared(str(record["store"]), str(record["dataset_hash"]), cases)
    except FileNotFoundError:
        raise NotFoundError(f"{path}: not there, so it is not known which store to train from. {_AGAIN} {folder.name}") from None
    except (ValueError, KeyError, TypeError):
        raise MalformedError(f"{path}: not what `prepare` writes. {_AGAIN} {folder.name}") from None


def _axes(case: Mapping[str, Any]) -> Axes:
    z, y, x = case["store_axes"]
    first, second, third = case["mirrored"]
    return Axes((int(z), int(y), int(x)), (bool(first), bool(second), bool(third)))


def open_prepared(folder: Path, prepared: Prepared) -> Cohort:
    """The store in the version that was prepared. Errors: NotFoundError; UsageError (it has another version by now)."""
    path = folder / prepared.store
    cohort = open_store(path)
    if cohort.dataset_hash != prepared.dataset_hash:
        raise UsageError(f"{path}: its version is {cohort.dataset_hash[:12]}, and {prepared.dataset_hash[:12]} was compared with the raw folder; "
                         f"labels or images have changed since. {_AGAIN} {folder.name}")
    return cohort


def network_axes(prepared: Prepared, cases: Iterable[str], plan: NetworkPlan, folder: Path) -> dict[str, Axes]:
    """Of each case, how the network's axes lie in the store.

    Errors: UsageError (a case that was not prepared; cases whose axes have different orders, which no one patch fits).
    """
    found: dict[str, Axes] = {}
    for name in cases:
        if name not in prepared.cases:
            raise UsageError(f"case '{name}' is in nnU-Net's split, and was not there when the store was compared with the raw folder. "
                             f"{_AGAIN} {folder.name}")
        found[name] = plan.network_axes(prepared.cases[name].axes)
    first = next(iter(found.items()), None)
    for name, axes in found.items():
        if first is not None and axes.store != first[1].store:
            raise UsageError(f"cases '{first[0]}' and '{name}' have their axes in different orders ({_named(first[1])} and {_named(axes)} of the "
                             "patient), so one patch has different shapes in them. Write the images in one order, or plan with "
                             "\"overwrite_image_reader_writer\": \"SimpleITKIOWithReorient\" in dataset.json")
    return found


def _named(axes: Axes) -> str:
    return "".join("zyx"[axis] for axis in axes.store)


def make_view(cohort: Cohort, folder: Path, train: Iterable[str], val: Iterable[str]) -> str:
    """A store of a few kilobytes in `folder`: links to the objects of this one, with nnU-Net's split; this one is not written to.

    Cases of `train` are in split train (also those that `val` has, too), the others of `val` in val, all else in test. Its name is a part of its
    dataset hash, so trainings of one fold share it, also if they begin at once. Returns its path.
    """
    source, aside = Path(cohort.path).resolve(), folder / f".{os.getpid()}.zarr"
    shutil.rmtree(aside, ignore_errors=True)
    try:
        (aside / "versions").mkdir(parents=True)
        for name in _SHARED:
            if (source / name).is_dir():
                (aside / name).symlink_to(source / name, target_is_directory=True)
        for name in ("zarr.json", "manifest.json", f"versions/{cohort.dataset_hash}.json"):
            shutil.copyfile(source / name, aside / name)
        splits = {**dict.fromkeys((image.id for image in cohort.images), "test"), **dict.fromkeys(val, "val"), **dict.fromkeys(train, "train")}
        table = aside / "split.csv"
        with open(table, "w", newline="") as file:
            # Each image is a case of its own: nnU-Net alone decides the split.
            csv.writer(file).writerows([("image", "case", "split"), *((name, name, split) for name, split in sorted(splits.items()))])
        view = ingest_labels(aside, table=table)["dataset_hash"]
        table.unlink()
        out = folder / f"{view[:16]}.zarr"
        if not (out / "images").is_symlink() or (out / "images").readlink() != source / "images":  # none, or of a store that has moved
            shutil.rmtree(out, ignore_errors=True)
            aside.rename(out)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return str(out)
