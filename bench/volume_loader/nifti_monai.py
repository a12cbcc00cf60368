"""What most users run: a folder of .nii.gz, four patches from each volume that is opened."""
from pathlib import Path

from measure import load

PACKAGES = ("monai", "nibabel", "torch")
NOTE = "LoadImaged, RandSpatialCropSamplesd with 4 patches a volume, no cache; 8 patches measured for 32"
PATCHES, MADE = 4, 8


def items(context, boxes):
    import monai.transforms as M
    keys = ["image", "label"]
    steps = M.Compose([M.LoadImaged(keys), M.EnsureChannelFirstd(keys),
                       M.RandSpatialCropSamplesd(keys, roi_size=(96,) * 3, num_samples=PATCHES, random_size=False),
                       load(Path(__file__).parents[1] / "volume_augment/monai.py").chain()])
    files = {name: str(context.data / f"{file}.nii.gz") for name, file in zip(keys, ("ct", "label"))}
    return lambda i: steps(dict(files)), 1, flat


def flat(samples):
    """The patches of each item, one after the other, uncollated: their metadata differ."""
    return [{"image": p["image"].as_tensor(), "label": p["label"].as_tensor()} for sample in samples for p in sample]
