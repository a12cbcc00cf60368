PACKAGES = ("monai", "torch")
NOTE = "Rand3DElasticd with rotation and scale: one resampling; sigma 5 to 7, magnitude 100 to 200"


def chain():
    import monai.transforms as M
    import numpy as np
    keys, turn = ["image", "label"], np.deg2rad(15)
    return M.Compose([
        M.ScaleIntensityRanged("image", a_min=-160, a_max=240, b_min=0, b_max=1, clip=True),
        M.Rand3DElasticd(keys, sigma_range=(5, 7), magnitude_range=(100, 200), prob=1, rotate_range=(turn,) * 3, scale_range=(.1,) * 3,
                         mode=("bilinear", "nearest"), padding_mode="border"),
        M.RandGaussianNoised("image", prob=1, std=.05), M.RandScaleIntensityd("image", factors=.2, prob=1),
        M.RandShiftIntensityd("image", offsets=.1, prob=1), M.RandAdjustContrastd("image", prob=1, gamma=(.7, 1.5)),
        *(M.RandFlipd(keys, prob=.5, spatial_axis=axis) for axis in range(3))])


def augment(patches, labels):
    import torch
    torch.set_num_threads(1)
    steps = chain()

    def one(i):
        out = steps({"image": torch.from_numpy(patches[i])[None], "label": torch.from_numpy(labels[i])[None]})
        return out["image"], out["label"]
    return one
