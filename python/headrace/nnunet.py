"""nnU-Net fed from a store: the commands `python -m headrace.nnunet install` and `prepare`, and `nnUNetTrainerHeadrace`.

Needs nnunetv2 2.8 for the trainer, and SimpleITK for `prepare`; importing this module needs neither.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Union

from ._core import Error, NotFoundError, UsageError
from ._nnunet_check import check_cases
from ._nnunet_raw import label_values, read_dataset_json, staged_for_ingest, training_cases
from ._nnunet_store import Prepared
from ._work import Progress, ingest_volumes
from .store import open as open_store

__all__ = ["HeadraceBatches", "install", "nnUNetTrainerHeadrace", "prepare"]

_MODULE = '''"""nnU-Net's trainer with batches of a headrace store; written by `python -m headrace.nnunet install`."""
from nnunetv2.training.nnUNetTrainer.nnUNetTrainer import nnUNetTrainer

try:
    from headrace._nnunet_trainer import nnUNetTrainerHeadrace
except ModuleNotFoundError as missing:
    if missing.name != "headrace":
        raise

    class nnUNetTrainerHeadrace(nnUNetTrainer):
        """Where headrace is not installed: enough to predict with trained weights."""

        def get_dataloaders(self):
            raise ModuleNotFoundError("nnUNetTrainerHeadrace trains by headrace, which is not installed in this Python", name="headrace")
