"""Dice, surface Dice, HD95 and lesions against DeepMind's surface-distance, MONAI and SciPy."""

import json
import os
import pathlib
import subprocess

import numpy as np
import pytest
import scipy.ndimage
import torch
from monai import metrics
from volume_tool import ROOT

# surface-distance 0.1 was written for NumPy 1: names that NumPy 2 dropped.
np.Inf, np.NaN = np.inf, np.nan
for name in ("filters", "morphology"):
    if not hasattr(scipy.ndimage, name):
        setattr(scipy.ndimage, name, scipy.ndimage)
import surface_distance  # noqa: E402

SPACINGS = [(1.0, 1.0, 1.0), (3.0, 0.7, 0.9), (5.0, 1.5, 1.5)]


def figures(folder, truth, predicted, spacing, tolerance=2.0, probability=None, classes=2):
    if probability is None:
        probability = predicted * 65535.0
    file = folder / "volume.bin"
    file.write_bytes(truth.astype(np.uint8).tobytes() + predicted.astype(np.uint8).tobytes() + probability.astype(np.uint16).tobytes())
    headrace = pathlib.Path(os.environ.get("HEADRACE", ROOT / "build" / "headrace"))
    tool = headrace.resolve().parent / "volume_figures_tool"
    assert tool.exists(), f"{tool} is missing: build the target volume_figures_tool, or set HEADRACE"
    done = subprocess.run([tool, file, *map(str, (*truth.shape, *spacing, tolerance, classes))], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def shapes(kind, seed):
    """A pair of masks: smooth blobs that differ, noise, thin walls, boxes at the border."""
    random = np.random.Generator(np.random.PCG64(seed))
    shape = tuple(random.integers(9, 34, 3))
    if kind == "blobs":
        field = scipy.ndimage.gaussian_filter(random.standard_normal(shape), 2.5)
        other = field + 0.4 * scipy.ndimage.gaussian_filter(random.standard_normal(shape), 2)
        return field > field.std(), other > other.std()
    if kind == "noise":
        return random.random(shape) < 0.2, random.random(shape) < 0.3
    z, y, x = np.indices(shape)
    if kind == "walls":
        return (x == shape[2] // 2) & (y > 2), (x == shape[2] // 2 + 2) & (z > 1)
    return (z < 4) & (y < 5), (z < 6) & (y < 4) & (x > 0)


@pytest.mark.parametrize("spacing", SPACINGS, ids=str)
@pytest.mark.parametrize("kind", ["blobs", "noise", "walls", "boxes"])
@pytest.mark.parametrize("seed", range(3))
def test_surfaces_as_surface_distance_measures_them(tmp_path, kind, seed, spacing):
    truth, predicted = shapes(kind, seed)
    theirs = surface_distance.compute_surface_distances(truth, predicted, spacing)
    for tolerance in (0.0, 0.9, 2.0, 3.0):
        ours = figures(tmp_path, truth, predicted, spacing, tolerance)
        expected = surface_distance.compute_surface_dice_at_tolerance(theirs, tolerance)
        assert ours["surface_dice"][1] == pytest.approx(expected, rel=1e-12)
    assert ours["hd95"][1] == pytest.approx(surface_distance.compute_robust_hausdorff(theirs, 95), rel=1e-12)
    assert ours["dice"][1] == pytest.approx(surface_distance.compute_dice_coefficient(truth, predicted), rel=1e-15)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("spacing", SPACINGS, ids=str)
def test_surfaces_and_dice_as_monai_measures_them(tmp_path, seed, spacing):
    truth, predicted = shapes("blobs", seed + 10)
    ours = figures(tmp_path, truth, predicted, spacing, 2.0)
    batch = [torch.from_numpy(np.stack([~mask, mask])[None].astype(np.float32)) for mask in (predicted, truth)]
    dice = metrics.compute_surface_dice(*batch, class_thresholds=[2.0], spacing=spacing, use_subvoxels=True)
    assert ours["surface_dice"][1] == pytest.approx(float(dice[0, 0]), rel=1e-5)
    both = metrics.compute_dice(*batch, include_background=True)[0]
    assert ours["dice"] == pytest.approx([float(v) for v in both], rel=1e-6)
    # MONAI takes voxels of the edge for the surface and counts each the same: HD95 agrees to a voxel.
    distance = float(metrics.compute_hausdorff_distance(*batch, percentile=95, spacing=spacing)[0, 0])
    assert abs(ours["hd95"][1] - distance) <= np.linalg.norm(spacing)


@pytest.mark.parametrize("seed", range(4))
def test_lesions_are_scipys_components(tmp_path, seed):
    random = np.random.Generator(np.random.PCG64(seed))
    field = scipy.ndimage.gaussian_filter(random.standard_normal((24, 40, 37)), 1.5)
    other = scipy.ndimage.gaussian_filter(random.standard_normal(field.shape), 1.5)
    probability = np.clip(0.5 + 2 * (field + 0.3 * other - 0.15), 0, 1)
    stored = np.round(probability * 65535)
    truth, predicted = field > 0.15, stored >= round(0.5 * 65535)
    ours = figures(tmp_path, truth, predicted, (1, 1, 1), probability=stored)
    true_ids, lesions = scipy.ndimage.label(truth, np.ones((3, 3, 3)))
    call_ids, calls = scipy.ndimage.label(predicted, np.ones((3, 3, 3)))
    sizes = scipy.ndimage.sum_labels(truth, true_ids, range(1, lesions + 1))
    centres = scipy.ndimage.center_of_mass(truth, true_ids, range(1, lesions + 1))
    assert [lesion[0] for lesion in ours["lesions"]] == sizes.tolist()
    np.testing.assert_allclose([lesion[1] for lesion in ours["lesions"]], np.array(centres) + 0.5, rtol=1e-12)
    scores = scipy.ndimage.maximum(stored, call_ids, range(1, calls + 1)) / 65535
    taken, expected = set(), []
    for k in sorted(range(calls), key=lambda k: -scores[k]):
        mine = call_ids == k + 1
        best = (0.0, 0)
        for lesion in sorted(set(np.unique(true_ids[mine])) - {0} - taken):
            overlap = (mine & (true_ids == lesion)).sum() / (mine | (true_ids == lesion)).sum()
            if overlap >= 0.1 and overlap > best[0]:
                best = (overlap, lesion)
        taken |= {best[1]} - {0}
        expected.append([int(mine.sum()), scores[k], best[1] > 0, best[0]])
    assert len(ours["calls"]) == calls > 3 and any(call[2] for call in expected)
    for mine, theirs in zip(ours["calls"], expected):
        assert mine == pytest.approx(theirs, rel=1e-12)
