"""AUC, sensitivity at a specificity, Brier score and calibration against scikit-learn and NumPy."""

import json

import numpy as np
import pytest
from driving import run_tool
from sklearn import metrics


def figures(folder, truth, probabilities):
    file = folder / "predictions.bin"
    file.write_bytes(truth.astype(np.uint8).tobytes() + probabilities.astype(np.float32).tobytes())
    return json.loads(run_tool("probability_figures_tool", file, probabilities.shape[1]).stdout)


def predictions(seed, classes, count=4000, sharp=2.0):
    random = np.random.Generator(np.random.PCG64(seed))
    logits = sharp * random.standard_normal((count, classes))
    truth = np.array([random.choice(classes, p=row / row.sum()) for row in np.exp(logits + random.standard_normal(logits.shape))])
    probabilities = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    if seed % 2:
        probabilities[: count // 3] = np.eye(classes)[random.integers(0, classes, count // 3)]
    return truth, probabilities.astype(np.float32)


def in_steps(scores):
    return np.floor(scores * np.float32(65535) + np.float32(0.5)).astype(np.float64) / 65535


def expected_error(scores, positive):
    """As Guo et al. write it: 15 bins, each open below and closed above."""
    total = 0.0
    for k in range(15):
        inside = (scores > k / 15) & (scores <= (k + 1) / 15) | ((k == 0) & (scores == 0))
        if inside.any():
            total += inside.mean() * abs(scores[inside].mean() - positive[inside].mean())
    return total


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("seed", range(4))
def test_figures_are_scikit_learns(tmp_path, seed, classes):
    truth, probabilities = predictions(seed, classes)
    ours = figures(tmp_path, truth, probabilities)
    stored = in_steps(probabilities[:, 1])
    positive = truth == 1
    assert ours["auc"] == pytest.approx(metrics.roc_auc_score(positive, stored), rel=1e-12)
    wrong, right, _ = metrics.roc_curve(positive, stored, drop_intermediate=False)
    for specificity, sensitivity in zip((0.5, 0.9, 0.95, 1.0), ours["sensitivity"]):
        assert sensitivity == pytest.approx(right[1 - wrong >= specificity - 1e-12].max(), rel=1e-12)
    assert ours["calibration"]["brier"] == pytest.approx(metrics.brier_score_loss(positive, stored), abs=4e-8)
    assert ours["calibration"]["ece"] == pytest.approx(expected_error(stored, positive), abs=1e-9)
    squares = ((probabilities - np.eye(classes)[truth]) ** 2).sum(axis=1)
    assert ours["top"]["brier"] == pytest.approx(squares.mean(), abs=1e-6)
    top = in_steps(probabilities.max(axis=1))
    assert ours["top"]["ece"] == pytest.approx(expected_error(top, probabilities.argmax(axis=1) == truth), abs=2e-4)


@pytest.mark.parametrize("truth", [[], [0], [1], [1, 1, 1], [0, 0]], ids=str)
def test_what_one_side_alone_cannot_tell_is_undefined(tmp_path, truth):
    ours = figures(tmp_path, np.array(truth), np.full((len(truth), 2), 0.5))
    assert ours["auc"] is None and ours["sensitivity"] == [None] * 4
    assert (ours["calibration"]["brier"] is None) == (len(truth) == 0)
