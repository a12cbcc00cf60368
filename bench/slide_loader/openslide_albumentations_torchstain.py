"""What most users run."""
from pathlib import Path

from measure import load

PACKAGES = ("openslide-python", "albumentations", "torchstain", "torch")
NOTE = "PyTorch DataLoader"
HERE = Path(__file__).parents[1]


def item(context, reference):
    augment = HERE / "path_augment"
    read = load(HERE / "slide_read/openslide.py").reader(context)
    steps = load(augment / "albumentations.py").chain()
    normal = load(augment / "albumentations_torchstain.py").normalizer(reference)

    def one(y, x):
        pixels = read(y, x)
        if (pixels.mean(2) < 215).mean() > 0.05:
            try:
                pixels = normal(pixels)
            except Exception:  # torchstain refuses patches with too little stain in them
                pass
        return steps(image=pixels)["image"]
    return one
