"""Cohorts whose labels teach more or less."""
import imagecodecs
import nibabel
import numpy as np


def tissue(size=128, seed=0):
    """A stained square on white glass."""
    image = np.full((size, size, 3), 242, np.uint8)
    noise = np.random.default_rng(seed).integers(0, 40, (size // 2, size // 2, 3))
    image[size // 4:3 * size // 4, size // 4:3 * size // 4] = np.array([150, 80, 140]) + noise
    return image


def write_png(path, pixels):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(imagecodecs.png_encode(pixels))


def masks_of(size):
    """By image: a class, background alone, background and ignore."""
    painted = np.zeros((size, size), np.uint8)
    painted[40:60, 50:90] = 1
    partly = np.zeros((size, size), np.uint8)
    partly[:, :10] = 255
    return {"a": painted, "b": np.zeros((size, size), np.uint8), "c": partly}


def slides(folder):
    """Four images, three of them annotated."""
    for number, name in enumerate("abcd"):
        write_png(folder / f"slides/{name}.png", tissue(seed=number))
    for name, mask in masks_of(128).items():
        write_png(folder / f"masks/{name}.png", mask)


def body(size=32, depth=8, seed=0):
    """A body of 40 HU in air."""
    voxels = np.full((size, size, depth), -1000, np.int16)
    voxels[6:-6, 6:-6] = 40 + np.random.default_rng(seed).integers(-10, 10, (size - 12, size - 12, depth))
    return voxels


def volumes(folder):
    """The same of volumes."""
    for part in ("ct", "masks"):
        (folder / part).mkdir()
    for number, name in enumerate("abcd"):
        nibabel.save(nibabel.Nifti1Image(body(seed=number), np.diag([1., 1., 2., 1.])), folder / f"ct/{name}.nii.gz")
    lesion = np.zeros((32, 32, 8), np.uint8)
    lesion[10:14, 10:15, 2:5] = 1
    partly = np.zeros((32, 32, 8), np.uint8)
    partly[:, :, 0] = 255
    for name, mask in {"a": lesion, "b": np.zeros_like(lesion), "c": partly}.items():
        nibabel.save(nibabel.Nifti1Image(mask, np.diag([1., 1., 2., 1.])), folder / f"masks/{name}.nii.gz")
