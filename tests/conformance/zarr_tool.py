"""Runs zarr_tool, the program through which these tests drive Headrace's Zarr (tests/zarr/zarr_tool.cpp)."""
import json
import pathlib

import numpy as np
from driving import run_tool


def run(*arguments, expect: int = 0) -> str:
    return run_tool("zarr_tool", *arguments, codes=(expect,)).stderr


def numbers(values) -> str:
    return ",".join(str(int(value)) for value in values)


def read(store, array, origin=None, shape=None, order=None) -> np.ndarray:
    """A region of an array as Headrace reads it; `order` is the axis order in memory."""
    out = pathlib.Path(store) / "read.npy"
    region = [] if origin is None else [numbers(origin), numbers(shape)]
    run("read", store, array, out, *region, *([] if order is None else [numbers(order)]))
    return np.load(out)


def write(store, array, metadata: dict, elements: np.ndarray, threads: int = 2) -> None:
    """Headrace writes an array with this zarr.json."""
    folder = pathlib.Path(store)
    np.save(folder / "write.npy", np.ascontiguousarray(elements))
    (folder / "write.json").write_text(json.dumps(metadata))
    run("write", store, array, folder / "write.json", folder / "write.npy", threads)
