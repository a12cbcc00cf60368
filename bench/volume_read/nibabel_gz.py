"""What a folder of .nii.gz costs: it is inflated up to the patch."""
import numpy as np
import volume_stores

PACKAGES = ("nibabel",)
NOTE = "dataobj[...] of ct.nii.gz; 2 patches measured for 64"
READS = 2


def stored_mb(context):
    return volume_stores.stored_mb(context.data / "ct.nii.gz")


def reader(context):
    import nibabel
    voxels = nibabel.load(context.data / "ct.nii.gz").dataobj
    return lambda z, y, x: np.asarray(voxels[x:x + 96, y:y + 96, z:z + 96]).transpose(2, 1, 0)
