"""The fastest that a package does: nnU-Net's own data and augmentation."""
from pathlib import Path

import volume_stores
from measure import load

PACKAGES = ("blosc2", "batchgeneratorsv2", "torch")
NOTE = "PyTorch DataLoader; float32 HU and int16 label, LZ4HC 5, as nnU-Net lays them out"


def items(context, boxes):
    import torch
    image = volume_stores.blosc2_store(context, "ct", (96, 128, 128), (32, 32, 32), "float32")
    label = volume_stores.blosc2_store(context, "label", (144, 144, 144), (64, 32, 32), "int16")
    steps, opened = load(Path(__file__).parents[1] / "volume_augment/batchgeneratorsv2.py").chain(), []

    def one(i):
        if not opened:  # in the worker: a handle does not survive the fork
            import blosc2
            blosc2.set_nthreads(1)
            opened.extend(blosc2.open(urlpath=str(p), mode="r", dparams={"nthreads": 1}, mmap_mode="r") for p in (image, label))
        where = (slice(0, 1), *boxes[i])
        pixels = torch.from_numpy(opened[0][where]).clamp_(-160, 240).add_(160).div_(400)
        out = steps(image=pixels, segmentation=torch.from_numpy(opened[1][where]))
        return out["image"], out["segmentation"]
    return one, 2, None
