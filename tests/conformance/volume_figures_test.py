"""Dice, surface Dice, HD95 and lesions against DeepMind's surface-distance, MONAI and SciPy."""

import json

import numpy as np
import pytest
import scipy.ndimage
import skimage.transform
import torch
from driving import run_tool
from monai import metrics
from sklearn.metrics import roc_auc_score

# surface-distance 0.1 was written for NumPy 1: names that NumPy 2 dropped.
np.Inf, np.NaN = np.inf, np.nan
for name in ("filters", "morphology"):
    if not hasattr(scipy.ndimage, name):
        setattr(scipy.ndimage, name, scipy.ndimage)
import surface_distance  # noqa: E402

SPACINGS = [(1.0, 1.0, 1.0), (3.0, 0.7, 0.9), (5.0, 1.5, 1.5)]


def tool(name, *arguments):
    return run_tool(name, *arguments, text=False).stdout


def group_of(folder, cases, spacing=(1, 1, 1), tolerance=2.0, classes=2):
    """Of cases of one volume each: (truth, prediction, lesion probability in steps of 1/65535)."""
    files = []
    for truth, predicted, probability in cases:
        files.append(folder / f"volume-{len(files)}.bin")
        files[-1].write_bytes(truth.astype(np.uint8).tobytes() + predicted.astype(np.uint8).tobytes() + probability.astype(np.uint16).tobytes())
    return json.loads(tool("volume_figures_tool", *cases[0][0].shape, *spacing, tolerance, classes, *files))


def figures(folder, truth, predicted, spacing, tolerance=2.0, probability=None, classes=2):
    if probability is None:
        probability = predicted * 65535.0
    return group_of(folder, [(truth, predicted, probability)], spacing, tolerance, classes)["volumes"][0]


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


def smooth(random, shape, sigma=1.5):
    return scipy.ndimage.gaussian_filter(random.standard_normal(shape), sigma)


def calls_of(stored, least=0.1):
    """By their definition: of each score s the components at 0.4·s in which nothing is higher."""
    out = []
    for score in np.unique(stored[stored >= round(least * 65535)])[::-1]:
        ids, count = scipy.ndimage.label(5 * stored.astype(np.int64) >= 2 * int(score), np.ones((3, 3, 3)))
        highest = scipy.ndimage.maximum(stored, ids, range(1, count + 1))
        out += [(int(score), ids == k + 1) for k in range(count) if highest[k] == score]
    return out


def matched(calls, truth):
    """Each call takes the lesion it overlaps most of those not yet taken: (voxels, score, hit, overlap)."""
    ids, _ = scipy.ndimage.label(truth, np.ones((3, 3, 3)))
    taken, out = set(), []
    for score, mine in calls:
        best = (0.0, 0)
        for lesion in sorted(set(np.unique(ids[mine])) - {0} - taken):
            overlap = (mine & (ids == lesion)).sum() / (mine | (ids == lesion)).sum()
            if overlap >= 0.1 and overlap > best[0]:
                best = (overlap, lesion)
        taken |= {best[1]} - {0}
        out.append([int(mine.sum()), score / 65535, best[1] > 0, best[0]])
    return out


@pytest.mark.parametrize("seed", range(4))
def test_lesions_are_scipys_components(tmp_path, seed):
    random = np.random.Generator(np.random.PCG64(seed))
    field = smooth(random, (16, 26, 27))
    probability = np.clip(3 * (field + 0.3 * smooth(random, field.shape)) - 0.1, 0, 1)
    stored = np.round(probability * 50) * 1310  # few scores, and many ties
    truth = field > 0.1
    ours = figures(tmp_path, truth, stored >= 0.5 * 65535, (1, 1, 1), probability=stored)
    true_ids, lesions = scipy.ndimage.label(truth, np.ones((3, 3, 3)))
    sizes = scipy.ndimage.sum_labels(truth, true_ids, range(1, lesions + 1))
    centres = scipy.ndimage.center_of_mass(truth, true_ids, range(1, lesions + 1))
    assert [lesion[0] for lesion in ours["lesions"]] == sizes.tolist()
    np.testing.assert_allclose([lesion[1] for lesion in ours["lesions"]], np.array(centres) + 0.5, rtol=1e-12)
    calls = calls_of(stored)
    assert sorted((call[1], call[0]) for call in ours["calls"]) == sorted((score / 65535, int(mine.sum())) for score, mine in calls)
    # Equal scores stand in the order of their first highest voxel.
    calls.sort(key=lambda call: (-call[0], np.flatnonzero(call[1] & (stored == call[0]))[0]))
    expected = matched(calls, truth)
    assert len(calls) > 3 and any(call[2] for call in expected)
    for mine, theirs in zip(ours["calls"], expected, strict=True):
        assert mine == pytest.approx(theirs, rel=1e-12)


def froc(scans):
    """Plain FROC: of each threshold false positives a scan and the share of lesions hit."""
    calls = [call for calls, _ in scans for call in calls]
    lesions = sum(count for _, count in scans)
    points = []
    for threshold in sorted({score for score, _ in calls}, reverse=True):
        above = [hit for score, hit in calls if score >= threshold]
        points.append((above.count(False) / len(scans), above.count(True) / lesions if lesions else 0.0, threshold))
    return points


