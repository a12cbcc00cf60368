"""Figures of arrays: cases derived by hand, and random ones against scikit-learn, MONAI, SciPy and DeepMind's surface-distance."""
import itertools

import headrace
import numpy as np
import pytest
import scipy.ndimage
import torch
from monai import metrics as monai_metrics
from monai.metrics.panoptic_quality import compute_panoptic_quality
from sklearn import metrics

for name in ("filters", "morphology"):  # surface-distance 0.1 was written for SciPy and NumPy of its time
    if not hasattr(scipy.ndimage, name):
        setattr(scipy.ndimage, name, scipy.ndimage)
np.Inf, np.NaN = np.inf, np.nan
import surface_distance  # noqa: E402

CLASSES = ["background", "liver", "lesion"]
TWO = CLASSES[:2]


def of_volumes(prediction, truth, **more):
    return headrace.evaluate_segmentation(prediction, truth, **{"classes": TWO, "spacing": (1, 1, 1), **more})


def blobs(seed, shape, classes=2, sigma=2.0):
    """Label maps of smooth fields, of truth and of a prediction that is like it."""
    random = np.random.default_rng(seed)
    fields = scipy.ndimage.gaussian_filter(random.standard_normal((classes, *shape)), (0, *[sigma] * len(shape)))
    noise = scipy.ndimage.gaussian_filter(random.standard_normal((classes, *shape)), (0, *[sigma] * len(shape)))
    return fields.argmax(0).astype(np.uint8), (fields + 0.5 * noise).argmax(0).astype(np.uint8)


def softmax(values):
    p = np.exp(values - values.max(0))
    return (p / p.sum(0)).astype(np.float32)


# by hand


def test_one_voxel_in_its_place_and_beside_it():
    truth, prediction = np.zeros((2, 5, 5, 5), np.uint8)
    truth[2, 2, 2] = 1
    hit = of_volumes(truth, truth, spacing=(3, 2, 1))["images"][0]
    assert (hit["dice"]["liver"], hit["iou"]["liver"], hit["hd95"]["liver"], hit["surface_dice"]["liver"]) == (1, 1, 0, 1)
    assert hit["volume_ml"]["liver"] == {"truth": pytest.approx(0.006), "predicted": pytest.approx(0.006)}
    prediction[2, 2, 3] = 1
    beside = of_volumes(prediction, truth, spacing=(3, 2, 1), surface_tolerance_mm=0)["images"][0]
    assert (beside["dice"]["liver"], beside["sensitivity"]["liver"], beside["precision"]["liver"]) == (0, 0, 0)
    assert beside["hd95"]["liver"] == 1  # the far corners of either voxel are one voxel, 1 mm, from the other
    assert 0 < beside["surface_dice"]["liver"] < 1  # four corners are shared
    assert beside["structure"]["liver"] == "found"


@pytest.mark.parametrize("empty", ["truth", "prediction", "both"])
def test_empty_truth_and_prediction(empty):
    body = np.zeros((4, 6, 8), np.uint8)
    body[1:3, 2:4, 2:6] = 1
    none = np.zeros_like(body)
    image = of_volumes(none if empty != "truth" else body, none if empty != "prediction" else body, spacing=(3, 1, 2))["images"][0]
    diagonal = np.sqrt((4 * 3) ** 2 + 6**2 + (8 * 2) ** 2)
    expected = {"truth": (0.0, None, 0.0, "invented", diagonal), "prediction": (0.0, 0.0, None, "missed", diagonal),
                "both": (None, None, None, "absent", None)}
    dice, sensitivity, precision, word, penalised = expected[empty]
    assert (image["dice"]["liver"], image["sensitivity"]["liver"], image["precision"]["liver"]) == (dice, sensitivity, precision)
    assert image["hd95"]["liver"] is None and image["structure"]["liver"] == word
    assert image["surface_dice"]["liver"] == (None if empty == "both" else 0)
    assert image["hd95_penalised"]["liver"] == (None if penalised is None else pytest.approx(penalised, rel=1e-12))
    assert image["mean_dice"] == dice


