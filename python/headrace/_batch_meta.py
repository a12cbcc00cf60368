"""Where the samples of a batch come from."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core


class BatchMeta:
    """Facts about a batch, made when they are first asked for. Can be pickled; keeps no memory of the tensors."""

    epoch: int
    """Epoch of the batch."""
    index: int
    """Number of the batch in its epoch."""

    def __init__(self, made: _core.BatchMeta, run: dict[str, Any], batch_size: int) -> None:
        self._made, self._run, self._batch_size = made, run, batch_size
        self.epoch, self.index = made.epoch, made.number

    @cached_property
    def images(self) -> list[str]:
        """Id of each sample's image."""
        return self._made.images()

    @cached_property
    def places(self) -> npt.NDArray[np.float64]:
        """Centre of each sample: (sample, 2) in pixels of level 0, y then x; of volumes (sample, 3) in voxels, z, y, x."""
        return self._made.places()

    @cached_property
    def samples(self) -> npt.NDArray[np.int64]:
        """Number of each sample in its epoch, or of each tile in its split."""
        return self._made.samples()

    @cached_property
    def aims(self) -> npt.NDArray[np.int64]:
        """The class that each training sample was aimed at; -1: none."""
        return self._made.aims()

    def state_after(self) -> dict[str, Any]:
        """For `load_state_dict` of a loader or dataset: it goes on after this batch."""
        return {**self._run, "epoch": self.epoch, "sample": (self.index + 1) * self._batch_size}

    def __getstate__(self) -> dict[str, Any]:
        facts = {name: getattr(self, name) for name in ("images", "places", "samples", "aims")}
        return {**{key: value for key, value in self.__dict__.items() if key != "_made"}, **facts}

    def __repr__(self) -> str:
        return f"BatchMeta(epoch={self.epoch}, index={self.index}, images={self.images})"