@pytest.mark.parametrize("seed", range(6))
def test_froc_and_cases_over_scans_with_and_without_lesions(tmp_path, seed):
    random = np.random.Generator(np.random.PCG64(100 + seed))
    shape, cases = (10, 14, 15), []
    for k in range(7):
        truth = smooth(random, shape) > (0.15 if (k + seed) % 3 else 9.0)
        probability = np.clip(3 * smooth(random, shape) - 0.1 + 0.4 * truth * random.random(), 0, 1) if k != 5 else np.zeros(shape)
        cases.append((truth, probability > 0.5, np.round(probability * 40) * 1638))
    found = group_of(tmp_path, cases)
    lesion = found["group"]["lesion"]
    scans, expected_calls = [], []
    for (truth, _, stored), volume in zip(cases, found["volumes"], strict=True):
        _, count = scipy.ndimage.label(truth, np.ones((3, 3, 3)))
        calls = matched(sorted(calls_of(stored), key=lambda c: (-c[0], np.flatnonzero(c[1] & (stored == c[0]))[0])), truth)
        expected_calls.append(calls)
        assert len(volume["calls"]) == len(calls)
        scans.append(([(call[1], call[2]) for call in calls], count))
    points = froc(scans)
    assert len(points) > 10
    assert lesion["curve"] == [pytest.approx(point, rel=1e-12) for point in points]
    at = {rate: max((hits for wrong, hits, _ in points if wrong <= rate), default=0.0) for rate in (0.125, 0.25, 0.5, 1, 2, 4, 8)}
    for rate, sensitivity in at.items():
        assert lesion[f"sensitivity_at_{rate:g}"] == pytest.approx(sensitivity, rel=1e-12)
    assert lesion["froc"] == pytest.approx(sum(at.values()) / 7, rel=1e-12)
    above = [hit for calls, _ in scans for score, hit in calls if score >= 0.5]
    assert (lesion["calls"], lesion["hits"]) == (len(above), above.count(True))
    positive = [count > 0 for _, count in scans]
    highest = [max((score for score, _ in calls), default=0.0) for calls, _ in scans]
    assert lesion["case"]["auc"] == pytest.approx(roc_auc_score(positive, highest), rel=1e-12)
    assert lesion["case"]["positive"] == sum(positive)


@pytest.mark.parametrize("truth, said", [(0, 0), (0, 1), (1, 0), (1, 1)], ids=["absent", "invented", "missed", "found"])
def test_empty_sides_as_the_others_see_them(tmp_path, truth, said):
    masks = [np.zeros((6, 8, 9), bool) for _ in range(2)]
    for mask, there in zip(masks, (truth, said), strict=True):
        mask[2:4, 2:5, 3:6] = bool(there)
    spacing = (2.0, 1.0, 1.5)
    ours = figures(tmp_path, masks[0], masks[1], spacing)
    batch = [torch.from_numpy(np.stack([~mask, mask])[None].astype(np.float32)) for mask in (masks[1], masks[0])]
    dice = float(metrics.compute_dice(*batch, include_background=False, ignore_empty=True)[0, 0])
    theirs = surface_distance.compute_surface_distances(*masks, spacing)
    hd95 = surface_distance.compute_robust_hausdorff(theirs, 95) if truth or said else np.nan
    assert (ours["dice"][1] is None) == (not truth and not said)
    if truth:  # MONAI leaves out what is not there, whatever was said
        assert ours["dice"][1] == pytest.approx(dice)
    assert (ours["hd95"][1] is None) == (not np.isfinite(hd95))
    if truth or said:
        assert ours["surface_dice"][1] == pytest.approx(surface_distance.compute_surface_dice_at_tolerance(theirs, 2.0))
        diagonal = float(np.linalg.norm(np.array((6, 8, 9)) * spacing))
        assert ours["hd95_penalised"][1] == pytest.approx(hd95 if np.isfinite(hd95) else diagonal)


@pytest.mark.parametrize("patch, level0, step", [((6, 9, 8), (12, 27, 16), (2, 3, 2)), ((9, 12, 11), (9, 5, 4), (1, 2.5, 2.75)),
                                                 ((5, 7, 6), (13, 9, 11), (2.75, 1.3, 1.9)), ((4, 5, 6), (4, 5, 6), (1, 1, 1))], ids=str)
def test_probabilities_on_the_original_grid_are_scipys_and_nnunets(tmp_path, patch, level0, step):
    random = np.random.Generator(np.random.PCG64(5))
    step = tuple(1 / s if new < old else s for s, new, old in zip(step, level0, patch, strict=True)) if level0 == (9, 5, 4) else step
    probability = random.dirichlet((0.4, 0.4, 0.4), patch).astype(np.float32)
    file = tmp_path / "p.bin"
    file.write_bytes(np.ascontiguousarray(np.moveaxis(probability, 3, 1)).tobytes())
    raw = tool("volume_grid_tool", file, 3, *patch, *level0, *step)
    ours = np.moveaxis(np.frombuffer(raw, np.float32).reshape(level0[0], 3, *level0[1:]), 1, 3)
    places = np.meshgrid(*[(np.arange(n) + 0.5) / s - 0.5 for n, s in zip(level0, step, strict=True)], indexing="ij")
    for c in range(3):
        expected = scipy.ndimage.map_coordinates(probability[..., c].astype(np.float64), places, order=1, mode="nearest")
        np.testing.assert_allclose(ours[..., c], expected, atol=2e-6)
    if all(new == old * s for new, old, s in zip(level0, patch, step, strict=True)):
        nnunet = np.stack([skimage.transform.resize(probability[..., c].astype(np.float64), level0, order=1, mode="edge", anti_aliasing=False)
                           for c in range(3)], axis=-1)
        np.testing.assert_allclose(ours, nnunet, atol=2e-6)
    if patch == level0:
        assert (ours == probability).all()
