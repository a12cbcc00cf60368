from pathlib import Path

from measure import load

PACKAGES = ("monai", "torchstain", "torchvision", "torch")
NOTE = "affine and elastic in one resample; colour by torchvision, HED jitter by hand in torch"
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def augment(context, patches, reference):
    import monai.transforms as M
    import numpy as np
    import torch
    import torchstain
    from torchvision.transforms import v2
    torch.set_num_threads(context.threads)
    macenko = torchstain.normalizers.MacenkoNormalizer(backend="torch")
    macenko.fit(torch.from_numpy(reference).permute(2, 0, 1))
    inputs = [torch.from_numpy(p).permute(2, 0, 1).contiguous() for p in patches]
    scale = (-0.2, 0.25)
    warp = M.Rand2DElastic(spacing=(24, 24), magnitude_range=(3, 6), prob=1, rotate_range=np.pi, shear_range=(0.087, 0.087),
                           translate_range=(51, 51), scale_range=(scale, scale), padding_mode="reflection")
    hed = load(Path(__file__).with_name("kornia_torchstain.py")).hed_jitter(torch)
    colour = v2.ColorJitter(0.2, 0.2, 0.2, 0.05)
    noise = M.RandGaussianNoise(prob=1, std=0.02)
    normal = M.NormalizeIntensity(subtrahend=np.array(MEAN, np.float32), divisor=np.array(STD, np.float32), channel_wise=True)

    def run():
        x = torch.stack([macenko.normalize(I=i, stains=False)[0].permute(2, 0, 1) for i in inputs]).float().div_(255).clamp_(0, 1)
        x = hed(torch.stack([warp(i).as_tensor() for i in x]))
        return torch.stack([normal(noise(colour(i))).as_tensor() for i in x])
    return run
