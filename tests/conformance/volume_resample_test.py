"""Patches of a real CT through the 3-D transform, against SimpleITK's linear resampling of the same region.

Tolerances: float32 coordinates err by some 1e-5 of a voxel, of neighbours up to 2,000 HU apart, and SimpleITK's own
float output rounds too: 0.1 HU. SimpleITK fills outside the image; there only what both read from inside is compared."""

import json

import numpy as np
import pytest
import SimpleITK as sitk
from ct_inputs import STS
from driving import run_tool

TOLERANCE_HU = 0.1


@pytest.fixture(scope="module")
def ct():
    reader = sitk.ImageSeriesReader()
    reader.SetFileNames(reader.GetGDCMSeriesFileNames(str(STS)))
    image = sitk.Cast(reader.Execute(), sitk.sitkInt16)
    image.SetOrigin((0, 0, 0))
    image.SetDirection(np.eye(3).ravel())
    return image


def ours(ct, folder, size, spacing, centre, transforms=()):
    """A patch and what it drew. Axes are z, y, x; centre in voxels, the first voxel's centre at 0.5."""
    voxels = sitk.GetArrayFromImage(ct)
    voxels.tofile(folder / "voxels.raw")
    run = {"level_spacing_mm": ct.GetSpacing()[::-1], "size": size, "spacing_mm": spacing, "centre": centre, "transforms": list(transforms)}
    done = run_tool("volume_patch_tool", folder / "voxels.raw", *voxels.shape, folder / "out.raw", given=json.dumps(run))
    return np.fromfile(folder / "out.raw", np.float32).reshape(size), json.loads(done.stdout)


def theirs(ct, size, spacing, centre, matrix=None, image=None):
    """SimpleITK's, NaN where it has no voxels. `matrix`: output offset (x, y, z) in mm to source offset."""
    outside = 1e6
    middle = [(c - 0.5) * s for c, s in zip(centre[::-1], ct.GetSpacing())]
    origin = [m - (n - 1) / 2 * s for m, n, s in zip(middle, size[::-1], spacing[::-1])]
    transform = sitk.AffineTransform(3)
    transform.SetCenter(middle)
    if matrix is not None:
        transform.SetMatrix(np.asarray(matrix).ravel())
    result = sitk.Resample(image or ct, size[::-1], transform, sitk.sitkLinear, origin, spacing[::-1], np.eye(3).ravel(), outside, sitk.sitkFloat64)
    array = sitk.GetArrayFromImage(result)
    array[array > 4e4] = np.nan
    return array


def centre_of(ct):
    return [n / 2 + 0.3 for n in ct.GetSize()[::-1]]


@pytest.mark.parametrize("spacing", [(1.1, 0.9, 1.3), (2.0, 1.4, 1.2)])
def test_a_resampled_patch_is_simpleitks(ct, tmp_path, spacing):
    spacing = [min(s, 1.5 * level) for s, level in zip(spacing, ct.GetSpacing()[::-1])]  # no smoothing
    size = (40, 64, 72)
    patch, _ = ours(ct, tmp_path, size, spacing, centre_of(ct))
    expected = theirs(ct, size, spacing, centre_of(ct))
    inside = ~np.isnan(expected)
    assert inside.mean() > 0.5 and expected[inside].std() > 50
    assert np.abs(patch - expected)[inside].max() < TOLERANCE_HU


def test_a_turned_and_enlarged_patch_is_simpleitks(ct, tmp_path):
    size, spacing = (24, 48, 56), [min(1.2, 1.2 * s) for s in ct.GetSpacing()[::-1]]
    affine = {"affine": {"rotate_deg": [-30, 30], "scale": [1.05, 1.3], "flip": True}}
    patch, drew = ours(ct, tmp_path, size, spacing, centre_of(ct), [affine])
    v = drew[0]["affine"]
    turns = [np.eye(3), np.eye(3), np.eye(3)]  # of (z, y, x), about z, y and x
    for turn, name, a, b in zip(turns, "zyx", (1, 2, 0), (2, 0, 1)):
        angle = np.deg2rad(v[f"rotate_{name}_deg"])
        turn[a, a] = turn[b, b] = np.cos(angle)
        turn[a, b], turn[b, a] = np.sin(angle), -np.sin(angle)
    flips = [-1 if v[f"flip_{name}"] else 1 for name in "zyx"]
    matrix = turns[0] @ turns[1] @ turns[2] @ np.diag(flips) / v["scale"]
    expected = theirs(ct, size, spacing, centre_of(ct), matrix[::-1, ::-1])
    inside = ~np.isnan(expected)
    assert inside.mean() > 0.5 and abs(v["rotate_z_deg"]) > 1
    assert np.abs(patch - expected)[inside].max() < TOLERANCE_HU


def test_a_reduced_patch_is_smoothed_first(ct, tmp_path):
    """Against scipy's Gaussian, then SimpleITK: sigma (reduction - 1) / 2, cut at 4 sigma."""
    level = ct.GetSpacing()[::-1]
    spacing, size = [level[0], 2.2 * level[1], 3 * level[2]], (16, 40, 30)
    patch, _ = ours(ct, tmp_path, size, spacing, centre_of(ct))
    array = sitk.GetArrayFromImage(ct).astype(float)
    from scipy.ndimage import gaussian_filter1d

    for axis, reduction in ((1, 2.2), (2, 3.0)):
        array = gaussian_filter1d(array, (reduction - 1) / 2, axis=axis, mode="nearest", truncate=4)
    smooth = sitk.GetImageFromArray(array)
    smooth.SetSpacing(ct.GetSpacing())
    expected = theirs(ct, size, spacing, centre_of(ct), image=smooth)
    inside = ~np.isnan(expected)
    assert inside.mean() > 0.5
    assert np.abs(patch - expected)[inside].max() < 1.2  # whole HU after each of two axes, weights of 1/32768
