"""What users of other loaders write first, each answered by what to write here."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from . import _core
from ._plain import path_text

_SECTIONS = {
    "batch_size": "sampling={'batch': N} (eval={'batch': N} for tiles)",
    "seed": "sampling={'seed': N}",
    "num_workers": "threads=N, of this process",
    "workers": "threads=N, of this process",
    "prefetch_factor": "loader={'prefetch': N}",
    "patch_size": "patch={'size': [...]}",
    "size": "patch={'size': [...]}",
    "mpp": "patch={'size': [...], 'mpp': ...}",
    "spacing": "patch={'size': [...], 'spacing_mm': [...]}",
    "transform": "transforms=[...]",
    "augment": "transforms=[...]",
    "path": "data={'store': 'cohort.zarr'}",
    "dataset": "data={'store': 'cohort.zarr'}",
}
_NEEDLESS = {
    "shuffle": "training samples are always drawn at random, by sampling={'seed': N}; split='val' gives tiles in a fixed order",
    "sampler": "samples are drawn as sampling={...} says",
    "batch_sampler": "samples are drawn as sampling={...} says",
    "collate_fn": "a batch is a dict of arrays, made in C++",
    "pin_memory": "device='cuda' gives batches on the GPU",
    "persistent_workers": "its threads live as long as the loader",
    "worker_init_fn": "it has threads, and each sample its own random numbers",
    "drop_last": "every batch of training samples is full, and the last one of tiles is as long as what is left",
}


class ArgumentError(_core.UsageError, TypeError):
    """An argument that there is not, or of another kind."""


def check_guesses(given: Iterable[str], store: Any = None) -> None:
    """Errors: ArgumentError, where an argument of other loaders is given; it says what to write."""
    for name in given:
        if name == "store":
            raise ArgumentError(f"Loader has no argument store: write {_with_store(store)}")
        if name in _SECTIONS:
            raise ArgumentError(f"Loader has no argument {name}: write {_SECTIONS[name]}")
        if name in _NEEDLESS:
            raise ArgumentError(f"Loader has no argument {name}, leave it out: {_NEEDLESS[name]}")


def check_config(config: Any) -> None:
    """Errors: ArgumentError, where a run config is something else: a store, its path, a list."""
    if isinstance(config, (str, bytes, os.PathLike)):
        path = path_text(config)
        if os.path.isdir(path):
            raise ArgumentError(
                f"{path}: a run config is a file, and this is a folder; a store is given as data={{'store': {path!r}}}: {_with_store(path)}"
            )
    elif config is not None and not hasattr(config, "keys"):
        if hasattr(config, "dataset_hash"):
            raise ArgumentError(f"a run config is expected, and this is a store: write {_with_store(config)}")
        raise ArgumentError(f"{type(config).__name__} is given: expected the path of a RUN.yaml, or a mapping with its keys")


def _with_store(store: Any) -> str:
    path = store if isinstance(store, (str, os.PathLike)) else getattr(store, "path", None)
    named = repr(os.fspath(path)) if isinstance(path, (str, os.PathLike)) else "'cohort.zarr'"
    return f"Loader(data={{'store': {named}}}, patch={{'size': [512, 512], 'mpp': 0.5}})"
