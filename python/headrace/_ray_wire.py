"""A batch on its way from an actor to the trainer, through Ray's object store."""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._batch_meta import BatchMeta
from ._ray_spec import UINT8

_AT_ONCE = 1 << 16  # values that are rounded at once, so that they stay in the cache


class SentImages(NamedTuple):
    """Images of a batch, or of one of its views. Ray puts their bytes into its store as they are (pickle 5, out of band)."""

    values: NDArray[Any]
    """In the order of their memory; bfloat16 as int16, since NumPy has none."""
    axes: tuple[int, ...]
    """Where each axis of the images lies in `values`."""


class SentBatch(NamedTuple):
    """What an actor gives."""

    images: dict[str, SentImages]
    """By the view's name, the first one is also `image`; without views one of the name ""."""
    bfloat16: bool
    label: NDArray[np.uint8] | None
    meta: BatchMeta

    @property
    def nbytes(self) -> int:
        return sum(sent.values.nbytes for sent in self.images.values()) + (0 if self.label is None else self.label.nbytes)


def pack(batch: dict[str, Any], element: str) -> SentBatch:
    """A loader's batch, without a copy but for uint8."""
    images, label = batch.get("views") or {"": batch["image"]}, batch.get("label")
    bfloat16 = element == "bfloat16"
    if bfloat16:  # of torch
        import torch

        images = {name: view.view(torch.int16).numpy() for name, view in images.items()}
        label = None if label is None else label.numpy()
    return SentBatch({name: _in_memory_order(view, element) for name, view in images.items()}, bfloat16, label, batch["meta"])


def unpack(sent: SentBatch, as_torch: bool) -> tuple[Any, Any, BatchMeta, dict[str, Any]]:
    """(image, label or None, meta, views by name) in the memory of the object store, which stays there while one of the arrays lives."""
    images: dict[str, Any] = {name: _writable(one.values).transpose(one.axes) for name, one in sent.images.items()}
    label: Any = None if sent.label is None else _writable(sent.label)
    if as_torch:
        import torch

        tensors = {name: torch.from_numpy(one) for name, one in images.items()}
        images = {name: one.view(torch.bfloat16) if sent.bfloat16 else one for name, one in tensors.items()}
        label = None if label is None else torch.from_numpy(label)
    return next(iter(images.values())), label, sent.meta, {} if "" in images else images


def _in_memory_order(image: NDArray[Any], element: str) -> SentImages:
    order = sorted(range(image.ndim), key=lambda axis: -image.strides[axis])  # channels last: not the order of its axes
    values = image.transpose(order)
    return SentImages(_as_uint8(values) if element == UINT8 else values, tuple(map(order.index, range(image.ndim))))


def _as_uint8(image: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Values of 0 to 1 as 0 to 255, rounded to the nearest, halves to even; what lies outside becomes 0 or 255."""
    out = np.empty(image.shape, np.uint8)
    values, rounded = image.reshape(-1), out.reshape(-1)
    scratch = np.empty(min(_AT_ONCE, values.size), np.float32)
    for at in range(0, values.size, _AT_ONCE):
        part = values[at : at + _AT_ONCE]
        here = scratch[: part.size]
        np.multiply(part, np.float32(255), out=here)
        np.rint(here, out=here)
        np.clip(here, 0, 255, out=here)
        rounded[at : at + _AT_ONCE] = here
    return out


def _writable(array: NDArray[Any]) -> NDArray[Any]:
    """The same memory, to be written to, as that of a loader's batches may be.

    Ray gives read-only arrays, since others might read the object. This one was made for its reader alone, and nobody else asks
    for it.
    """
    if array.flags.writeable or array.size == 0:
        return array
    memory: Any = (ctypes.c_char * array.nbytes).from_address(array.ctypes.data)
    memory.owner = array  # the store keeps the object while it lives
    view: NDArray[Any] = np.frombuffer(memory, array.dtype).reshape(array.shape)
    return view
