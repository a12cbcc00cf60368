"""What MONAI reaches when the whole set is in memory (CacheDataset)."""
from pathlib import Path

import numpy as np
import volume_stores
from measure import load

PACKAGES = ("monai", "torch")
NOTE = "PyTorch DataLoader; the volume is in memory"


def items(context, boxes):
    import torch
    ct, label = (np.array(volume_stores.volume(context, name)) for name in ("ct", "label"))
    steps = load(Path(__file__).parents[1] / "volume_augment/monai.py").chain()

    def one(i):
        out = steps({"image": torch.from_numpy(ct[boxes[i]].astype(np.float32))[None],
                     "label": torch.from_numpy(np.ascontiguousarray(label[boxes[i]]))[None]})
        return out["image"].as_tensor(), out["label"].as_tensor()
    return one, 2, None
