"""Six CT patches of 96³, float32 HU and uint8 label → float32 and label, through a whole augmentation chain, on one thread.

  window    [-160, 240] HU to [0, 1], clipped
  affine    rotation ± 15° about each axis, scale 0.9 to 1.1, trilinear, label by nearest, and
  elastic   a smooth random displacement of a few voxels, both in one resampling where the library can
  noise     Gaussian, sigma 0.05
  bright    times 0.8 to 1.2, and contrast 0.8 to 1.2
  gamma     0.7 to 1.5
  flip      each axis with probability 1/2
Every operation is applied to every patch. The elastic models differ between libraries; amplitudes are of one order.
A subject gives augment(patches, labels) → one(i), which returns image and label; random, so shape, spread and labels are checked, not bits.
"""
import numpy as np
from positions import positions

DATA = "volume"
ITEMS, PATCH, SHAPE = 6, 96, (400, 512, 512)
BYTES_PER_ITEM = PATCH**3 * 4


def patches(context):
    """Those six of volume_read's positions that hold the most label."""
    ct, label = (np.load(context.data / f"{name}.npy", mmap_mode="r") for name in ("ct", "label"))
    boxes = [tuple(slice(i, i + PATCH) for i in p) for p in positions(64, SHAPE, (PATCH,) * 3, 404)]
    best = sorted(boxes, key=lambda b: -int((label[b] > 0).sum()))[:ITEMS]
    return np.stack([ct[b] for b in best]).astype(np.float32), np.stack([label[b] for b in best])


def check(image, label):
    image, label = np.asarray(image), np.asarray(label)
    if image.size != PATCH**3 or label.size != PATCH**3 or str(image.dtype) != "float32":
        raise SystemExit(f"expected float32 and label of {PATCH}³, got {image.dtype} {image.shape}, {label.shape}")
    mean, std = float(image.mean()), float(image.std())
    if not (np.isfinite(image).all() and 0 < mean < 1.2 and 0.1 < std < 0.8 and set(np.unique(label)) <= {0, 1, 2}):
        raise SystemExit(f"implausible output: mean {mean}, spread {std}, labels {np.unique(label)}")
    return {"mean": round(mean, 3), "std": round(std, 3)}


def prepare(subject, context):
    if hasattr(subject, "run"):
        return lambda: subject.run(context, ITEMS), subject.checked(context)
    one = subject.augment(*patches(context))
    checked = check(*one(0))

    def run():
        for i in range(ITEMS):
            one(i)

    run()
    return run, checked
