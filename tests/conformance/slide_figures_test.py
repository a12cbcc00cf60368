"""The figures of slides as eval.json has them, against scikit-learn, MONAI and NumPy: random slides, empties and class sets included."""

import json

import numpy as np
import pytest
import torch
from driving import run_tool
from monai.metrics.panoptic_quality import compute_panoptic_quality
from skimage import measure
from sklearn import metrics

CLASSES = ["background", "benign", "pattern3", "pattern4", "pattern5"]
SETS = {"any_tissue": ["background", "benign"], "cancer": ["pattern3", "pattern4", "pattern5"], "unsure": ["benign", "pattern3"]}
MEMBERS = [[CLASSES.index(name) for name in members] for members in SETS.values()]
TUMOUR = [2, 3, 4]
IGNORE = 255
GROUPS = {(3, 3): 1, (3, 4): 2, (4, 3): 3, (4, 4): 4, (3, 5): 4, (5, 3): 4, (4, 5): 5, (5, 4): 5, (5, 5): 5}


def figures(folder, slides, bootstrap=0):
    spec = {"classes": CLASSES, "class_sets": SETS, "tumour": [CLASSES[c] for c in TUMOUR], "gleason": True, "specificity": 0.75,
            "bootstrap": bootstrap, "slides": [{"case": s["case"], "height": s["truth"].shape[0], "width": s["truth"].shape[1], "grade": s["grade"]}
                                               for s in slides]}
    (folder / "spec.json").write_text(json.dumps(spec))
    parts = [s["truth"].tobytes() + np.ascontiguousarray(np.moveaxis(s["p"], 0, 1)).tobytes() for s in slides]
    (folder / "pixels.bin").write_bytes(b"".join(parts))
    return json.loads(run_tool("slide_figures_tool", folder / "spec.json", folder / "pixels.bin").stdout)


def blobs(random, shape, values, count):
    out = np.zeros(shape, np.uint8)
    for _ in range(count):
        y, x = (random.integers(0, edge) for edge in shape)
        h, w = random.integers(2, 12, 2)
        out[y : y + h, x : x + w] = random.choice(values)
    return out


def random_slide(random, kind):
    """kind: which empties the slide is: nothing annotated, no tumour, sets alone, no prediction of tumour, or none of these."""
    shape = tuple(random.integers(20, 40, 2))
    values = {"no tumour": [0, 1, 5], "sets alone": [5, 6]}.get(kind, list(range(8)))
    true = blobs(random, shape, values, 14)
    if kind == "sets alone":
        true[true == 0] = 5
    noisy = true.copy()
    for k, members in enumerate(MEMBERS):
        noisy[true == 5 + k] = random.choice(members)
    wrong = blobs(random, shape, [1, 2, 3, 4], 4)
    noisy = np.where(wrong > 0, wrong, noisy)
    if kind == "tumour missed":
        noisy[noisy >= 2] = 1
    logits = 3 * random.random((5, *shape)) + 3 * (np.arange(5)[:, None, None] == noisy)
    p = (np.exp(logits) / np.exp(logits).sum(0)).astype(np.float32)
    if kind == "tumour missed":
        p[2:] *= np.float32(0.01)
    true[blobs(random, shape, [1], 2) > 0] = IGNORE
    outside = np.zeros(shape, bool)
    outside[:, : random.integers(0, 4)] = True
    p[:, outside], true[outside] = 0, IGNORE
    if kind == "not annotated":
        true[:] = IGNORE
    return {"truth": true, "p": p}


def random_slides(seed, kinds):
    random = np.random.Generator(np.random.PCG64(seed))
    slides = []
    for i, kind in enumerate(kinds):
        slide = random_slide(random, kind)
        slide["case"] = f"case-{i * 2 // 3}"
        pairs = [(0, 0), *GROUPS]
        slide["grade"] = [int(v) for v in pairs[random.integers(len(pairs))]] if random.random() < 0.6 else None
        slides.append(slide)
    return slides


def pooled(slides):
    """Of pixels under a tile that are annotated: label, prediction, probabilities."""
    truth = np.concatenate([s["truth"].ravel() for s in slides])
    p = np.concatenate([s["p"].reshape(5, -1) for s in slides], axis=1)
    keep = truth != IGNORE
    return truth[keep], p[:, keep].argmax(0), p[:, keep].astype(np.float64)


def membership(truth):
    """1 tumour, 0 not, -1 the label does not say."""
    table = np.full(256, -1)
    table[:5] = [c in TUMOUR for c in range(5)]
    for k, members in enumerate(MEMBERS):
        inside = {c in TUMOUR for c in members}
        table[5 + k] = inside.pop() if len(inside) == 1 else -1
    return table[truth]


def in_steps(scores):
    return np.floor(scores.astype(np.float32) * np.float32(65535) + np.float32(0.5)).astype(np.float64) / 65535


def same(ours, theirs, **tolerance):
    assert (ours is None) == (theirs is None), (ours, theirs)
    if theirs is not None:
        assert ours == pytest.approx(theirs, **({"rel": 1e-12} | tolerance))