'''


def __getattr__(name: str) -> Any:
    """The trainer, imported with nnunetv2 when it is first asked for."""
    if name in ("HeadraceBatches", "nnUNetTrainerHeadrace"):
        try:
            return getattr(importlib.import_module("headrace._nnunet_trainer"), name)
        except ModuleNotFoundError as error:
            if (error.name or "").split(".")[0] != "nnunetv2":
                raise
            raise ImportError(f"headrace.nnunet.{name} needs nnunetv2, which is not installed: pip install 'nnunetv2>=2.8,<2.9'") from None
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def install(to: Union[str, os.PathLike[str], None] = None) -> Path:
    """Writes the small module by which nnunetv2 finds `-tr nnUNetTrainerHeadrace`; returns its path. May be called again.

    to: a folder of one's own instead of nnunetv2's, for the variable nnUNet_extTrainer. Errors: NotFoundError (nnunetv2 is not installed).
    """
    if to is None:
        found = importlib.util.find_spec("nnunetv2")
        if found is None or not found.submodule_search_locations:
            raise NotFoundError("nnunetv2 is not installed in this Python: pip install 'nnunetv2>=2.8,<2.9'")
        folder = Path(next(iter(found.submodule_search_locations))) / "training/nnUNetTrainer/variants"
        if not folder.is_dir():
            raise NotFoundError(f"{folder}: not there; this nnunetv2 has another layout than 2.8")
    else:
        folder = Path(to)
        folder.mkdir(parents=True, exist_ok=True)
    path = folder / "nnUNetTrainerHeadrace.py"
    aside = folder / f".nnUNetTrainerHeadrace-{os.getpid()}"
    aside.write_text(_MODULE)
    aside.replace(path)
    return path


def prepare(
    dataset: Union[str, int],
    *,
    store: Union[str, os.PathLike[str], None] = None,
    channels: Iterable[str] | None = None,
    codec: str | None = None,
    jobs: int = 0,
    progress: Progress = False,
) -> Prepared:
    """Ingests a raw data set of nnU-Net, and writes down how its cases lie in the store, in nnU-Net's folder of preprocessed data.

    :param dataset: number or name, for example 5 or "Dataset005_Prostate", in the folder of the variable nnUNet_raw.
    :param store: one that was ingested before, with the cases' names; its voxels and labels are compared with the raw folder. Left out:
        ``headrace.zarr`` in the folder of preprocessed data; the training cases are ingested into it, and only labels are compared.
    :param channels: names of the channels for the store where dataset.json has others than CT and PET: ``["ct", "fdg=SUV"]``.
    :param codec: as in :func:`headrace.ingest_volumes`.
    :param jobs: threads; 0: every core.
    :param progress: as in :func:`headrace.ingest_volumes`.
    :raises headrace.Error: UsageError with the case's name, where the store lacks one or has other voxels or labels; those of ingest.

    Call it again when labels or cases have changed. Nothing is written down where something does not fit.
    """
    raw = _dataset_folder("nnUNet_raw", dataset)
    description = read_dataset_json(raw)
    cases = training_cases(raw, description)
    preprocessed = _root("nnUNet_preprocessed") / raw.name
    preprocessed.mkdir(parents=True, exist_ok=True)
    where = "headrace.zarr" if store is None else os.path.abspath(store)
    if store is None:
        with staged_for_ingest(raw, description) as staged:
            try:
                ingest_volumes(staged, preprocessed / where, channels=channels, codec=codec, jobs=jobs or None, progress=progress)
            except Error as error:
                raise type(error)(str(error).replace(str(staged), str(raw))) from None
    elif channels is not None or codec is not None:
        raise UsageError("channels and codec are for a store that is made, and store names one that is there")
    cohort = open_store(preprocessed / where)
    checked = check_cases(cohort, cases, label_values(description, raw / "dataset.json"), store is not None,
                          jobs or len(os.sched_getaffinity(0)), progress)
    prepared = Prepared(where, cohort.dataset_hash, checked)
    prepared.write(preprocessed)
    return prepared


def _root(variable: str) -> Path:
    value = os.environ.get(variable)
    if not value or not Path(value).is_dir():
        raise UsageError(f"the variable {variable} is {value!r}: expected a folder, as nnU-Net itself needs it")
    return Path(value)


def _dataset_folder(variable: str, dataset: Union[str, int]) -> Path:
    root, text = _root(variable), str(dataset)
    wanted = f"Dataset{int(text):03d}_" if text.isdecimal() else text
    found = sorted(path for path in root.iterdir() if path.is_dir() and (path.name.startswith(wanted) if text.isdecimal() else path.name == wanted))
    if len(found) != 1:
        known = ", ".join(sorted(path.name for path in root.glob("Dataset*"))) or "none"
        raise UsageError(f"{root}: {'no' if not found else 'more than one'} data set '{dataset}'; there are: {known}")
    return found[0]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m headrace.nnunet", description="nnU-Net fed from a headrace store.")
    commands = parser.add_subparsers(dest="command", required=True)
    installing = commands.add_parser("install", help="lets nnunetv2 find nnUNetTrainerHeadrace")
    installing.add_argument("--to", help="a folder of your own, for the variable nnUNet_extTrainer; left out: into nnunetv2 itself")
    preparing = commands.add_parser("prepare", help="ingests a raw data set, or compares a store with it")
    preparing.add_argument("dataset", help="number or name, for example 5")
    preparing.add_argument("--store", help="one that was ingested before; left out: the data set is ingested")
    preparing.add_argument("--channels", help="names of the channels, for example ct,fdg=SUV")
    preparing.add_argument("--codec", help="of the store that is made: blosc-lz4, blosc-zstd, zstd")
    preparing.add_argument("--jobs", type=int, default=0, help="threads; 0: every core")
    given = parser.parse_args(arguments)
    try:
        if given.command == "install":
            path = install(given.to)
            print(f"written: {path}")
            if given.to:
                print(f"let nnU-Net find it: export nnUNet_extTrainer={path.parent.resolve()}")
            return 0
        channels = given.channels.split(",") if given.channels else None
        prepared = prepare(given.dataset, store=given.store, channels=channels, codec=given.codec, jobs=given.jobs, progress=True)
        print(f"{len(prepared.cases)} cases of store {prepared.store}, version {prepared.dataset_hash[:12]}: as in the raw folder")
        return 0
    except (Error, ImportError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1


if __name__ == "__main__":
    sys.exit(main())
