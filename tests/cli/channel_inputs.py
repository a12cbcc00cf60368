"""What the tests of channels share: names, how voxels of a channel are read, and the rule for missing ones."""
import numpy as np
import SimpleITK as sitk
import zarr

PHASES = "arterial,portal-venous"
ZERO = ["--on-error", "skip", "--missing-channels", "zero"]


def lps(image):
    """Voxels (z, y, x) in canonical order, as SimpleITK brings them there."""
    return sitk.GetArrayFromImage(sitk.DICOMOrient(image, "LPS")).astype(np.int16)


def channel(store, image, number, level=0):
    group = zarr.open_group(store, mode="r")
    return group[f"images/{image}/{level}" if number == 0 else f"images/{image}/channels/{number}/{level}"][:]
