"""Arrays of a batch on their way into the C++ part and back."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._core import UnsupportedError, UsageError

_HOST = (1, 3, 11, 13)  # DLPack's numbers of memory that the CPU reads: plain, pinned (CUDA, ROCm), managed


def is_torch(value: object) -> bool:
    """Whether it is a tensor of Torch, which is not imported for this."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def as_numpy(value: Any, name: str) -> NDArray[Any]:
    """An array of any library as one of NumPy, in the same memory. Errors: UnsupportedError (on a GPU), UsageError."""
    if isinstance(value, np.ndarray):
        return value
    if is_torch(value):
        if value.device.type != "cpu":
            raise UnsupportedError(f"{name}: on device {value.device}, and this works on the CPU alone; give .cpu()")
        try:
            array: NDArray[Any] = value.detach().numpy()
        except TypeError:  # bfloat16, for example, as autocast gives it
            raise UsageError(f"{name}: NumPy has no {value.dtype}; give .float()") from None
        return array
    if hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__"):
        if value.__dlpack_device__()[0] not in _HOST:
            raise UnsupportedError(f"{name}: on a GPU, and this works on the CPU alone; copy it to the CPU first")
        return np.from_dlpack(value)
    if hasattr(value, "__array__"):
        return np.asarray(value)
    raise UsageError(f"{name}: expected a NumPy array or a tensor, found {type(value).__name__}")


def samples_of(value: Any, name: str, shape: str, axes: tuple[int, ...]) -> list[NDArray[Any]]:
    """The arrays of a batch, one for each sample. axes: those that one may have; shape: as errors have it."""
    if isinstance(value, (list, tuple)):
        return [as_numpy(one, f"{name}[{i}]") for i, one in enumerate(value)]
    batch = as_numpy(value, name)
    if batch.ndim - 1 not in axes:
        found = described(batch)
        hint = f"; for one alone give {name}[None]" if batch.ndim in axes else ""
        raise UsageError(f"{name}: expected a batch (n, {shape}), or a list of ({shape}), found {found}{hint}")
    return list(batch)


def described(array: NDArray[Any]) -> str:
    return f"({', '.join(map(str, array.shape))}) {array.dtype}"


def as_pixels(array: NDArray[Any], name: str) -> NDArray[np.uint8]:
    """An RGB image whose rows are without gaps."""
    if array.ndim != 3 or array.shape[2] != 3 or array.dtype != np.uint8:
        hint = ""
        if array.ndim == 3 and array.shape[0] == 3 != array.shape[2]:
            hint = "; colours come last: move axis 0 to the end"
        elif array.dtype != np.uint8:
            hint = "; give the bytes 0 to 255 as they were read, before anything scales them"
        raise UsageError(f"{name}: expected (height, width, 3) uint8, found {described(array)}{hint}")
    _check_not_empty(array, name)
    return _tight(array, 2)


def as_labels(array: NDArray[Any], name: str, shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """Label values of an image of this shape."""
    if array.shape != shape:
        raise UsageError(f"{name}: expected the image's {shape}, found {described(array)}")
    if array.dtype == np.bool_:
        return _tight(array.view(np.uint8), 1)
    if array.dtype == np.uint8:
        return _tight(array, 1)
    if array.dtype.kind not in "iu":
        raise UsageError(f"{name}: expected whole numbers (uint8), found {array.dtype}")
    if array.size and (array.min() < 0 or array.max() > 255):
        raise UsageError(
            f"{name}: expected values of 0 to 255, found {array.min()} to {array.max()}; 255 is for what is not annotated"
        )
    return array.astype(np.uint8)


def as_stored(array: NDArray[Any], name: str) -> NDArray[np.int16]:
    """A volume (z, y, x) or (c, z, y, x) as (c, z, y, x) of stored values. Other types are taken where they hold just these."""
    if array.ndim not in (3, 4):
        raise UsageError(f"{name}: expected (depth, height, width) or (channels, depth, height, width), found {described(array)}")
    _check_not_empty(array, name)
    if array.ndim == 3:
        array = array[None]
    if array.dtype == np.int16:
        return _tight(array, 1)
    if array.dtype.kind not in "iuf" or array.dtype.itemsize > 8:
        raise UsageError(f"{name}: expected int16, found {array.dtype}")
    if array.dtype.kind in "iu" and array.dtype.itemsize == 1:
        return array.astype(np.int16)
    expected = "whole HU (hundredths of SUV) of -32768 to 32767, as int16; round them: numpy.rint(volume).astype(numpy.int16)"
    return exactly_int16(array, name, expected)


def exactly_int16(array: NDArray[Any], name: str, expected: str) -> NDArray[np.int16]:
    """Numbers of another type that are all values of int16, too. Errors: UsageError, with one that is not; `expected` is for its end."""
    with np.errstate(invalid="ignore"):
        values = array.astype(np.int16)
    wrong = values != array
    if wrong.any():
        raise UsageError(f"{name}: {array.dtype} with the value {array[wrong][0]}: expected {expected}")
    return values


def _check_not_empty(array: NDArray[Any], name: str) -> None:
    if array.size == 0:
        raise UsageError(f"{name}: {described(array)} is empty")


def _tight(array: NDArray[Any], axes: int) -> NDArray[Any]:
    """The array itself where its last `axes` axes have no gaps and the others step forward past them; else a copy."""
    outer = array.ndim - axes
    inner = array[(0,) * outer]
    forward = all(stride >= inner.nbytes and stride % array.itemsize == 0 for stride in array.strides[:outer])
    return array if forward and inner.flags.c_contiguous else np.ascontiguousarray(array)


def checked_output(given: Any, name: str, shape: Sequence[int], dtype: type[np.generic]) -> NDArray[Any]:
    """The array that the caller gave to write to."""
    array = as_numpy(given, name)
    if array.shape != tuple(shape) or array.dtype != dtype:
        raise UsageError(f"{name}: expected {tuple(shape)} {np.dtype(dtype)}, found {described(array)}")
    if not array.flags.c_contiguous or not array.flags.writeable:
        raise UsageError(f"{name}: expected an array that can be written to and has no gaps; give the whole of one, or leave it out")
    return array


def to_torch(array: NDArray[Any]) -> Any:
    """A tensor in the same memory."""
    import torch

    return torch.from_numpy(array)
