"""Makes the CT that the benchmarks work on: 400×512×512 int16 HU (z, y, x) with the entropy of a real scan, and its label.

A real trunk CT at 3 mm (default: samples/ct/totalseg-abdomen, 122×101×30, mirrored along z to 112 slices) is enlarged by cubic splines to
0.84×0.592×0.715 mm; noise is added, white Gaussian smoothed in the plane by 0.6 pixels and scaled to 18 HU, a usual soft-tissue
kernel at 1 mm; outside the circle of reconstruction -1024; clipped to [-1024, 3071]. PCG64 seed 2026. gzip packs it 2:1, as it does scans.
Label: 1 where the enlarged CT is 20 to 80 HU, 2 above 250 HU.
Writes ct.npy, label.npy, ct.nii.gz, label.nii.gz (gzip 6, x y z order).

Usage: python make_volume.py FOLDER [SOURCE.nii.gz]
"""
import gzip
import os
import sys
from pathlib import Path

import nibabel
import numpy as np
from scipy import ndimage

SAMPLE = Path(__file__).resolve().parent.parent / "samples/ct/totalseg-abdomen/ct.nii.gz"
SHAPE, SPACING_XYZ, SLICES, SEED = (400, 512, 512), (0.715, 0.592, 0.84), 112, 2026


def enlarged(source):
    ct = np.asarray(nibabel.load(source).dataobj).astype(np.float32).transpose(2, 1, 0)
    if len(ct) < SLICES:
        ct = np.pad(ct, ((0, SLICES - len(ct)), (0, 0), (0, 0)), mode="reflect")
    return ndimage.zoom(ct, [n / m for n, m in zip(SHAPE, ct.shape)], order=3, mode="nearest", grid_mode=True)


def noisy(clean):
    rng, (_, height, width) = np.random.Generator(np.random.PCG64(SEED)), SHAPE
    y, x = np.mgrid[0:height, 0:width]
    outside = (y - height / 2 + .5) ** 2 + (x - width / 2 + .5) ** 2 > (width / 2) ** 2
    out = np.empty(SHAPE, np.int16)
    for z in range(SHAPE[0]):
        noise = ndimage.gaussian_filter(rng.standard_normal((height, width), dtype=np.float32), 0.6)
        noise *= 18.0 / noise.std()
        values = np.rint(clean[z] + noise)
        values[outside] = -1024
        out[z] = np.clip(values, -1024, 3071).astype(np.int16)
    return out


def save_nifti(array, path):
    # In the order that our stores have (LPS; NIfTI counts to the right and to the front), so that all subjects read the same box.
    image = nibabel.Nifti1Image(np.asfortranarray(array.transpose(2, 1, 0)), np.diag([-1.0, -1.0, 1.0, 1.0]) @ np.diag([*SPACING_XYZ, 1.0]))
    with gzip.GzipFile(f"{path}.part", "wb", compresslevel=6, mtime=0) as packed:
        packed.write(image.to_bytes())
    os.replace(f"{path}.part", path)


def make(folder, source):
    done = folder / "ct.nii.gz"  # written last
    if done.exists() and nibabel.aff2axcodes(nibabel.load(done).affine) == ("L", "P", "S"):
        return
    clean = enlarged(source)
    label = np.zeros(SHAPE, np.uint8)
    label[(clean > 20) & (clean < 80)] = 1
    label[clean > 250] = 2
    ct = noisy(clean)
    np.save(folder / "ct.npy", ct)
    np.save(folder / "label.npy", label)
    save_nifti(label, folder / "label.nii.gz")
    save_nifti(ct, done)


if __name__ == "__main__":
    make(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else SAMPLE)
