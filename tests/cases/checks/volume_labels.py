"""Label images of volumes against what their maker put down, by hand."""
import numpy as np
import zarr
from driving import label_group, version_of


def stored_labels(store, image):
    return zarr.open_array(str(store), path=f"{label_group(store, image)}/0", mode="r")[:]


def _first_is(store, path):
    np.testing.assert_array_equal(stored_labels(store, sorted(version_of(store)["images"])[0]), np.load(path))


def as_expected(store, folder):
    """The labels of the first image."""
    _first_is(store, folder / "expected.npy")


def union(store, folder):
    _first_is(store, folder / "union.npy")


def each_as_expected(store, folder):
    for image in sorted(version_of(store)["images"]):
        np.testing.assert_array_equal(stored_labels(store, image), np.load(folder / f"expected-{image}.npy"))


def numbered(store, folder):
    """image-0001, image-0002, … have the labels of the files in their order."""
    images = sorted(version_of(store)["images"])
    assert images == [f"image-{number + 1:04}" for number in range(len(images))]
    for number, image in enumerate(images):
        np.testing.assert_array_equal(stored_labels(store, image), np.load(folder / f"expected-{number}.npy"))


def by_folders(store, folder):
    """P1, P2, … have the labels of the files in their order."""
    images = sorted(version_of(store)["images"])
    assert images == [f"P{number + 1}" for number in range(len(images))]
    for number, image in enumerate(images):
        np.testing.assert_array_equal(stored_labels(store, image), np.load(folder / f"expected-{number}.npy"))


def unchanged(store, folder):
    """The first image keeps the right labels that it had."""
    images = sorted(version_of(store)["images"])
    np.testing.assert_array_equal(stored_labels(store, images[0]), np.load(folder / "expected.npy"))
