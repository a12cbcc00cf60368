"""The paired bootstrap of `headrace diff RUN RUN`: the same draws by an independent Philox in NumPy, and the figures of each draw from the arrays
themselves by NumPy and scikit-learn, never from eval.json."""
import json
import warnings

import headrace as package
import numpy as np
import pytest
from driving import headrace
from sklearn.metrics import cohen_kappa_score, roc_auc_score

STREAM, RESAMPLES = 0x70616972, 1000  # "pair"
GRADED = ["background", "benign", "pattern3", "pattern4", "pattern5"]


def philox4x32_10(counter, key):
    """(…, 4) of uint32 counters to as many words; Salmon et al., SC 2011."""
    words, key = counter.astype(np.uint64), [np.uint64(k) for k in key]
    low = np.uint64(0xFFFFFFFF)
    for _ in range(10):
        first, second = words[..., 0] * np.uint64(0xD2511F53), words[..., 2] * np.uint64(0xCD9E8D57)
        words = np.stack([(second >> np.uint64(32)) ^ words[..., 1] ^ key[0], second & low,
                          (first >> np.uint64(32)) ^ words[..., 3] ^ key[1], first & low], -1)
        key = [(key[0] + np.uint64(0x9E3779B9)) & low, (key[1] + np.uint64(0xBB67AE85)) & low]
    return words


def draws(cases):
    """(resample, place): the cases of each resample."""
    counter = np.zeros((RESAMPLES, cases, 4), np.uint64)
    counter[..., 0], counter[..., 1], counter[..., 2] = np.arange(cases), np.arange(RESAMPLES)[:, None], STREAM
    words = philox4x32_10(counter, (0, 0))
    u = ((words[..., 0] << np.uint64(32) | words[..., 1]) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return (u * cases).astype(int)


def test_philox_is_that_of_the_paper():
    # Known answers of Random123, kat_vectors: philox4x32 10.
    assert [hex(w) for w in philox4x32_10(np.zeros(4, np.uint64), (0, 0))] == ["0x6627e8d5", "0xe169c58d", "0xbc57ac4c", "0x9b00dbd8"]


def expected(figure, before, after, cases):
    """Percentile interval of the difference of a figure of drawn images. None where it is defined in fewer than half of the resamples."""
    groups = [np.flatnonzero(np.array(cases) == name) for name in sorted(set(cases))]
    found = []
    for drawn in draws(len(groups)):
        chosen = np.concatenate([groups[i] for i in drawn])
        one, other = figure(before, chosen), figure(after, chosen)
        if one is not None and other is not None:
            found.append(other - one)
    return None if len(found) * 2 < RESAMPLES else np.quantile(found, [0.025, 0.975])


def run_of(folder, evaluation):
    """A run folder as far as diff looks into it."""
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "run.json").write_text("{}")
    (folder / "eval.json").write_text(json.dumps(evaluation | {"dataset_hash": "d" * 64, "split": "val", "missing_classes": []}))
    return folder


def compared(tmp_path, *evaluations):
    runs = [run_of(tmp_path / name, one) for name, one in zip("ab", evaluations)]
    return json.loads(headrace("diff", *runs, "--json").stdout)["evaluation"]


def dice(pairs, c):
    """Pooled, of pairs (prediction, truth)."""
    hit = sum(int(((p == c) & (t == c)).sum()) for p, t in pairs)
    both = sum(int((p == c).sum() + (t == c).sum()) for p, t in pairs)
    return 2 * hit / both if both else None


def corrupted(rng, truth, share):
    """Predictions that are wrong in a share of the places which differs from image to image."""
    out = []
    for one in truth:
        wrong = rng.random(one.shape) < rng.uniform(0, share)
        out.append(np.where(wrong, rng.integers(0, 5, one.shape), one).astype(np.uint8))
    return out


@pytest.fixture(scope="module")
def slides():
    rng = np.random.default_rng(4)
    truth = []
    for _ in range(32):  # of which some have one pattern alone
        mix = rng.dirichlet([4, 2, *rng.choice([0.02, 1.5], 3)])
        truth.append(rng.choice(5, (24, 24), p=mix).astype(np.uint8))
    cases = [f"case-{i // 2:02}" for i in range(32)]  # two slides each, all of a case in one cohort, but not by one scanner
    cohorts, scanners = ["x" if i < 20 else "y" for i in range(32)], ["s1" if i % 2 else "s2" for i in range(32)]
    return truth, [corrupted(rng, truth, 0.9), corrupted(rng, truth, 0.6)], {"cases": cases, "cohorts": cohorts, "scanners": scanners}


