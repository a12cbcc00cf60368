"""What nnU-Net runs."""
PACKAGES = ("batchgeneratorsv2", "torch")
NOTE = "affine and elastic in one resampling; label by nearest; gamma keeps mean and spread, as nnU-Net's"


def chain():
    import numpy as np
    from batchgeneratorsv2.transforms.intensity.brightness import MultiplicativeBrightnessTransform
    from batchgeneratorsv2.transforms.intensity.contrast import BGContrast, ContrastTransform
    from batchgeneratorsv2.transforms.intensity.gamma import GammaTransform
    from batchgeneratorsv2.transforms.intensity.gaussian_noise import GaussianNoiseTransform
    from batchgeneratorsv2.transforms.spatial.mirroring import MirrorTransform
    from batchgeneratorsv2.transforms.spatial.spatial import SpatialTransform
    from batchgeneratorsv2.transforms.utils.compose import ComposeTransforms
    turn, each = float(np.deg2rad(15)), dict(synchronize_channels=False, p_per_channel=1)
    return ComposeTransforms([
        SpatialTransform((96, 96, 96), patch_center_dist_from_border=0, random_crop=False, p_rotation=1, rotation=(-turn, turn), p_scaling=1,
                         scaling=(.9, 1.1), p_synchronize_scaling_across_axes=1, mode_seg="nearest", p_elastic_deform=1,
                         elastic_deform_scale=(.1, .15), elastic_deform_magnitude=(.03, .06)),
        GaussianNoiseTransform(noise_variance=(.05, .05), p_per_channel=1, synchronize_channels=True),
        MultiplicativeBrightnessTransform(multiplier_range=BGContrast((.8, 1.2)), **each),
        ContrastTransform(contrast_range=BGContrast((.8, 1.2)), preserve_range=True, **each),
        GammaTransform(gamma=BGContrast((.7, 1.5)), p_invert_image=0, p_retain_stats=1, **each),
        MirrorTransform(allowed_axes=(0, 1, 2))])


def augment(patches, labels):
    import torch
    torch.set_num_threads(1)
    steps = chain()

    def one(i):
        image = torch.from_numpy(patches[i])[None]
        out = steps(image=(image.clamp(-160, 240) + 160) / 400, segmentation=torch.from_numpy(labels[i].astype("int16"))[None])
        return out["image"], out["segmentation"]
    return one
