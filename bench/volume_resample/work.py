"""A CT of 200×512×512 int16, 2.5×0.8×0.8 mm, resampled to 1.5 mm: 334×274×274, linear, the outer face of the first voxel kept.

A subject gives resampler(volume) → f() → array. The peers take the voxels as they lie, in float32 or int16; ours also smooths where an axis
is reduced by more than 1.5, as here in the plane, so the comparison is of means: within 8 HU of the CT's own.
"""
import numpy as np

DATA = "volume"
ITEMS, SLICES, SPACING_IN, SPACING_OUT, SHAPE_OUT = 1, 200, (2.5, 0.8, 0.8), 1.5, (334, 274, 274)
BYTES_PER_ITEM = SLICES * 512 * 512 * 2


def check(result, volume):
    result = np.asarray(result)
    if any(abs(a - b) > 1 for a, b in zip(result.shape, SHAPE_OUT)):
        raise SystemExit(f"shape {result.shape}, expected {SHAPE_OUT}")
    inner = tuple(slice(n // 8, -n // 8) for n in SHAPE_OUT)
    mean, wanted = float(result[inner].mean(dtype=np.float64)), float(volume[25:-25, 64:-64, 64:-64].mean(dtype=np.float64))
    if abs(mean - wanted) > 8:
        raise SystemExit(f"the mean is {mean} HU, that of the CT {wanted}")
    return {"mean_hu": round(mean, 2)}


def prepare(subject, context):
    volume = np.ascontiguousarray(np.load(context.data / "ct.npy", mmap_mode="r")[:SLICES])
    if hasattr(subject, "run"):
        return lambda: subject.run(context), check(subject.output(context), volume)
    resample = subject.resampler(volume)
    checked = check(resample(), volume)

    def run():
        resample()
    return run, checked
