"""Batches for torch.utils.data.DataLoader: `headrace.torch.dataset`."""

from __future__ import annotations

import multiprocessing
import multiprocessing.context
import os
from collections.abc import Iterator, Mapping
from typing import Any

try:
    from torch.utils.data import IterableDataset, get_worker_info
except ImportError:
    raise ImportError("headrace.torch needs PyTorch, which is not installed: pip install torch") from None

from . import _core
from ._loader_facts import LoaderFacts
from ._ranks import find_rank
from ._run_config import Config
from .loader import Loader

__all__ = ["BatchDataset", "dataset"]


class _Epochs:
    """Counts the passes over a dataset and all its copies in worker processes.

    DataLoader starts new workers for each pass, or lets workers begin again; either way all workers of a pass must agree on its
    epoch. What they have in common is the seed that DataLoader drew when it started them.
    """

    # Shared numbers: how often the place was set; seed of the current workers, how many of them have begun, epoch and first batch of
    # their first pass; epoch and first batch of the next pass.
    _TIMES_SET, _SEED, _BEGUN, _FIRST_EPOCH, _FIRST_BATCH, _NEXT_EPOCH, _NEXT_BATCH = range(7)

    def __init__(self, epoch: int, batch: int) -> None:
        self._shared = multiprocessing.get_context("spawn").Array("q", [0, -1, 0, epoch, batch, epoch, batch])
        self._mine, self._passes, self._process = (-1, -1), 0, -1

    def begin(self, seed: int, workers: int) -> tuple[int, int]:
        """(epoch, first batch) of the pass that begins in this process, one of so many."""
        with self._shared.get_lock():
            shared: Any = self._shared.get_obj()
            new = self._process != os.getpid()
            self._process = os.getpid()
            # With a seed that is set before each pass, new workers are known by their number.
            if seed != shared[self._SEED] or (new and shared[self._BEGUN] >= workers):
                shared[self._SEED], shared[self._BEGUN] = seed, 0
                shared[self._FIRST_EPOCH], shared[self._FIRST_BATCH] = shared[self._NEXT_EPOCH], shared[self._NEXT_BATCH]
            shared[self._BEGUN] += new
            if self._mine != (shared[self._TIMES_SET], seed):
                self._mine, self._passes = (shared[self._TIMES_SET], seed), 0
            place: tuple[int, int] = (shared[self._FIRST_EPOCH] + self._passes, 0 if self._passes else shared[self._FIRST_BATCH])
            self._passes += 1
            shared[self._NEXT_EPOCH], shared[self._NEXT_BATCH] = max(shared[self._NEXT_EPOCH], place[0] + 1), 0
            return place

    def set(self, epoch: int, batch: int) -> None:
        """The next pass begins there."""
        with self._shared.get_lock():
            shared: Any = self._shared.get_obj()
            shared[:] = [shared[self._TIMES_SET] + 1, -1, 0, epoch, batch, epoch, batch]

    def __getstate__(self) -> dict[str, Any]:
        """Workers get the shared numbers; a copy for anything else counts for itself."""
        if multiprocessing.context.get_spawning_popen() is not None:
            return self.__dict__
        shared: Any = self._shared.get_obj()
        return {"next": (shared[self._NEXT_EPOCH], shared[self._NEXT_BATCH])}

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "next" in state:
            _Epochs.__init__(self, *state["next"])
        else:
            self.__dict__.update(state)


class BatchDataset(IterableDataset[dict[str, Any]]):
    """The batches of a `headrace.Loader`, as torch tensors; made by `dataset`."""

    def __init__(self, config: Config, options: dict[str, Any]) -> None:
        for name in ("as_", "turn"):
            if name in options:
                raise _core.UsageError(f"{name} is not for datasets: they give torch tensors, and DataLoader's workers take turns")
        rank, world_size = find_rank(options.pop("rank", None), options.pop("world_size", None))
        self._arguments = {"config": config, **options, "rank": rank, "world_size": world_size, "as_": "torch"}
        facts = LoaderFacts(**self._arguments)
        self._length, self._tiled, self._home = len(facts), facts.tiled, facts.place
        self._epochs = _Epochs(*self._home)
        self._loader: Loader | None = None
        self._loader_of: tuple[int, ...] = ()

    def __len__(self) -> int:
        return self._length

    def set_epoch(self, epoch: int) -> None:
        """The next pass is this epoch of training, from its beginning. Of tiles every pass is the same."""
        self._epochs.set(epoch, 0)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """The next pass goes on after a batch, by its `batch["meta"].state_after()`, or where a Loader's `state_dict` is."""
        facts = LoaderFacts(**self._arguments)
        facts.load_state_dict(state)
        self._epochs.set(*facts.place)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        worker = get_worker_info()
        index, every, seed = (0, 1, -2) if worker is None else (worker.id, worker.num_workers, worker.seed - worker.id)
        loader = self._own_loader(index, every)
        epoch, batch = self._epochs.begin(seed, every)
        if self._tiled:
            epoch, batch = self._home[0], batch or self._home[1]
        loader.seek(epoch, batch)
        yield from loader

    def _own_loader(self, index: int, every: int) -> Loader:
        """This process's; another one's, known before a fork, is left alone."""
        whose = (os.getpid(), index, every)
        if self._loader is None or self._loader_of != whose:
            self._loader, self._loader_of = Loader(**self._arguments, turn=(index, every)), whose
        return self._loader

    def close(self) -> None:
        """Ends the threads of this process's loader; the next pass makes new ones."""
        if self._loader is not None and self._loader_of[0] == os.getpid():
            self._loader.close()
        self._loader = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_loader": None}


def dataset(config: Config = None, **options: Any) -> BatchDataset:
    """An IterableDataset of the batches of `headrace.Loader` with the same arguments (but `as_` and `turn`).

    Use it with `torch.utils.data.DataLoader(dataset, batch_size=None)`: batches are whole. They come in the same order with the same
    bytes for any `num_workers`; 0 is the fastest, since the loader has threads of its own, and tensors of workers go through shared
    memory. Workers take turns, and share the cores where loader.threads is 0. Workers may be forked or spawned, with batches on the
    CPU.

    Each pass is an epoch of training, the next one after the last, also where it was not finished; `set_epoch` chooses another. Each
    pass over tiles has all. rank and world_size are those of the process that makes the dataset.

    Errors: those of Loader, when it is made. In a worker torch raises them again in the main process.
    """
    return BatchDataset(config, options)