@pytest.mark.parametrize("spacing", [None, (1, 1, 1)])
def test_nothing_annotated_has_no_figures(spacing):
    shape = (6, 7) if spacing is None else (3, 6, 7)
    result = headrace.evaluate_segmentation(np.ones(shape, np.uint8), np.full(shape, 255, np.uint8), classes=TWO, spacing=spacing)
    image = result["images"][0]
    assert image["matrix"] == [[0, 0], [0, 0]]
    assert image["mean_dice"] is None and set(image["dice"].values()) == {None} and set(result["overall"]["sensitivity"].values()) == {None}
    assert result["overall"]["mean_dice"] is None


def test_what_is_not_annotated_takes_no_part():
    truth = np.array([[0, 1, 1, 255], [0, 0, 1, 255]], np.uint8)
    prediction = np.array([[0, 1, 0, 1], [1, 0, 1, 0]], np.uint8)
    slide = headrace.evaluate_segmentation(prediction, truth, classes=TWO)["images"][0]
    assert slide["matrix"] == [[2, 1], [1, 2]]
    assert slide["dice"]["liver"] == pytest.approx(4 / 6) and slide["predicted_px"] == {"background": 4, "liver": 4}
    volume = of_volumes(prediction[None], truth[None])["images"][0]
    assert volume["matrix"] == slide["matrix"] and volume["volume_ml"]["liver"] == {"truth": pytest.approx(3e-3), "predicted": pytest.approx(3e-3)}


def test_what_is_not_predicted_on_a_slide_takes_no_part():
    truth = np.array([[0, 1, 1, 1]], np.uint8)
    by_class = headrace.evaluate_segmentation(np.array([[0, 1, 255, 255]], np.uint8), truth, classes=TWO)["images"][0]
    assert by_class["matrix"] == [[1, 0], [0, 1]]
    p = np.array([[[1, 0, 0, 0]], [[0, 1, 0, 0]]], np.float32)
    assert headrace.evaluate_segmentation(p, truth, classes=TWO)["images"][0]["matrix"] == by_class["matrix"]


def test_labels_of_several_classes_count_where_they_decide():
    truth = np.array([[0, 1, 2, 3, 3]], np.uint8)  # 3: liver or lesion
    prediction = np.array([[0, 1, 1, 2, 0]], np.uint8)
    result = headrace.evaluate_segmentation(prediction, truth, classes=CLASSES, class_sets={"organ": ["liver", "lesion"]})
    assert result["labels"] == [*CLASSES, "organ"] and result["overall"]["set_pixels"] == 2
    assert result["images"][0]["matrix"] == [[1, 0, 0], [0, 1, 0], [0, 1, 0]]
    assert result["overall"]["tumour"]["dice"] == pytest.approx(2 * 3 / (2 * 3 + 1))  # of four places in the tumour one is missed


def test_lesions_by_hand():
    shape = (3, 8, 30)
    truth, scores = np.zeros((2, *shape), np.uint8), np.zeros((2, *shape), np.float32)
    truth[0, 1, 2:5, 2:6] = 1  # 12 voxels, hit at 0.9 by just them
    scores[0, 1, 2:5, 2:6] = 0.9
    scores[0, 1, 2:5, 12:14] = 0.6  # a false positive
    truth[0, 1, 2:5, 20:28] = 1  # 24 voxels, of which a call of score 0.4 hits 12
    scores[0, 1, 2:5, 20:24] = 0.4
    scores[1, 0, 0, 0] = 0.95  # one voxel: below the least volume
    result = of_volumes(
        [(one >= 0.5).astype(np.uint8) for one in scores], list(truth), spacing=(2, 1, 1), lesion_classes=["liver"], lesion_scores=list(scores),
        lesion_min_mm3=4)
    lesion = result["overall"]["lesion"]
    assert (lesion["scans"], lesion["lesions"], lesion["calls"], lesion["hits"]) == (2, 2, 2, 1)  # from 0.5 on
    # 0.9 hits; 0.6 is wrong, half a false positive a scan; 0.4 hits.
    assert [point[:2] for point in lesion["curve"]] == [[0, 0.5], [0.5, 0.5], [0.5, 1]]
    assert (lesion["sensitivity_at_0.25"], lesion["sensitivity_at_0.5"], lesion["froc"]) == (0.5, 1, pytest.approx((2 * 0.5 + 5) / 7))
    assert lesion["case"]["positive"] == 1 and lesion["case"]["auc"] == 1  # the second scan has no call that is large enough
    calls = result["images"][0]["calls"]
    assert [call["hit"] for call in calls] == [True, False, True] and calls[2]["overlap"] == pytest.approx(0.5)
    assert calls[0]["centre_zyx"] == [1.5, 3.5, 4] and calls[0]["volume_mm3"] == 24
    affine = np.diag([1, 1, 2, 1.0]) + np.array([[0, 0, 0, 10], [0, 0, 0, 20], [0, 0, 0, 30], [0, 0, 0, 0]])
    placed = of_volumes(truth[0], truth[0], spacing=(2, 1, 1), lesion_classes=["liver"], lesion_min_mm3=0, affines=[affine])["images"][0]
    assert placed["lesions"][0]["centre_lps_mm"] == [10 + 3.5, 20 + 3, 30 + 2]  # middle of voxel 0 is index 0
    assert [one["score"] for one in placed["calls"]] == [1, 1]  # classes alone


