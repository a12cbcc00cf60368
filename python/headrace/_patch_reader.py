"""Pixels of patches of several slides, at the wanted pixel size, and as a network takes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from . import _core
from ._core import UsageError

if TYPE_CHECKING:
    from ._tile_stream import Planned

_WINDOW_BYTES = 256 << 20  # that are read at a time to be made smaller

Transform = Callable[[torch.Tensor], Any]


class Run(NamedTuple):
    """Successive patches of one slide."""

    slide: Planned
    first: int
    length: int


class PatchReader:
    """Reads patches. The memory of each result goes back to a pool when its last reference dies, so nobody sees it change."""

    def __init__(
        self,
        patch: int,
        mean: tuple[float, float, float],
        std: tuple[float, float, float],
        transform: Transform | None,
        pinned: bool,
        threads: int,
    ) -> None:
        self._patch, self._transform, self._pinned, self._threads = patch, transform, pinned, threads
        values = np.arange(256, dtype=np.float32) / np.float32(255)
        self._table = np.stack([(values - np.float32(m)) / np.float32(s) for m, s in zip(mean, std)])

    def pixels(self, runs: list[Run], batch: int, stopped: Callable[[], bool]) -> NDArray[np.uint8]:
        """(batch, y, x, 3) uint8, RGB; white outside of a slide, and zeros beyond the runs. Errors: those of reading.

        stopped: whether nobody waits for the result any more, which then may have any values.
        """
        pixels = _core.new_patches(batch, self._patch, self._patch)
        used = sum(run.length for run in runs)
        self._read([run for run in runs if run.slide.grid.exact], runs, pixels)
        for run in runs:
            if not run.slide.grid.exact:
                self._resample(run, pixels[_at(run, runs) :][: run.length], stopped)
        pixels[used:] = 0
        return pixels

    def _read(self, exact: list[Run], runs: list[Run], pixels: NDArray[np.uint8]) -> None:
        """Runs without resampling, of all slides in one call where they follow each other."""
        if not exact:
            return
        if exact == runs:
            _read_windows(runs, pixels[: sum(run.length for run in runs)], self._threads)
            return
        for run in exact:
            _read_windows([run], pixels[_at(run, runs) :][: run.length], self._threads)

    def _resample(self, run: Run, out: NDArray[np.uint8], stopped: Callable[[], bool]) -> None:
        grid = run.slide.grid
        at_a_time = max(1, _WINDOW_BYTES // (3 * grid.window[0] * grid.window[1]))
        for at in range(0, run.length, at_a_time):
            if stopped():
                return
            part = Run(run.slide, run.first + at, min(at_a_time, run.length - at))
            windows = _core.new_patches(part.length, *grid.window)
            _read_windows([part], windows, self._threads)
            offsets = np.ascontiguousarray(grid.offsets[part.first :][: part.length])
            _core.resample_patches(windows, offsets, grid.scale, out[at : at + part.length], self._threads)

    def network_input(self, pixels: NDArray[np.uint8], used: int) -> Any:
        """The tensor that the encoder gets: float32 (batch, 3, y, x), zeros beyond `used`; or what the transform makes.

        Errors: UsageError (the transform's result is no batch), those of the transform.
        """
        if self._transform is not None:
            with torch.no_grad():
                made = self._transform(torch.from_numpy(pixels).permute(0, 3, 1, 2))
            if not isinstance(made, torch.Tensor) or made.ndim == 0 or len(made) != len(pixels):
                found = f"{made.dtype} {tuple(made.shape)}" if isinstance(made, torch.Tensor) else type(made).__name__
                raise UsageError(f"transform made {found} of {len(pixels)} patches: expected a tensor of as many")
            return made.pin_memory() if self._pinned and made.device.type == "cpu" else made
        shape = (len(pixels), 3, self._patch, self._patch)
        tensor = torch.empty(shape, device="cpu", pin_memory=True) if self._pinned else torch.from_numpy(_core.lent_float32(shape))
        _core.look_up_patches(pixels[:used], self._table, tensor.numpy(), self._threads)
        tensor[used:] = 0
        return tensor


def _at(run: Run, runs: list[Run]) -> int:
    """Where its patches begin in the batch."""
    return sum(one.length for one in runs[: runs.index(run)])


def _read_windows(runs: list[Run], out: NDArray[np.uint8], threads: int) -> None:
    places = np.empty((len(out), 4), np.int64)
    at = 0
    for number, run in enumerate(runs):
        rows = places[at : at + run.length]
        rows[:, 0], rows[:, 3] = number, run.slide.grid.level
        rows[:, 1:3] = run.slide.grid.places[run.first :][: run.length]
        at += run.length
    _core.read_patches([run.slide.slide for run in runs], places, out, threads)
