PACKAGES = ("kornia", "torchstain", "torch")
NOTE = "a float batch; stain matrix estimated for each patch (torch back end), HED jitter by hand in torch"
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def hed_jitter(torch):
    stains = torch.tensor([[0.65, 0.70, 0.29], [0.07, 0.99, 0.11], [0.27, 0.57, 0.78]])
    stains = stains / stains.norm(dim=1, keepdim=True)
    inverse = torch.linalg.inv(stains)

    def jitter(x):
        n = x.shape[0]
        amounts = torch.einsum("nchw,cs->nshw", -torch.log(x.clamp_min(1 / 255)), inverse)
        scale, shift = (1 + (torch.rand(n, 3, 1, 1) * 2 - 1) * 0.05), (torch.rand(n, 3, 1, 1) * 2 - 1) * 0.05
        return torch.exp(-torch.einsum("nshw,sc->nchw", amounts * scale + shift, stains)).clamp(0, 1)
    return jitter


def augment(context, patches, reference):
    import kornia.augmentation as K
    import torch
    import torchstain
    torch.set_num_threads(context.threads)
    macenko = torchstain.normalizers.MacenkoNormalizer(backend="torch")
    macenko.fit(torch.from_numpy(reference).permute(2, 0, 1))
    inputs = [torch.from_numpy(p).permute(2, 0, 1).contiguous() for p in patches]
    amplitude = 120 * 2 / 512
    steps = [K.RandomAffine(degrees=180.0, translate=(0.1, 0.1), scale=(0.8, 1.25), shear=5.0, padding_mode="reflection", p=1.0),
             K.RandomElasticTransform(kernel_size=(49, 49), sigma=(6.0, 6.0), alpha=(amplitude, amplitude),
                                      padding_mode="reflection", p=1.0),
             hed_jitter(torch), K.ColorJitter(0.2, 0.2, 0.2, 0.05, p=1.0), K.RandomGaussianNoise(std=0.02, p=1.0),
             K.Normalize(mean=torch.tensor(MEAN), std=torch.tensor(STD))]

    def run():
        with torch.inference_mode():
            normal = [macenko.normalize(I=i, stains=False)[0].permute(2, 0, 1) for i in inputs]
            x = torch.stack(normal).float().div_(255).clamp_(0, 1)
            for step in steps:
                x = step(x)
            return x
    return run
