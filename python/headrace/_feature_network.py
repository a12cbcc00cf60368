"""A network as it computes features: in eval mode, without gradients, on its device; afterwards as it was."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ._core import DeviceError, UsageError

Encoder = Callable[[torch.Tensor], Any]


def network_sha256(encoder: Any) -> str | None:
    """Of names, types, shapes and bytes of all parameters and buffers; None of what has none that are known of."""
    if not isinstance(encoder, torch.nn.Module):
        return None
    digest = hashlib.sha256()
    for name, value in sorted([*encoder.named_parameters(), *encoder.named_buffers()], key=lambda one: one[0]):
        held = value.detach().cpu().contiguous()
        digest.update(f"{name} {held.dtype} {tuple(held.shape)}\n".encode())
        digest.update(held.reshape(-1).view(torch.uint8).numpy().tobytes() if held.numel() else b"")
    return digest.hexdigest()


def autocast_type(value: Any) -> torch.dtype | None:
    """torch.bfloat16, torch.float16, or their names; None: float32. Errors: UsageError."""
    known = {"bfloat16": torch.bfloat16, "float16": torch.float16}
    if value is None:
        return None
    for name, kind in known.items():
        if value in (name, kind):
            return kind
    raise UsageError(f"autocast is {value!r}: expected 'bfloat16', 'float16' or None")


def _homes(encoder: Any) -> list[torch.device]:
    """Where its parameters and buffers are; first where its first one is, which is where a module on several devices gets its input."""
    if not isinstance(encoder, torch.nn.Module):
        return []
    return list(dict.fromkeys(value.device for value in [*encoder.parameters(), *encoder.buffers()]))


def _device(wanted: Any, homes: list[torch.device]) -> torch.device:
    """`wanted`; None: where the encoder is, else the CPU. Errors: UsageError (another kind), DeviceError (no such GPU)."""
    try:
        device = torch.device(wanted) if wanted is not None else [*homes, torch.device("cpu")][0]
    except (RuntimeError, TypeError):
        device = torch.device("meta")
    if device.type not in ("cpu", "cuda"):
        raise UsageError(f"device is {wanted!r}: expected 'cpu' or 'cuda', or an encoder that is on one of them")
    if device.type == "cuda" and not torch.cuda.is_available():
        raise DeviceError(f"device is '{device}', and this PyTorch finds no GPU: give device='cpu'")
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise DeviceError(f"device is '{device}', and this PyTorch finds {torch.cuda.device_count()} GPUs, which count from 0")
    return torch.device("cuda", torch.cuda.current_device()) if str(device) == "cuda" else device


class Features:
    """Features of a batch that may still be on their way from the GPU: a copy, since an encoder may give the same memory each time."""

    def __init__(self, values: torch.Tensor) -> None:
        on_gpu = values.device.type == "cuda"
        self._values = torch.empty(values.shape, dtype=values.dtype, device="cpu", pin_memory=on_gpu)
        self._values.copy_(values, non_blocking=on_gpu)
        self._done: torch.cuda.Event | None = None
        if on_gpu:
            self._done = torch.cuda.Event()  # type: ignore[no-untyped-call]
            # The stream that copies is of the GPU that has the values, which need not be the current one.
            self._done.record(torch.cuda.current_stream(values.device))

    def values(self) -> NDArray[np.float32]:
        """(n, d) float32."""
        if self._done is not None:
            self._done.synchronize()
        array: NDArray[np.float32] = self._values.numpy()
        return array


class FeatureNetwork:
    """An encoder from (n, 3, y, x) to (n, d)."""

    def __init__(self, encoder: Encoder, device: Any, autocast: torch.dtype | None) -> None:
        if not callable(encoder):
            raise UsageError(f"encoder is {encoder!r}: expected a torch.nn.Module or a function from (n, 3, y, x) to (n, d)")
        self._encoder, self._autocast = encoder, autocast
        self.device = _device(device, _homes(encoder))

    @contextmanager
    def ready(self) -> Iterator[None]:
        """While it lasts the module is on the device, in eval mode and without gradients; each part is put back as it was."""
        if not isinstance(self._encoder, torch.nn.Module):
            with torch.inference_mode():
                yield
            return
        module = self._encoder
        training = [part for part in module.modules() if part.training]
        homes = _homes(module)
        moved = len(homes) == 1 and homes[0] != self.device
        module.eval()
        try:
            if moved:
                module.to(self.device)
            with torch.inference_mode():
                yield
        finally:
            if moved:
                module.to(homes[0])
            for part in training:
                part.training = True

    def __call__(self, patches: torch.Tensor) -> Features:
        """(n, 3, y, x) on the CPU to (n, d). Errors: UsageError (what comes out is not (n, d)), those of the encoder."""
        given = patches.to(self.device, non_blocking=True)
        with torch.autocast(self.device.type, self._autocast, enabled=self._autocast is not None):
            made = self._encoder(given)
        if not isinstance(made, torch.Tensor) or made.ndim != 2 or len(made) != len(patches) or not made.is_floating_point():
            found = f"{made.dtype} {tuple(made.shape)}" if isinstance(made, torch.Tensor) else type(made).__name__
            raise UsageError(
                f"the encoder made {found} of {len(patches)} patches: expected a float tensor ({len(patches)}, features); "
                "pool and flatten what it gives"
            )
        return Features(made.detach().float())
