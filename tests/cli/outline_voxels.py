"""Which pixels an outline marks, computed by NumPy alone."""
import numpy as np


def inside(rings, shape):
    """Pixels of (y, x) whose centre is inside by the even-odd rule over all rings of [y, x]; the centre of the first is (0.5, 0.5)."""
    y, x = np.mgrid[:shape[0], :shape[1]] + 0.5
    odd = np.zeros(shape, bool)
    for ring in rings:
        for (y0, x0), (y1, x1) in zip(ring, ring[1:] + ring[:1]):
            if y0 == y1:
                continue
            crossed = (min(y0, y1) <= y) & (y < max(y0, y1))  # by a ray from the pixel to the left
            odd ^= crossed & (x0 + (y - y0) * (x1 - x0) / (y1 - y0) <= x)
    return odd
