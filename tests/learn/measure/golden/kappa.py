"""Golden values of kappa_test.cpp and confusion_test.cpp: quadratic weighted kappa by its definition, Dice and IoU by sets, in numpy.

Run: python3 tests/learn/measure/golden/kappa.py (numpy; scikit-learn, where installed, must agree).
"""
import numpy as np


def kappa(truth, predicted, grades):
    observed = np.zeros((grades, grades))
    for t, p in zip(truth, predicted):
        observed[t, p] += 1
    i, j = np.indices((grades, grades))
    weights = (i - j) ** 2 / (grades - 1) ** 2
    expected = np.outer(observed.sum(1), observed.sum(0)) / observed.sum()
    return 1 - (weights * observed).sum() / (weights * expected).sum()


def case(n, seed):
    state, out = seed, []
    for _ in range(2 * n):
        state = (1103515245 * state + 12345) % 2**31
        out.append((state >> 16) % 6)
    return out[:n], out[n:]


if __name__ == "__main__":
    for n, seed in ((10, 1), (50, 2), (300, 3)):
        truth, predicted = case(n, seed)
        predicted = [t if k % 3 else p for k, (t, p) in enumerate(zip(truth, predicted))]
        value = kappa(truth, predicted, 6)
        try:
            from sklearn.metrics import cohen_kappa_score
            assert abs(cohen_kappa_score(truth, predicted, weights="quadratic", labels=range(6)) - value) < 1e-12
        except ImportError:
            pass
        print(f"kappa n={n} seed={seed}: {float(value)!r}")
    truth, predicted = (np.array(v) % 4 for v in case(400, 9))
    for c in range(4):
        both, t, p = ((truth == c) & (predicted == c)).sum(), (truth == c).sum(), (predicted == c).sum()
        print(f"class {c}: dice {float(2 * both / (t + p))!r} iou {float(both / (t + p - both))!r}")
