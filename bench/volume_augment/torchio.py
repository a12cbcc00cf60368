PACKAGES = ("torchio", "SimpleITK")
NOTE = "affine, then elastic: two resamplings; 7 control points, 5 mm; it has no brightness and contrast of its own"


def augment(patches, labels):
    import SimpleITK
    import torch
    import torchio
    torch.set_num_threads(1)
    SimpleITK.ProcessObject.SetGlobalDefaultNumberOfThreads(1)
    steps = torchio.Compose([
        torchio.Clamp(-160, 240), torchio.RescaleIntensity(out_min_max=(0, 1), in_min_max=(-160, 240)),
        torchio.RandomAffine(scales=(.9, 1.1), degrees=15, default_pad_value="minimum"),
        torchio.RandomElasticDeformation(num_control_points=7, max_displacement=5), torchio.RandomNoise(std=(.05, .05)),
        torchio.RandomGamma(log_gamma=(-.35, .4)), torchio.RandomFlip(axes=(0, 1, 2), flip_probability=.5)])
    subjects = [torchio.Subject(image=torchio.ScalarImage(tensor=torch.from_numpy(p)[None]),
                                label=torchio.LabelMap(tensor=torch.from_numpy(m)[None])) for p, m in zip(patches, labels)]

    def one(i):
        out = steps(subjects[i])
        return out.image.data, out.label.data
    return one
