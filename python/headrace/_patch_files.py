"""Files that list patches: CSV, Parquet, and HDF5 as CLAM and TRIDENT write it."""

from __future__ import annotations

import csv
import importlib
import itertools
import os
import re
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from ._core import MalformedError, NotFoundError, StorageError, UnsupportedError, UsageError
from ._patch_columns import FORMS, NEEDED, SIZES, Columns, found_columns, of_arrays, of_table, whole
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
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            return _csv_columns(path, file)
    except OSError as error:
        raise StorageError(f"{path}: can't be read: {error.strerror}") from error
    except UnicodeDecodeError:
        raise MalformedError(f"{path}: is no text in UTF-8; save it as CSV in UTF-8") from None
    except csv.Error as error:
        raise MalformedError(f"{path}: is no CSV: {error}") from None


def _csv_columns(path: str, file: TextIO) -> Columns:
    """With what spreadsheets make of tables: a first line `sep=;`, semicolons or tabs, texts behind an apostrophe."""
    header = file.readline()
    passed = 1 if re.fullmatch(r"sep=.\s*", header) else 0
    separator = header[4] if passed else max(",;\t", key=header.count)
    reader = csv.reader(file if passed else itertools.chain([header], file), delimiter=separator, strict=True)
    titles = next(reader, [])
    at = found_columns(path, titles)
    images, x, y, lines = [], array("q"), array("q"), array("q")
    sizes: dict[str, list[str]] = {name: [] for name in SIZES if name in at}
    texts: dict[str, str] = {}  # one object for equal cells, of which there are many
    for row in reader:
        if not any(row):
            continue
        where = f"{path}, line {reader.line_num + passed}"
        if len(row) <= max(at.values()):
            raise UsageError(f"{where}: has {len(row)} cells, and the table's first line {len(titles)}")
        image = _without_apostrophe(row[at["image"]].strip())
        images.append(texts.setdefault(image, image))
        x.append(whole("x", row[at["x"]], where))
        y.append(whole("y", row[at["y"]], where))
        lines.append(reader.line_num + passed)
        for name, cells in sizes.items():
            cell = row[at[name]]
            cells.append(texts.setdefault(cell, cell))
    return Columns(images, np.array(x, np.int64), np.array(y, np.int64), dict(sizes), lambda row: f"{path}, line {lines[row]}")


def _without_apostrophe(text: str) -> str:
    """Our tables put one in front of what a spreadsheet would compute."""
    return text[1:] if re.match(r"'[=+@\t\r-].", text) else text


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
