"""A batch on its way from an actor to the trainer, through Ray's object store."""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._batch_meta import BatchMeta
from ._ray_spec import UINT8

_AT_ONCE = 1 << 16  # values that are rounded at once, so that they stay in the cache


class SentBatch(NamedTuple):
    """What an actor gives. Ray puts the arrays' bytes into its store as they are (pickle 5, out of band)."""

    image: NDArray[Any]
    """In the order of its memory; bfloat16 as int16, since NumPy has none."""
    axes: tuple[int, ...]
    """Where each axis of the batch's image lies in `image`."""
    bfloat16: bool
    label: NDArray[np.uint8] | None
    meta: BatchMeta


def pack(batch: dict[str, Any], element: str) -> SentBatch:
    """A loader's batch, without a copy but for uint8."""
    image, label = batch["image"], batch.get("label")
    bfloat16 = element == "bfloat16"
    if bfloat16:  # of torch
        import torch

        image, label = image.view(torch.int16).numpy(), None if label is None else label.numpy()
    order = sorted(range(image.ndim), key=lambda axis: -image.strides[axis])  # channels last: not the order of its axes
    image = image.transpose(order)
    return SentBatch(_as_uint8(image) if element == UINT8 else image, tuple(map(order.index, range(image.ndim))), bfloat16, label, batch["meta"])


def unpack(sent: SentBatch, as_torch: bool) -> tuple[Any, Any, BatchMeta]:
    """(image, label or None, meta) in the memory of the object store, which stays there while one of the arrays lives."""
    image, label = _writable(sent.image).transpose(sent.axes), None if sent.label is None else _writable(sent.label)
    if not as_torch:
        return image, label, sent.meta
    import torch

    tensor = torch.from_numpy(image)
    return tensor.view(torch.bfloat16) if sent.bfloat16 else tensor, None if label is None else torch.from_numpy(label), sent.meta


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
