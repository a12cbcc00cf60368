"""Stored labels against the square of makers/annotations.py, read with zarr-python."""
import numpy as np
import zarr
from driving import label_group, version_of

HEIGHT, WIDTH = 300, 400


def labels_of(store, image="case1", labels="annotation"):
    return zarr.open_array(str(store / label_group(store, image, labels) / "0"), mode="r")[:]


def square(inside=1, outside=0):
    expected = np.full((HEIGHT, WIDTH), outside, np.uint8)
    expected[50:150, 60:200] = inside
    return expected


def is_square(store, _folder):
    np.testing.assert_array_equal(labels_of(store), square())


def is_square_of_2(store, _folder):
    np.testing.assert_array_equal(labels_of(store), square(2))


def is_square_in_ignore(store, _folder):
    np.testing.assert_array_equal(labels_of(store), square(1, 255))


def is_square_of_scan(store, _folder):
    """The square of a scan that lies at x 100, y 200 of a canvas of 1024 x 768."""
    expected = np.zeros((768, 1024), np.uint8)
    expected[250:350, 160:300] = 1
    np.testing.assert_array_equal(labels_of(store), expected)


def is_empty(store, _folder):
    assert not labels_of(store).any()


def is_square_with_bottom_of_2(store, _folder):
    expected = square()
    expected[-20:] = 2
    np.testing.assert_array_equal(labels_of(store), expected)


def is_square_but_last_row(store, _folder):
    expected = square()
    expected[299:] = 255
    np.testing.assert_array_equal(labels_of(store), expected)


def is_third(store, _folder):
    np.testing.assert_array_equal(labels_of(store), third())


def is_third_but_last_column(store, _folder):
    expected = third()
    expected[:, 399:] = 255
    np.testing.assert_array_equal(labels_of(store), expected)


def third():
    return np.repeat(np.repeat(square()[::3, ::3], 3, 0), 3, 1)[:HEIGHT, :WIDTH]


def is_half(store, _folder):
    np.testing.assert_array_equal(labels_of(store), np.repeat(np.repeat(square()[::2, ::2], 2, 0), 2, 1))


def columns_of(store, image):
    return version_of(store)["images"][image]["columns"]


def two_patients(store, _folder):
    """Whatever wrote the table."""
    assert columns_of(store, "S1")["case"] == "P1" and columns_of(store, "S1")["split"] == "train"
    assert columns_of(store, "S2")["case"] == "P2" and columns_of(store, "S2")["split"] == "val"


def grades_of_pandas(store, _folder):
    first, second = columns_of(store, "S1"), columns_of(store, "S2")
    assert (first["primary"], first["secondary"], first["grade_group"], first["negative"]) == (3, 4, 2, 0)
    assert "primary" not in second or second["primary"] is None
