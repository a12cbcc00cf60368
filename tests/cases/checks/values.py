"""What is stored of volumes with lost scales."""
import numpy as np
import zarr


def hu_again(store, folder):
    """The HU that the file was made of, within the steps of its scale."""
    _hu_within(store, folder, -1000, 1000, 0.5)


def exactly_hu(store, folder):
    _hu_within(store, folder, -1024, 3071, 0)


def window_again(store, folder):
    _hu_within(store, folder, -160, 240, 1)


def _hu_within(store, folder, low, high, most):
    stored = zarr.open_array(str(store), path="images/case/0", mode="r")[:].astype(float)
    expected = np.clip(np.load(folder / "hu.npy"), low, high)
    assert np.abs(stored - expected).max() <= most
