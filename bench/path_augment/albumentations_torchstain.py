"""The usual choice with Macenko normalisation in front."""
from pathlib import Path

import numpy as np
from measure import load

PACKAGES = ("albumentations", "opencv-python-headless", "torchstain")
NOTE = "stain matrix estimated for each patch (numpy back end)"


def normalizer(reference):
    import torchstain
    macenko = torchstain.normalizers.MacenkoNormalizer(backend="numpy")
    macenko.fit(reference)
    return lambda pixels: macenko.normalize(I=pixels, stains=False)[0].astype(np.uint8)


def augment(context, patches, reference):
    import torch
    torch.set_num_threads(1)
    steps, normal = load(Path(__file__).with_name("albumentations.py")).chain(), normalizer(reference)
    return lambda: torch.stack([steps(image=normal(p))["image"] for p in patches])
