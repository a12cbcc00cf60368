"""Stored voxels of DICOM series against pydicom's values and the files' own positions."""
import json
import pathlib

import numpy as np
import pydicom
import zarr


def voxels(store, image):
    return zarr.open_array(str(store), path=f"images/{image}/0", mode="r")[:]


def images(store):
    return sorted(path.name for path in (store / "images").iterdir() if path.is_dir())


def only(store):
    [image] = images(store)
    return image


def facts(store, image):
    return json.loads((store / f"images/{image}/zarr.json").read_text())["attributes"]["headrace"]


def labels(store, image):
    [group] = sorted(path.parent for path in (store / f"images/{image}/labels").glob("*/zarr.json"))
    return zarr.open_array(str(group), path="0", mode="r")[:]


def pictures(folder, wanted=lambda data: True):
    """CT slices of a folder by pydicom, each once, along z."""
    found = {}
    for path in sorted(pathlib.Path(folder).rglob("*")):
        if not path.is_file():
            continue
        try:
            data = pydicom.dcmread(path)
        except pydicom.errors.InvalidDicomError:
            continue
        if data.get("Modality") == "CT" and "ImagePositionPatient" in data and wanted(data):
            found[data.SOPInstanceUID, float(data.ImagePositionPatient[2])] = data
    return [data for _, data in sorted(found.items(), key=lambda one: one[0][1])]


def hounsfield(data):
    return np.rint(data.pixel_array * float(data.RescaleSlope) + float(data.RescaleIntercept))


def as_pydicom_reads(store, folder, wanted=lambda data: True):
    """Every slice at its place, unchanged."""
    expected = np.stack([hounsfield(data) for data in pictures(folder, wanted)])
    np.testing.assert_array_equal(voxels(store, only(store)), expected)


def as_stated(store, folder):
    """The values that the maker wrote down."""
    np.testing.assert_array_equal(voxels(store, only(store)), np.load(folder.parent / "expected.npy"))


def with_intercept_stated(store, folder):
    """Those of --rescale 1,-1024."""
    expected = np.stack([data.pixel_array.astype(int) - 1024 for data in pictures(folder)])
    np.testing.assert_array_equal(voxels(store, only(store)), expected)


def frames_as_stored(store, folder):
    [path] = sorted(folder.iterdir())
    np.testing.assert_array_equal(voxels(store, only(store)), pydicom.dcmread(path).pixel_array.astype(int) - 1024)


def frames_of_the_first(store, folder):
    """Of two reconstructions whose frames alternate, the second one first in every other place."""
    [path] = sorted(folder.iterdir())
    stored = pydicom.dcmread(path).pixel_array.astype(int) - 1024
    np.testing.assert_array_equal(voxels(store, only(store)), np.stack([stored[z] for z in range(len(stored)) if (z + z // 2) % 2 == 0]))


def only_the_ct(store, folder):
    as_pydicom_reads(store, folder / "ct")


def second_acquisition(store, folder):
    as_pydicom_reads(store, folder, lambda data: data.get("AcquisitionNumber") == 2 or data.get("AcquisitionTime", "").startswith("1011")
                     or data.get("TemporalPositionIdentifier") == 2)


def first_acquisition(store, folder):
    as_pydicom_reads(store, folder, lambda data: data.InstanceNumber <= 8)


def without_the_empty(store, folder):
    as_pydicom_reads(store, folder)


def source_slices(store, folder):
    """Slices of the finest grid: those that the source has are unchanged, the others lie between their neighbours."""
    image = only(store)
    found, own = voxels(store, image), pictures(folder)
    places = np.array([float(data.ImagePositionPatient[2]) for data in own])
    step = facts(store, image)["spacing_mm"][0]
    at = np.rint((places - places[0]) / step).astype(int)
    np.testing.assert_allclose(at * step, places - places[0], atol=0.12 * step)  # rounded places
    assert len(found) == at[-1] + 1
    for z, data in zip(at, own):
        np.testing.assert_array_equal(found[z], hounsfield(data))
    filled = sorted(set(range(len(found))) - set(at.tolist()))
    offsets = facts(store, image)["slices"]["offsets_mm"]
    assert [z for z, offset in enumerate(offsets) if offset is None] == filled and filled
    for z in filled:
        below, above = max(at[at < z]), min(at[at > z])
        weight = (z - below) / (above - below)
        between = found[below] * (1 - weight) + found[above] * weight
        np.testing.assert_allclose(found[z], between, atol=0.51)
    return at, filled


def filled_are_ignored(store, folder):
    """The square that is drawn on each slice of the source is there, and what was filled in is ignore."""
    at, filled = source_slices(store, folder)
    painted = labels(store, only(store))
    assert np.all(painted[filled] == 255)
    for z in at:
        expected = np.zeros(painted[z].shape, int)
        expected[8:13, 10:16] = 1
        np.testing.assert_array_equal(painted[z], expected)


def one_has_labels(store, folder, wanted):
    expected = np.stack([hounsfield(data) for data in pictures(folder, wanted)])
    [drawn] = [image for image in images(store) if np.array_equal(voxels(store, image), expected)]
    [other] = [image for image in images(store) if image != drawn]
    assert (labels(store, drawn) == 1).any()
    assert not list((store / "images" / other / "labels").glob("*/0"))


def second_has_labels(store, folder):
    one_has_labels(store, folder, lambda data: data.AcquisitionNumber == 2)


def series_1_has_labels(store, folder):
    one_has_labels(store, folder, lambda data: data.SeriesNumber == 1)


def two_images(store, folder):
    assert len(images(store)) == 2


def no_labels(store, folder):
    assert images(store) and not list((store / "images").glob("*/labels/*/0"))
