PACKAGES = ("torch",)
NOTE = "torch.nn.functional.interpolate, trilinear, from int16"


def resampler(volume):
    import torch
    torch.set_num_threads(1)

    def run():
        voxels = torch.from_numpy(volume).float()[None, None]
        return torch.nn.functional.interpolate(voxels, size=(334, 274, 274), mode="trilinear", align_corners=False)[0, 0].numpy()
    return run
