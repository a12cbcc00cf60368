"""Golden values of loss_options_test.cpp: focal, top-k and Tversky losses by PyTorch in double precision, gradients by autograd.

Run: python3 tests/learn/model/golden/losses.py (torch; MONAI, where installed, must agree where it has the same loss).
"""
import math

import torch
import torch.nn.functional as F

N, C, H, W = 2, 3, 4, 5
IGNORE = 255


def inputs():
    """Logits 2 sin(0.37 i), labels (7 i) mod 4 of which 3 is not annotated, class weights 1, 2, 0.5."""
    logits = torch.tensor([2 * math.sin(0.37 * i) for i in range(N * C * H * W)], dtype=torch.float64).view(N, C, H, W)
    labels = torch.tensor([(7 * i + i // 5) % 4 for i in range(N * H * W)]).view(N, H, W)
    labels[labels == 3] = IGNORE
    return logits.requires_grad_(True), labels, torch.tensor([1, 2, 0.5], dtype=torch.float64)


def pixels(logits, labels, weights):
    """Of annotated pixels: cross-entropy, and weight."""
    seen = labels != IGNORE
    entropy = F.cross_entropy(logits, labels, reduction="none", ignore_index=IGNORE)[seen]
    return entropy, weights[labels[seen]]


def focal(logits, labels, weights, gamma):
    entropy, weight = pixels(logits, labels, weights)
    return (weight * (1 - torch.exp(-entropy)) ** gamma * entropy).sum() / weight.sum()


def top_k(logits, labels, weights, percent):
    entropy, weight = pixels(logits, labels, weights)
    count = max(1, int(len(entropy) * percent / 100))
    chosen = torch.topk(weight * entropy, count).indices
    return (weight * entropy)[chosen].sum() / weight[chosen].sum()


def tversky(logits, labels, alpha, beta):
    seen = (labels != IGNORE).double()
    p = logits.softmax(1) * seen[:, None]
    indices = []
    for c in range(C):
        truth = (labels == c).double()
        hit = (p[:, c] * truth).sum()
        false_positive, false_negative = (p[:, c] * (1 - truth)).sum(), ((1 - p[:, c]) * truth).sum()
        if truth.sum() > 0:
            indices.append(hit / (hit + alpha * false_positive + beta * false_negative))
    return torch.stack(indices).mean()


def show(name, function, *options):
    logits, labels, weights = inputs()
    value = function(logits, labels, *([weights] if function is not tversky else []), *options)
    value.backward()
    picked = ", ".join(f"{logits.grad.flatten()[i].item():.9f}" for i in (0, 17, 63, 119))
    print(f"{name}{options}: {value.item():.9f}, gradient at 0, 17, 63, 119: {picked}")


def compare_with_monai():
    from monai.losses import FocalLoss, TverskyLoss
    logits, labels, _ = inputs()
    every = labels.clone()
    every[every == IGNORE] = 1  # MONAI has no ignored pixels
    one = torch.ones(C, dtype=torch.float64)
    theirs = FocalLoss(gamma=2, to_onehot_y=True, use_softmax=True, reduction="none")(logits, every[:, None]).sum(1).mean().double()
    assert torch.isclose(focal(logits, every, one, 2), theirs, rtol=1e-6), theirs
    theirs = TverskyLoss(softmax=True, to_onehot_y=True, alpha=0.3, beta=0.7, batch=True, smooth_nr=0, smooth_dr=0)(logits, every[:, None]).double()
    assert torch.isclose(1 - tversky(logits, every, 0.3, 0.7), theirs, rtol=1e-6), theirs


if __name__ == "__main__":
    for gamma in (1.0, 2.0, 3.5):
        show("focal", focal, gamma)
    for percent in (10.0, 40.0, 100.0):
        show("top_k", top_k, percent)
    for alpha, beta in ((0.3, 0.7), (0.5, 0.5)):
        show("tversky", tversky, alpha, beta)
    try:
        compare_with_monai()
        print("MONAI agrees")
    except ImportError:
        pass
