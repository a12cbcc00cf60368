"""Batches in nnU-Net's form from headrace.Loaders: images in the network's axes, targets for each level of deep supervision."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._core import UsageError
from ._nnunet_plan import Axes
from .loader import Loader

_OUTSIDE = 255  # of a loader's labels: outside of the image, or not annotated
_AHEAD = 2  # finished batches that wait
# Of the loaders' numbering, which has no meaning here: batches are counted from the training's beginning.
EPOCH = 1_000_000


@dataclass(frozen=True)
class BatchForm:
    """What a batch looks like. Axes are the network's."""

    patch: tuple[int, int, int]
    axes: Mapping[str, Axes]
    """Of each image, by id; all with the same order of the store's axes."""
    strides: Sequence[tuple[int, int, int]]
    """Voxels of the patch a voxel of each target."""
    supervised: bool = True
    """Whether targets are a list, one for each of `strides`."""
    ignore: int | None = None
    """The data set's value for what is not annotated."""
    regions: Sequence[Sequence[int]] = ()
    """Label values of each region; none: targets are label values."""
    mirror_axes: tuple[int, ...] = ()
    """Axes that are mirrored here in half of the samples each; mirroring about all axes is the loader's."""
    mirrored_by_loader: bool = False
    """Then the order along an axis has no meaning, and no sample is turned back to that of its file."""
    pin: bool = False
    """Whether tensors are in pinned memory."""
    seed: int = 0
    """Of the mirroring."""
    tables: list[NDArray[np.bool_]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        tables = []
        for values in self.regions:
            table = np.zeros(256, np.bool_)
            table[list(values)] = True
            tables.append(table)
        object.__setattr__(self, "tables", tables)


class Batches(Iterator[dict[str, Any]]):
    """Endless batches of several loaders, each of which makes its part of the samples.

    A batch is a dict: `data`, float32 (sample, channel, z, y, x); `target`, int16 (sample, 1, z, y, x), or bool (sample, region, z, y, x), a list of
    them with deep supervision; `keys`, the cases. They are made ahead by a thread; one consumer. `close` ends it, as does the last reference.
    """

    def __init__(self, parts: Sequence[Loader], form: BatchForm, number: int = 0) -> None:
        self._parts, self._form, self._given, self._closed = list(parts), form, number, threading.Event()
        self._made: queue.Queue[Any] = queue.Queue(_AHEAD)
        self._thread: threading.Thread | None = None

    @property
    def given(self) -> int:
        """Batches that were given, from the training's beginning."""
        return self._given

    def seek(self, number: int) -> None:
        """The next batch is number `number`. Errors: UsageError (after the first batch)."""
        if self._thread is not None:
            raise UsageError("batches are under way; their place can be set before the first one alone")
        self._given = number

    def __next__(self) -> dict[str, Any]:
        if self._closed.is_set():
            raise UsageError("the batches are closed. Make others")
        if self._thread is None:
            work = (self._parts, self._form, self._given, self._made, self._closed, _gpu(self._form))
            self._thread = threading.Thread(target=_make, args=work, daemon=True)
            self._thread.start()
        batch = None
        while batch is None:
            try:
                batch = self._made.get(timeout=0.5)
            except queue.Empty:
                if self._closed.is_set():  # by another thread, meanwhile
                    raise UsageError("the batches are closed. Make others") from None
        if isinstance(batch, BaseException):
            self.close()
            raise batch
        self._given += 1
        return dict(batch)

    def close(self) -> None:
        """Ends the threads. Batches that were given stay valid."""
        self._closed.set()
        for part in self._parts:
            part.close()

    def __del__(self) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Batches(next {self._given}, of {self._parts})"


def _gpu(form: BatchForm) -> int | None:
    """The caller's GPU, where batches are to lie in page-locked memory."""
    import torch

    return torch.cuda.current_device() if form.pin else None


def _make(parts: list[Loader], form: BatchForm, number: int, made: queue.Queue[Any], closed: threading.Event, gpu: int | None) -> None:
    """The thread's work: until it is closed, or an error, which is the last thing that it hands over."""
    def hand_over(thing: Any) -> None:
        while not closed.is_set():
            try:
                return made.put(thing, timeout=0.2)
            except queue.Full:
                pass

    try:
        if gpu is not None:  # a new thread has GPU 0, and would make a context there when it takes page-locked memory
            import torch

            torch.cuda.set_device(gpu)
        passes: list[Iterator[dict[str, Any]]] = []
        for part in parts:
            part.seek(*divmod(number, EPOCH))
        while not closed.is_set():
            if not passes or number % EPOCH == 0:
                passes = [iter(part) for part in parts]
            hand_over(assembled([next(one) for one in passes], form, number))
            number += 1
    except BaseException as error:
        hand_over(error)


def assembled(parts: Sequence[Mapping[str, Any]], form: BatchForm, number: int) -> dict[str, Any]:
    """One batch of nnU-Net's form from the loaders' parts (NumPy, in the store's axes)."""
    import torch

    keys = [key for part in parts for key in part["meta"].images]
    channels = parts[0]["image"].shape[1]
    data = torch.empty((len(keys), channels, *form.patch), dtype=torch.float32, pin_memory=form.pin)
    labels = torch.empty((len(keys), 1, *form.patch), dtype=torch.int16, pin_memory=form.pin)
    draws = np.random.Generator(np.random.Philox(key=form.seed, counter=[number, 0, 0, 0]))
    sample = 0
    for part in parts:
        for image, label in zip(part["image"], part["label"]):
            _place(image, label, data[sample].numpy(), labels[sample, 0].numpy(), form, form.axes[keys[sample]], draws)
            sample += 1
    targets = [_target(labels, strides, form) for strides in form.strides]
    return {"data": data, "target": targets if form.supervised else targets[0], "keys": keys}


def _place(image: NDArray[np.float32], label: NDArray[np.uint8], data: NDArray[np.float32], seg: NDArray[np.int16], form: BatchForm, axes: Axes,
           draws: np.random.Generator) -> None:
    """Writes a sample, (channel, z, y, x) and (z, y, x) of the store, into its place, in the network's axes."""
    outside = label == _OUTSIDE
    some = bool(outside.any())
    if some and form.ignore is None:
        image[:, outside] = 0  # nnU-Net pads with it, also when it predicts
    turned = {axis for axis in range(3) if axes.mirrored[axis] and not form.mirrored_by_loader}
    turned ^= {axis for axis in form.mirror_axes if draws.random() < 0.5}
    edges = [label.shape[axis] for axis in axes.store]
    middle = tuple(slice((edge - wanted) // 2, (edge - wanted) // 2 + wanted) for edge, wanted in zip(edges, form.patch))
    for from_, to in ((label, seg), *zip(image, data)):
        to[...] = np.flip(from_.transpose(axes.store)[middle], tuple(turned))
    if some:
        seg[seg == _OUTSIDE] = 0 if form.ignore is None else form.ignore


def _target(labels: Any, strides: tuple[int, int, int], form: BatchForm) -> Any:
    """The labels at a coarser level: the nearest voxel's, of the two in the middle the further one, as torch's nearest-exact."""
    import torch

    if strides != (1, 1, 1):
        labels = labels[(..., *(slice(stride // 2, None, stride) for stride in strides))].contiguous()
    if not form.regions:
        return labels
    out = torch.empty((len(labels), len(form.regions), *labels.shape[2:]), dtype=torch.bool, pin_memory=form.pin)
    values = labels.numpy().astype(np.uint8)
    for region, table in enumerate(form.tables):
        np.take(table, values[:, 0], out=out[:, region].numpy())
    return out
