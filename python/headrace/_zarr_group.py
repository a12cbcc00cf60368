"""A small group of Zarr v3 arrays, written without compression, so that no package is needed."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

_CHUNK_ROWS = 4096


def write(folder: str, arrays: Mapping[str, tuple[NDArray[Any], Mapping[str, Any]]], attributes: Mapping[str, Any]) -> None:
    """Writes arrays (n, d) with their attributes into an empty folder; the group's own metadata last. Errors: OSError."""
    for name, (array, own) in arrays.items():
        _write_array(os.path.join(folder, name), array, own)
    _write(os.path.join(folder, "zarr.json"), _json({"zarr_format": 3, "node_type": "group", "attributes": attributes}))


def attributes(folder: str) -> dict[str, Any]:
    """Those of a group. Errors: OSError, ValueError (not JSON)."""
    with open(os.path.join(folder, "zarr.json"), encoding="utf-8") as file:
        found: dict[str, Any] = json.load(file).get("attributes", {})
    return found


def _write_array(folder: str, array: NDArray[Any], own: Mapping[str, Any]) -> None:
    rows = max(1, min(_CHUNK_ROWS, len(array)))
    stored = array.astype(array.dtype.newbyteorder("<"), copy=False)
    os.makedirs(os.path.join(folder, "c"))
    for number, first in enumerate(range(0, len(array), rows)):
        chunk = np.zeros((rows, array.shape[1]), stored.dtype)  # the last one is filled up
        part = stored[first : first + rows]
        chunk[: len(part)] = part
        os.makedirs(os.path.join(folder, "c", str(number)))
        _write(os.path.join(folder, "c", str(number), "0"), chunk.tobytes())
    metadata = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": array.shape,
        "data_type": array.dtype.name,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [rows, max(1, array.shape[1])]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 0,
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "attributes": own,
    }
    _write(os.path.join(folder, "zarr.json"), _json(metadata))


def _json(value: Any) -> bytes:
    return json.dumps(value, indent=1).encode()


def _write(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