def test_probabilities_decide_as_their_classes_do():
    truth, _ = blobs(1, (5, 12, 14), 3)
    p = softmax(3 * np.random.default_rng(2).random((3, *truth.shape)) + 2 * (np.arange(3)[:, None, None, None] == truth))
    by_class = of_volumes(p.argmax(0), truth, classes=CLASSES, lesion_classes=["lesion"], lesion_scores=p[2], lesion_min_mm3=0)
    by_p = of_volumes(p, truth, classes=CLASSES, lesion_classes=["lesion"], lesion_min_mm3=0)
    assert by_class["overall"]["calibration"]["ece"] is None and by_p["overall"]["calibration"]["count"] == truth.size
    assert by_class["overall"]["lesion"] == by_p["overall"]["lesion"] and by_p["overall"]["lesion"]["calls"] > 0
    assert by_class["images"][0]["dice"] == by_p["images"][0]["dice"]
    slide = headrace.evaluate_segmentation(p[:, 2], truth[2], classes=CLASSES)
    assert slide["overall"]["matrix"] == metrics.confusion_matrix(truth[2].ravel(), p[:, 2].argmax(0).ravel(), labels=range(3)).tolist()


# against others


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("spacing", [(1.0, 1.0, 1.0), (3.0, 0.7, 0.9)])
def test_surfaces_as_surface_distance_and_monai_measure_them(seed, spacing):
    truth, prediction = blobs(seed, (14, 25, 22), 3)
    image = of_volumes(prediction, truth, classes=CLASSES, spacing=spacing, surface_tolerance_mm=1.5)["images"][0]
    for c, name in ((1, "liver"), (2, "lesion")):
        theirs = surface_distance.compute_surface_distances(truth == c, prediction == c, spacing)
        assert image["hd95"][name] == pytest.approx(surface_distance.compute_robust_hausdorff(theirs, 95), rel=1e-12)
        assert image["surface_dice"][name] == pytest.approx(surface_distance.compute_surface_dice_at_tolerance(theirs, 1.5), rel=1e-12)
        batch = [torch.from_numpy(np.stack([one != c, one == c])[None].astype(np.float32)) for one in (prediction, truth)]
        dice = monai_metrics.compute_surface_dice(*batch, class_thresholds=[1.5], spacing=spacing, use_subvoxels=True)
        assert image["surface_dice"][name] == pytest.approx(float(dice[0, 0]), rel=1e-5)


