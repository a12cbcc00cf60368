"""Where a slide has tissue, and how much of each patch it covers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._image import Mask


class TissueShares:
    """Areas of tissue under rectangles, by the sums of a mask: constant time each."""

    def __init__(self, tissue: Mask) -> None:
        height, width = tissue.mask.shape
        self._downsample = tissue.downsample
        self._sums = np.zeros((height + 1, width + 1), np.float64)
        np.cumsum(np.cumsum(tissue.mask, 0, np.float64), 1, out=self._sums[1:, 1:])

    def of(self, y: NDArray[np.float64], x: NDArray[np.float64], height: float, width: float) -> NDArray[np.float64]:
        """The share of tissue, (n,) of 0 to 1, in rectangles that begin at (y, x) of level 0.

        height, width: in pixels of level 0. What lies outside the slide is no tissue.
        """
        covered = (
            self._sum_to(y + height, x + width) - self._sum_to(y, x + width) - self._sum_to(y + height, x) + self._sum_to(y, x)
        )
        return np.clip(covered * self._downsample**2 / (height * width), 0.0, 1.0)

    def _sum_to(self, y: NDArray[np.float64], x: NDArray[np.float64]) -> NDArray[np.float64]:
        """The tissue above and left of (y, x): linear between the sums, since a mask is constant within its pixels."""
        rows, columns = (size - 1 for size in self._sums.shape)
        v, u = np.clip(y / self._downsample, 0, rows), np.clip(x / self._downsample, 0, columns)
        i, j = np.minimum(v.astype(np.int64), rows - 1), np.minimum(u.astype(np.int64), columns - 1)
        v, u, s = v - i, u - j, self._sums
        above = s[i, j] * (1 - u) + s[i, j + 1] * u
        below = s[i + 1, j] * (1 - u) + s[i + 1, j + 1] * u
        sums: NDArray[np.float64] = above * (1 - v) + below * v
        return sums