def leaves(intervals, path=""):
    """Paths of the defined intervals."""
    if not isinstance(intervals, dict):
        return [path[1:]] if intervals else []
    return [leaf for key, value in intervals.items() for leaf in leaves(value, f"{path}.{key}")]


def share_of(prediction):
    return (prediction >= 2).sum() / (prediction >= 1).sum()


def test_slides(slides, tmp_path):
    truth, predictions, facts = slides
    evaluations = [package.evaluate_segmentation(p, truth, classes=GRADED, task="gleason", min_cancer=0.1, **facts) for p in predictions]
    result = compared(tmp_path, *evaluations)
    groups = result["groups"]
    assert result["paired"] and groups["overall"]["paired_cases"] == 16 and groups["cohorts.x"]["paired_cases"] == 10
    grades = [[(im["true_grade"]["grade_group"], im["predicted_grade"]["grade_group"]) for im in e["images"]] for e in evaluations]
    assert len({pair for run in grades for pair in run}) > 3

    def kappa(rated, chosen):
        with warnings.catch_warnings(action="ignore"):
            value = cohen_kappa_score(*zip(*[rated[i] for i in chosen]), weights="quadratic", labels=range(6))
        return None if np.isnan(value) else value

    figures = {"dice.pattern4": lambda p, chosen: dice([(p[i], truth[i]) for i in chosen], 3),
               "mean_dice": lambda p, chosen: np.mean([dice([(p[i], truth[i]) for i in chosen], c) for c in range(1, 5)])}
    chosen = {"overall": range(32), "cohorts.x": range(20), "scanners.s1": range(1, 32, 2)}
    for group, of in chosen.items():
        of = list(of)
        names = [facts["cases"][i] for i in of]
        for name, figure in figures.items():
            if (group, name) == ("overall", "mean_dice"):
                continue  # takes long
            given = groups[group]["figures"][name]
            assert given["difference_interval_95"] == pytest.approx(expected(
                lambda p, drawn: figure(p, [of[i] for i in drawn]), *predictions, names), abs=1e-12), (group, name)
            assert [given["before"], given["after"]] == pytest.approx([figure(p, of) for p in predictions], abs=1e-12)
        interval = expected(lambda rated, drawn: kappa(rated, [of[i] for i in drawn]), *grades, names)
        assert groups[group]["figures"]["gleason.kappa"]["difference_interval_95"] == pytest.approx(interval, abs=1e-12)
    # The six cases of the other cohort are too few.
    assert groups["cohorts.y"]["paired_cases"] == 6
    assert {figure["difference_interval_95"] for figure in groups["cohorts.y"]["figures"].values()} == {None}
    # A scanner has one slide of each case: what a case is as a whole can't be read off there.
    assert groups["scanners.s1"]["figures"]["detection.cases.auc"]["difference_interval_95"] is None
    assert groups["cohorts.x"]["figures"]["gleason.by_case.kappa"]["difference_interval_95"] is not None
    assert groups["overall"]["figures"]["calibration.ece"]["difference_interval_95"] is None  # scores are not in eval.json


def test_detection_of_slides(slides, tmp_path):
    truth, predictions, facts = slides
    healthy = [np.where(t >= 2, 1, t).astype(np.uint8) if i % 3 == 0 else t for i, t in enumerate(truth)]
    given = [[np.where(p >= 2, np.where(np.arange(24) < 3 * (i % 5), p, 1), p).astype(np.uint8) for i, p in enumerate(run)] for run in predictions]
    evaluations = [package.evaluate_segmentation(p, healthy, classes=GRADED, tumour_classes=GRADED[2:], **facts) for p in given]
    found = compared(tmp_path, *evaluations)["groups"]["overall"]["figures"]["detection.slides.auc"]
    cancer = np.array([(t >= 2).any() for t in healthy])

    def auc(p, chosen):
        if len(set(cancer[chosen])) < 2:
            return None
        # Scores are kept in steps of 1/65535.
        return roc_auc_score(cancer[chosen], [round(float(np.float32(share_of(p[i]))) * 65535) for i in chosen])

    assert found["difference_interval_95"] == pytest.approx(expected(auc, *given, facts["cases"]), abs=1e-9)
    assert found["difference_interval_95"][0] < found["difference_interval_95"][1]


