"""From the C++ part's views of a batch to the caller's arrays, without a copy."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any, Literal, get_args

import numpy as np

from . import _core

TensorKind = Literal["torch", "numpy", "dlpack"]


def tensor_kind(wanted: TensorKind | None, loader: dict[str, Any]) -> TensorKind:
    """`wanted`, or torch where it is installed, else numpy. `loader`: that section of the run config.

    Errors: UsageError (no such kind, or NumPy can't hold such batches); UnsupportedError (torch is not installed).
    """
    has_torch = importlib.util.find_spec("torch") is not None
    if wanted is None:
        wanted = "torch" if has_torch else "numpy"
    if wanted not in get_args(TensorKind):
        raise _core.UsageError(f"as_ is '{wanted}': expected {', '.join(get_args(TensorKind))}")
    if wanted == "torch" and not has_torch:
        raise _core.UnsupportedError("as_='torch' needs PyTorch, which is not installed: pip install torch, or use as_='numpy'")
    if wanted == "numpy" and loader["device"] == "cuda":
        raise _core.UsageError("NumPy has no arrays on a GPU: use as_='torch', or device='cpu'")
    if wanted == "numpy" and loader["element"] == "bfloat16":
        raise _core.UsageError("NumPy has no bfloat16: use as_='torch', or another loader.element")
    return wanted


def converter(kind: TensorKind) -> Callable[[Any], Any]:
    """From a view to an array of this kind."""
    if kind == "torch":
        from torch.utils.dlpack import from_dlpack

        return from_dlpack
    return np.asarray if kind == "numpy" else lambda view: view


def current_stream() -> int:
    """The CUDA stream of torch in which the caller works on this process's GPU; 0, the default one, without torch."""
    if importlib.util.find_spec("torch") is None:
        return 0
    import torch

    # torch has one for each GPU, and its current GPU need not be the loader's.
    return int(torch.cuda.current_stream(_core.process_device()).cuda_stream)


def device_name(device: Any) -> str:
    """auto, cpu or cuda, also of a torch.device. Errors: UsageError (a GPU that is not this process's)."""
    name, _, number = str(device).partition(":")
    own = str(_core.process_device()) if number and name == "cuda" else "0"
    if number and (name != "cuda" or number != own):
        raise _core.UsageError(f"device is '{device}': a process has one GPU, number LOCAL_RANK of those it sees, here {own}. "
                               "Give 'cuda' and set LOCAL_RANK")
    return name