def auc(truth, scores):
    return metrics.roc_auc_score(truth, scores) if len(set(truth)) == 2 else None


def sensitivity(truth, scores, specificity):
    if len(set(truth)) < 2:
        return None
    wrong, right, _ = metrics.roc_curve(truth, scores, drop_intermediate=False)
    return right[1 - wrong >= specificity - 1e-12].max()


def kappa(pairs):
    if len({grade for pair in pairs for grade in pair}) < 2:
        return None
    return metrics.cohen_kappa_score(*zip(*pairs), weights="quadratic", labels=range(6))


def dice(truth, predicted):
    return metrics.f1_score(truth, predicted) if truth.any() or predicted.any() else None


def grade_group(areas):
    """The rule for needle biopsies of docs/formats.md."""
    tissue, cancer = sum(areas[1:]), sum(areas[2:5])
    if cancer == 0 or cancer < 0.02 * tissue:
        return 0
    pattern = {3: areas[2], 4: areas[3], 5: areas[4]}
    first = max(pattern, key=lambda p: (pattern[p], p))
    others = [p for p in pattern if p != first and pattern[p] > 0 and pattern[p] >= (0.01 if p > first else 0.05) * cancer]
    return GROUPS[first, max(others, default=first)]


def panoptic(slides, region):
    """Matched, missed, invented and the sum of IoU: MONAI's of the components, predicted pixels out where the label does not decide."""
    table = np.full(256, -1)
    table[:5] = [c in region for c in range(5)]
    for k, members in enumerate(MEMBERS):
        inside = {c in region for c in members}
        table[5 + k] = inside.pop() if len(inside) == 1 else -1
    total = np.zeros(4)
    for slide in slides:
        told = table[slide["truth"]]
        said = np.isin(slide["p"].argmax(0), region) & (slide["p"].sum(0) > 0)
        true, found = measure.label(told == 1, connectivity=2), measure.label(said, connectivity=2)
        seen = np.where(told >= 0, found, 0)
        for component in range(1, found.max() + 1):
            pixels = found == component
            outside = (pixels & (told < 0)).sum()
            matched = any(2 * (pixels & (told >= 0) & (true == t)).sum() > ((pixels & (told >= 0)) | (true == t)).sum()
                          for t in np.unique(true[pixels]) if t > 0)
            if 2 * outside > pixels.sum() and not matched:
                seen[pixels] = 0
        if true.any() and seen.any():
            total += compute_panoptic_quality(torch.tensor(seen), torch.tensor(true), output_confusion_matrix=True).numpy()
        else:
            total += [0, len(np.unique(seen)) - 1 if seen.any() else 0, true.max(), 0]
    return total  # tp, fp, fn, iou


KINDS = ["plain", "plain", "no tumour", "sets alone", "not annotated", "tumour missed", "plain", "no tumour", "plain"]
MIXES = {"all kinds": KINDS, "plain": ["plain"] * 6, "no tumour": ["no tumour"] * 3, "not annotated": ["not annotated"] * 2,
         "sets alone": ["sets alone"] * 3, "missed": ["tumour missed"] * 3}


@pytest.fixture(params=[(seed, mix) for mix in MIXES for seed in range(3 if mix == "all kinds" else 1)], ids=lambda p: f"{p[1]}-{p[0]}")
def judged(request, tmp_path):
    seed, mix = request.param
    slides = random_slides(seed, MIXES[mix])
    return slides, figures(tmp_path, slides)


def test_pixels_are_scikit_learns(judged):
    slides, ours = judged
    overall = ours["overall"]
    truth, predicted, p = pooled(slides)
    plain = truth < 5
    assert overall["pixels"] == plain.sum() and overall["set_pixels"] == (~plain).sum()
    for c, name in enumerate(CLASSES):
        same(overall["dice"][name], dice(truth[plain] == c, predicted[plain] == c))
    told = membership(truth)
    keep, inside = told >= 0, told == 1
    assert overall["tumour"]["pixels"] == keep.sum() and overall["tumour"]["positives"] == inside.sum()
    same(overall["tumour"]["dice"], dice(inside[keep], np.isin(predicted, TUMOUR)[keep]))
    theirs = auc(inside[keep], p[TUMOUR].sum(0)[keep])
    # Ours are the same scores in steps of 1/65535: ties that were none move the area a little.
    same(overall["tumour"]["auc"], theirs, abs=2e-4)