def test_figures_of_voxels_as_scikit_learn_has_them():
    pairs = [blobs(seed, shape, 3) for seed, shape in ((1, (9, 20, 17)), (2, (5, 31, 12)), (3, (11, 8, 9)))]
    result = of_volumes([prediction for _, prediction in pairs], [truth for truth, _ in pairs], classes=CLASSES)
    flat = [np.concatenate([pair[k].ravel() for pair in pairs]) for k in range(2)]
    assert result["overall"]["matrix"] == metrics.confusion_matrix(*flat, labels=range(3)).tolist()
    assert result["overall"]["accuracy"] == pytest.approx(metrics.accuracy_score(*flat), rel=1e-12)
    for c, name in enumerate(CLASSES):
        assert result["overall"]["pooled_dice"][name] == pytest.approx(metrics.f1_score(*flat, labels=[c], average="macro"), rel=1e-12)
        for figure, score in (("dice", metrics.f1_score), ("sensitivity", metrics.recall_score), ("precision", metrics.precision_score)):
            each = [score(truth.ravel(), prediction.ravel(), labels=[c], average="macro") for truth, prediction in pairs]
            assert [image[figure][name] for image in result["images"]] == pytest.approx(each, rel=1e-12)
            assert result["overall"][figure][name] == pytest.approx(np.mean(each), rel=1e-12)


def test_scores_of_pixels_as_scikit_learn_has_them():
    truth, _ = blobs(4, (60, 50))
    p = softmax(np.random.default_rng(5).normal(size=(2, 60, 50)) + 1.5 * (np.arange(2)[:, None, None] == truth))
    overall = headrace.evaluate_segmentation(p, truth, classes=TWO)["overall"]
    assert overall["tumour"]["auc"] == pytest.approx(metrics.roc_auc_score(truth.ravel(), p[1].ravel()), abs=1e-5)
    assert overall["calibration"]["brier"] == pytest.approx(2 * metrics.brier_score_loss(truth.ravel(), p[1].ravel()), rel=1e-5)
    assert headrace.evaluate_segmentation(p.argmax(0), truth, classes=TWO)["overall"]["tumour"]["auc"] is None


def test_kappa_as_scikit_learn_has_it():
    names = ["background", "benign", "pattern3", "pattern4", "pattern5"]
    groups = {(3, 3): 1, (3, 4): 2, (4, 3): 3, (4, 4): 4, (4, 5): 5, (5, 4): 5, (5, 5): 5, (3, 5): 4, (5, 3): 4}
    random = np.random.default_rng(6)
    maps, grades, expected = [], [], []
    for first, second in itertools.islice(itertools.cycle(groups), 24):
        slide = np.ones((10, 20), np.uint8)
        slide[:, :6], slide[:, 6:10] = first - 1, second - 1
        maps.append(slide)
        known = int(random.integers(0, 6))
        grades.append(known)
        expected.append((known, groups[first, second]))
    result = headrace.evaluate_segmentation(maps, [np.full_like(one, 255) for one in maps], classes=names, task="gleason", grades=grades)
    rated = np.array(expected)
    kappa = metrics.cohen_kappa_score(rated[:, 0], rated[:, 1], weights="quadratic", labels=range(6))
    assert result["overall"]["gleason"]["kappa"] == pytest.approx(kappa, rel=1e-12)
    assert result["overall"]["gleason"]["matrix"] == metrics.confusion_matrix(*rated.T, labels=range(6)).tolist()
    both = headrace.evaluate_segmentation(maps[:3], maps[:3], classes=names, task="gleason", grades=[(4, 3), None, (None, None)])
    assert [one["true_grade"]["from"] for one in both["images"]] == ["table", "annotation", "annotation"]


def test_panoptic_quality_as_monai_has_it():
    truth, prediction = blobs(7, (70, 80), 2, 1.5)
    objects = headrace.evaluate_segmentation(prediction, truth, classes=TWO)["images"][0]["objects"]["liver"]
    labelled = [torch.from_numpy(scipy.ndimage.label(one, np.ones((3, 3)))[0]) for one in (prediction, truth)]
    assert objects["matched"] > 1 and objects["missed"] + objects["invented"] > 1
    for figure in ("pq", "sq"):
        assert objects[figure] == pytest.approx(float(compute_panoptic_quality(*labelled, metric_name=figure)), rel=1e-4)


# groups and arrays


