"""Files that list patches: CSV, Parquet, and HDF5 as CLAM and TRIDENT write it."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import _core
from ._core import MalformedError, NotFoundError, StorageError, UnsupportedError, UsageError
from ._patch_columns import FORMS, NEEDED, SIZES, Columns, of_arrays, of_table
from ._plain import path_text

_TEXTS = (".csv", ".tsv", ".txt")
_PARQUET = (".parquet", ".pq")


def of_path(path: str) -> Columns:
    """Of a file, by its ending, or of a folder of .h5 files. Errors: those of read_patch_list."""
    if os.path.isdir(path):
        return _of_h5(_h5_files(path))
    if not os.path.exists(path):
        raise NotFoundError(f"{path}: there is no such file or folder")
    ending = os.path.splitext(path)[1].lower()
    if ending in _TEXTS:
        return _of_csv(path)
    if ending in _PARQUET:
        return _of_parquet(path)
    if ending == ".h5":
        return _of_h5([path])
    raise UsageError(f"{path}: ends in {ending or 'nothing'!r}: expected {FORMS}")


def _of_csv(path: str) -> Columns:
    """As `headrace batches --patches` reads it."""
    (images, x, y, size), lines = _core.read_patch_list(path)
    sizes: dict[str, Iterable[Any]] = {} if size is None else {name: [value] for name, value in zip(("width", "height", "level"), size)}
    return Columns(images, np.array(x, np.int64), np.array(y, np.int64), sizes, lambda row: f"{path}, line {lines[row]}")


def _of_parquet(path: str) -> Columns:
    for read in (_parquet_by_pyarrow, _parquet_by_pandas):
        try:
            table = read(path)
        except ImportError:
            continue
        except OSError as error:
            raise StorageError(f"{path}: can't be read: {error}") from error
        except (ValueError, NotImplementedError) as error:
            raise MalformedError(f"{path}: can't be read as Parquet: {str(error).splitlines()[0]}") from error
        return of_table(table, path)
    raise UnsupportedError(f"{path}: Parquet is read by pyarrow or pandas, which are not installed: pip install pyarrow, or give a CSV")


def _parquet_by_pyarrow(path: str) -> Any:
    with importlib.import_module("pyarrow.parquet").ParquetFile(path) as file:
        titles = file.schema_arrow.names
        ours = {title.strip().lower(): title for title in titles if title.strip().lower() in (*NEEDED, *SIZES)}
        # All of them, where ours are missing: the message names those there.
        return file.read(columns=list(ours.values()) if ours.keys() >= set(NEEDED) else titles)


def _parquet_by_pandas(path: str) -> Any:
    return importlib.import_module("pandas").read_parquet(path)


def _h5_files(folder: str) -> list[str]:
    try:
        files = sorted(name for name in os.listdir(folder) if name.lower().endswith(".h5") and name[0] != ".")
    except OSError as error:
        raise StorageError(f"{folder}: can't be read: {error.strerror}") from error
    if not files:
        raise UsageError(f"{folder}: has no .h5 files: expected one for each slide, as CLAM and TRIDENT write them")
    return [path_text(os.path.join(folder, name)) for name in files]


def _of_h5(paths: Sequence[str]) -> Columns:
    try:
        h5py = importlib.import_module("h5py")
    except ImportError:
        raise UnsupportedError(f"{paths[0]}: HDF5 is read by h5py, which is not installed: pip install h5py") from None
    arrays: dict[str, tuple[str, str, Any]] = {}
    for path in paths:
        try:
            with h5py.File(path, "r") as file:
                if not hasattr(file.get("coords"), "dtype"):
                    raise UsageError(f"{path}: has no dataset 'coords': expected (n, 2) x and y on level 0, there are {', '.join(file) or 'none'}")
                coords, stated = file["coords"][()], file["coords"].attrs.get("name")
        except OSError as error:
            raise StorageError(f"{path}: can't be read as HDF5 ({error})") from error
        stem = Path(path).stem
        name = stated if isinstance(stated, str) and stem == f"{stated}_patches" else stem  # as TRIDENT names them
        other = arrays.setdefault(name, (name, path, coords))
        if other[1] != path:
            raise UsageError(f"{other[1]} and {path} are both of slide '{name}': expected one file for each slide")
    return of_arrays(arrays.values())
