"""The actor that makes batches by their numbers, on a machine of a Ray cluster."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from . import _core
from ._ray_library import ray
from ._ray_spec import LoaderSpec
from ._ray_wire import SentBatch, pack
from .loader import Loader


class Failure(NamedTuple):
    """An error of the library, as a value: Ray would add the traceback of the actor to it."""

    kind: str
    """Name of the class in `headrace`."""
    text: str
    node: str
    """Address of the machine."""

    def error(self) -> _core.Error:
        wrong: _core.Error = getattr(_core, self.kind)(f"{self.text} (loader actor on {self.node})")
        return wrong


class Opened(NamedTuple):
    """An actor that has opened its store."""

    node: str
    """Address of the machine."""
    node_id: str
    pid: int


class NumberedLoader(Loader):
    """A loader that is asked for batches by their numbers instead of in a `for`."""

    def batch_at(self, number: int, every: int) -> dict[str, Any]:
        """Batch `number`, counted from epoch 0. `every`: the next one that will be asked for is so many further on.

        Where that is so, it is made ahead. Any other number costs new threads and the batches that were made ahead in vain.
        """
        with self._lock:
            if self._turn != (0, every):
                self._turn, self._source_next = (0, every), None
            source = self._source_at(number)
            self._source_next = None  # it is elsewhere if this does not end well
            made = source.next(self._inputs, 0)
            assert made is not None
            self._source_next = number + every
        return self._batch_of(*made)

    def _begin(self) -> None:
        """Nothing is made before it is known which."""


class LoaderActor:
    """Makes any batch of a spec, and remembers nothing that a batch depends on. One thread calls it."""

    def __init__(self, spec: LoaderSpec, threads: int) -> None:
        self._spec, self._threads = spec, threads
        self._loader: NumberedLoader | None = None

    def open(self) -> Opened | Failure:
        """Opens the store."""
        try:
            self._own_loader()
        except _core.Error as error:
            return _failure(error)
        return Opened(ray.util.get_node_ip_address(), ray.get_runtime_context().get_node_id(), os.getpid())

    def make(self, number: int, every: int) -> SentBatch | Failure:
        """A batch, as `NumberedLoader.batch_at` has it."""
        try:
            return pack(self._own_loader().batch_at(number, every), self._spec.element)
        except _core.Error as error:
            return _failure(error)

    def _own_loader(self) -> NumberedLoader:
        if self._loader is None:
            opened = self._spec.open(self._threads, NumberedLoader)
            assert isinstance(opened, NumberedLoader)
            self._loader = opened
        return self._loader


def _failure(error: _core.Error) -> Failure:
    kind = next(base.__name__ for base in type(error).__mro__ if getattr(_core, base.__name__, None) is base)
    return Failure(kind, str(error), ray.util.get_node_ip_address())