def test_slides_are_ranked_by_their_tumour_where_tissue_has_no_class():
    """background and tumour alone: a stray pixel is no call of the whole slide."""
    random = np.random.default_rng(4)
    truth = [np.full((32, 32), 0, np.uint8) for _ in range(10)]
    prediction = [np.where(random.random((32, 32)) < share, 1, 0).astype(np.uint8) for share in np.linspace(0.01, 0.4, 10)]
    for one in truth[4:6] + truth[7:]:
        one[:4] = 1
    made = headrace.evaluate_segmentation(prediction, truth, classes=["background", "tumour"], bootstrap=0)
    shares = [one.mean() for one in prediction]
    assert made["overall"]["detection"]["slides"]["auc"] == pytest.approx(metrics.roc_auc_score([one.any() for one in truth], shares), abs=1e-3)
    assert [image["tumour_share"] for image in made["images"]] == pytest.approx(shares)
    three = headrace.evaluate_segmentation(prediction, truth, classes=["background", "tissue", "tumour"], tumour_classes=["tumour"], bootstrap=0)
    assert {image["tumour_share"] for image in three["images"]} == {0}


def test_groups_are_evaluations_of_their_images():
    pairs = [blobs(seed, (6, 15, 13)) for seed in range(4)]
    given = {"prediction": [p for _, p in pairs], "truth": [t for t, _ in pairs]}
    labels = {"names": list("abcd"), "cases": ["p", "p", "q", "r"], "cohorts": ["x", "y", "y", "x"], "scanners": ["", "s", "s", ""], "phases": None}
    result = of_volumes(**given, **labels, bootstrap=20, seed=3)
    assert list(result["cohorts"]) == ["x", "y"] and list(result["scanners"]) == ["not stated", "s"] and result["phases"] == {}
    assert list(result["cases"]) == ["p", "q", "r"] and result["overall"]["cases"] == 3
    for group, chosen in ((result["cohorts"]["y"], [1, 2]), (result["cases"]["p"], [0, 1]), (result["scanners"]["not stated"], [0, 3])):
        own = {name: [values[i] for i in chosen] for name, values in (*given.items(), ("cases", labels["cases"]))}
        alone = of_volumes(**own)["overall"]
        assert {key: value for key, value in group.items() if key != "no_interval"} == alone
    assert result["overall"]["no_interval"] == "3 cases: no interval"
    assert of_volumes(**given, **labels, bootstrap=20, seed=3, threads=1) == result
    pairs = [blobs(seed, (6, 15, 13)) for seed in range(10)]
    given = {"prediction": [p for _, p in pairs], "truth": [t for t, _ in pairs]}
    ten = [of_volumes(**given, bootstrap=20, seed=seed)["overall"] for seed in (3, 4)]
    low, high = ten[0]["interval_95"]["dice"]["liver"]
    assert low <= ten[0]["dice"]["liver"] <= high and ten[0]["interval_95"] != ten[1]["interval_95"]


@pytest.mark.parametrize("kind", ["cohorts", "cases", "phases"])
def test_a_group_without_a_name_is_not_one_that_is_called_so(kind):
    pairs = [blobs(seed, (6, 15, 13)) for seed in range(2)]
    result = of_volumes([p for _, p in pairs], [t for t, _ in pairs], **{kind: ["", "not stated"]})
    for name, image in zip(("", "not stated"), result["images"]):
        assert result[kind][name]["sensitivity"] == image["sensitivity"], name


def test_other_arrays_of_the_same_values():
    truth, prediction = blobs(8, (5, 14, 11))
    expected = of_volumes(prediction, truth)
    turned = np.asfortranarray(truth), prediction.transpose(2, 1, 0).copy().transpose(2, 1, 0)
    assert of_volumes(turned[1], turned[0]) == expected
    assert of_volumes(prediction == 1, truth.astype(np.float64)) == expected  # as readers of NIfTI give label maps
    assert of_volumes(torch.from_numpy(prediction), torch.from_numpy(truth.astype(np.int64))) == expected
    p = np.stack([prediction == 0, prediction == 1])
    by_type = [of_volumes(p.astype(kind), truth) for kind in (np.float16, np.float32, np.float64)]
    assert by_type[0] == by_type[1] == by_type[2] and by_type[0]["images"][0]["matrix"] == expected["images"][0]["matrix"]
