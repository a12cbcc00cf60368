"""The body of a CT of 200×512×512 int16: above -300 HU, largest component, holes filled slice by slice.

A subject gives masker(volume) → f() → array of 0 and 1. Ours also removes the table; the masks must agree in 99 % of the voxels.
"""
import numpy as np

DATA = "volume"
ITEMS, SLICES = 1, 200
BYTES_PER_ITEM = SLICES * 512 * 512 * 2


def reference(volume):
    from scipy import ndimage
    found, _ = ndimage.label(volume > -300)
    counts = np.bincount(found.ravel())
    counts[0] = 0
    body = found == counts.argmax()
    for z in range(len(body)):
        body[z] = ndimage.binary_fill_holes(body[z])
    return body


def check(mask, volume):
    agree = float((np.asarray(mask).astype(bool) == reference(volume)).mean())
    if agree < 0.99:
        raise SystemExit(f"{agree:.3%} of the voxels agree with SciPy's mask")
    return {"agree_with_scipy": round(agree, 5)}


def prepare(subject, context):
    volume = np.ascontiguousarray(np.load(context.data / "ct.npy", mmap_mode="r")[:SLICES])
    if hasattr(subject, "run"):
        return lambda: subject.run(context), check(subject.output(context), volume)
    mask = subject.masker(volume)
    checked = check(mask(), volume)

    def run():
        mask()
    return run, checked