def test_volumes(tmp_path):
    rng = np.random.default_rng(8)
    truth, scores = [], [[], []]
    for _ in range(24):
        one = np.zeros((4, 12, 48), np.uint8)
        lesions = rng.integers(0, 4)
        for k in range(lesions):
            one[1:3, 4:8, 12 * k + 1 : 12 * k + 5] = 1
        truth.append(one)
        for run in scores:
            score = np.zeros(one.shape, np.float32)
            for k in range(4):  # calls on lesions, or on nothing
                if rng.random() < 0.6:
                    score[1:3, 4:8, 12 * k + 1 : 12 * k + 5 - rng.integers(0, 2)] = rng.uniform(0.2, 1)
            run.append(score)
    cases = [f"p{i // 2}" for i in range(24)]
    facts = {"cases": cases, "phases": ["arterial" if i % 2 else "portal" for i in range(24)]}
    predictions = [[(s >= 0.5).astype(np.uint8) for s in run] for run in scores]
    evaluations = [package.evaluate_segmentation(
        p, truth, classes=["background", "lesion"], spacing=(2, 1, 1), task="colorectal", lesion_classes=["lesion"], lesion_scores=s,
        lesion_min_mm3=1, **facts) for p, s in zip(predictions, scores)]
    groups = compared(tmp_path, *evaluations)["groups"]

    def mean_dice(p, chosen):
        values = [value for value in (dice([(p[i], truth[i])], 1) for i in chosen) if value is not None]
        return np.mean(values) if values else None

    def at_one(run, chosen):
        """Sensitivity at one false positive a scan, by hand: every block that is called, at its highest probability."""
        calls, lesions = [], 0
        for i in chosen:
            for k in range(4):
                block = np.s_[1:3, 4:8, 12 * k + 1 : 12 * k + 5]
                lesions += int(truth[i][block].any())
                if run[i][block].max() >= 0.1:
                    calls.append((round(float(run[i][block].max()) * 65535), bool(truth[i][block].any())))
        if lesions == 0:
            return None
        best = 0
        for threshold in {score for score, _ in calls}:
            wrong = sum(not hit for score, hit in calls if score >= threshold)
            if wrong / len(chosen) <= 1:
                best = max(best, sum(hit for score, hit in calls if score >= threshold) / lesions)
        return best

    for group, of in {"overall": range(24), "phases.portal": range(0, 24, 2)}.items():
        of = list(of)
        names = [cases[i] for i in of]
        for name, figure, runs in (("mean_dice", mean_dice, predictions), ("lesion.sensitivity_at_1", at_one, scores)):
            given = groups[group]["figures"][name]
            assert [given["before"], given["after"]] == pytest.approx([figure(run, of) for run in runs], abs=1e-12), (group, name)
            interval = expected(lambda run, drawn: figure(run, [of[i] for i in drawn]), *runs, names)
            assert given["difference_interval_95"] == pytest.approx(interval, abs=1e-12), (group, name)
            assert interval[0] < interval[1]


def test_the_points_are_those_of_eval_json_and_an_older_one_is_not_paired(slides, tmp_path):
    truth, predictions, facts = slides
    evaluation = package.evaluate_segmentation(predictions[0], truth, classes=GRADED, task="gleason", bootstrap=50, **facts)
    groups = compared(tmp_path, evaluation, evaluation)["groups"]
    # Of every figure that has an interval in eval.json but those of scores of pixels; the same on every draw.
    paired = [path for path in leaves(evaluation["overall"]["interval_95"]) if not path.startswith("calibration") and path != "tumour.auc"]
    assert len(paired) > 25
    for name in paired:
        assert groups["overall"]["figures"][name]["difference_interval_95"] == [0, 0], name
    for image in evaluation["images"]:
        del image["matrix"]
    (tmp_path / "old").mkdir()
    older = compared(tmp_path / "old", evaluation, evaluation)
    assert not older["paired"] and "no matrix of each image" in older["why_not_paired"]
    assert older["groups"]["overall"]["figures"]["mean_dice"]["difference"] == 0