def test_calibration_is_scikit_learns(judged):
    slides, ours = judged
    calibration = ours["overall"]["calibration"]
    truth, predicted, p = pooled(slides)
    assert calibration["count"] == len(truth)
    if len(truth) == 0:
        assert calibration["ece"] is None and calibration["brier"] is None
        return
    squares, right = 0.0, np.zeros(len(truth), bool)
    for value in np.unique(truth):
        of = truth == value
        members = [value] if value < 5 else MEMBERS[value - 5]
        others = [c for c in range(5) if c not in members]
        merged = np.stack([p[members].sum(0)[of], *(p[c][of] for c in others)], axis=1)
        merged /= merged.sum(1, keepdims=True)
        labels = list(range(merged.shape[1]))
        squares += of.sum() * metrics.brier_score_loss(np.zeros(of.sum(), int), merged, labels=labels, scale_by_half=False)
        right[of] = np.isin(predicted[of], members)
    same(calibration["brier"], squares / len(truth), rel=1e-5)
    top, ece = in_steps(p.max(0) / p.sum(0)), 0.0
    bins = np.clip(np.ceil(top * 15).astype(int) - 1, 0, 14)
    for k in range(15):
        if (bins == k).any():
            ece += (bins == k).mean() * abs(top[bins == k].mean() - right[bins == k].mean())
    same(calibration["ece"], ece, abs=2e-3)


def test_structures_are_monais(judged):
    slides, ours = judged
    overall = ours["overall"]
    for name, region, objects in [("tumour", TUMOUR, overall["tumour"]["objects"])] + [
            (name, [c + 1], overall["objects"][name]) for c, name in enumerate(CLASSES[1:])]:
        tp, fp, fn, iou = panoptic(slides, region)
        assert (objects["matched"], objects["invented"], objects["missed"]) == (tp, fp, fn), name
        defined = tp + fp + fn > 0
        same(objects["f1"], 2 * tp / (2 * tp + fp + fn) if defined else None)
        same(objects["pq"], iou / (tp + fp / 2 + fn / 2) if defined else None, rel=1e-6)
        same(objects["sq"], iou / tp if tp else None, rel=1e-6)


def test_slides_and_cases_are_scikit_learns(judged):
    slides, ours = judged
    overall = ours["overall"]
    areas = np.array([[((s["p"].argmax(0) == c) & (s["p"].sum(0) > 0)).sum() for c in range(5)] for s in slides])
    cases = sorted({s["case"] for s in slides})
    of_case = [[i for i, s in enumerate(slides) if s["case"] == case] for case in cases]

    def check(kind, verdicts, sums):
        shares = [row[2:].sum() / row[1:].sum() if row[1:].sum() else 0 for row in sums]
        for verdict, row, share in zip(verdicts, sums, shares):
            assert verdict["share"] == pytest.approx(share, rel=1e-12) and verdict["group"] == grade_group(row)
        known = [i for i, v in enumerate(verdicts) if v["cancer"] is not None]
        truth, scores = [verdicts[i]["cancer"] for i in known], in_steps(np.array([shares[i] for i in known]))
        found = overall["detection"][kind]
        assert (found["positives"], found["negatives"]) == (sum(truth), len(truth) - sum(truth))
        same(found["auc"], auc(truth, scores))
        same(found["sensitivity"], sensitivity(truth, scores, 0.75))
        rated = [(v["true_group"], v["group"]) for v in verdicts if v["true_group"] is not None]
        gleason = overall["gleason"] if kind == "slides" else overall["gleason"]["by_case"]
        assert gleason[kind] == len(rated)
        same(gleason["kappa"], kappa(rated))
        same(gleason["accuracy"], np.mean([a == b for a, b in rated]) if rated else None)

    check("slides", ours["slides"], areas)
    check("cases", [ours["cases"][case] for case in cases], [areas[of].sum(0) for of in of_case])
    # What is true: the table's grade; else cancer in at least 2 % of the annotated tissue.
    for slide, verdict in zip(slides, ours["slides"]):
        if slide["grade"]:
            primary, secondary = slide["grade"]
            expected = GROUPS.get((primary, secondary), 0)
            assert verdict["true_group"] == expected and verdict["cancer"] == (expected > 0)
            continue
        annotated = slide["truth"][slide["truth"] != IGNORE]
        told = membership(annotated)
        cancer = (told == 1).sum() > 0 and (told == 1).sum() >= 0.02 * (annotated != 0).sum()
        known = len(annotated) > 0 and (cancer or (told >= 0).all())
        assert verdict["cancer"] == (bool(cancer) if known else None)
        untold = np.isin(annotated, [6, 7]).any()
        plain = [(annotated == c).sum() for c in range(5)]
        if known and not cancer:
            assert verdict["true_group"] == 0
        elif known and not untold:
            plain[1] = (annotated != 0).sum() - sum(plain[2:])
            assert verdict["true_group"] == grade_group(plain)
        else:
            assert verdict["true_group"] is None


def test_intervals_hold_the_figures_and_repeat(tmp_path):
    slides = random_slides(11, ["plain"] * 48)
    first, second = figures(tmp_path, slides, 200), figures(tmp_path, slides, 200)
    assert first == second
    overall = first["overall"]
    for path in (("tumour", "dice"), ("tumour", "auc"), ("tumour", "objects", "pq"), ("calibration", "ece"), ("mean_dice",)):
        value, interval = overall, overall["interval_95"]
        for key in path:
            value, interval = value[key], interval[key]
        assert interval[0] <= value <= interval[1] and interval[1] - interval[0] > 0, path
