import numpy as np

PACKAGES = ("monai", "torch")
NOTE = "Spacing, bilinear, float32 in; its own grid"


def resampler(volume):
    import torch
    from monai.data import MetaTensor
    from monai.transforms import Spacing
    torch.set_num_threads(1)
    resample = Spacing(pixdim=(1.5,) * 3, mode="bilinear", padding_mode="border")
    voxels = MetaTensor(torch.from_numpy(volume.astype(np.float32))[None], affine=torch.from_numpy(np.diag([2.5, 0.8, 0.8, 1.0])))
    return lambda: np.asarray(resample(voxels)[0])
