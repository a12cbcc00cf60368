PACKAGES = ("SimpleITK",)
NOTE = "Resample, sitkLinear, float32 out; -1024 outside"


def resampler(volume):
    import SimpleITK
    SimpleITK.ProcessObject.SetGlobalDefaultNumberOfThreads(1)
    image = SimpleITK.GetImageFromArray(volume)
    image.SetSpacing((0.8, 0.8, 2.5))
    origin = [0.5 * (1.5 - s) for s in (0.8, 0.8, 2.5)]

    def run():
        out = SimpleITK.Resample(image, (274, 274, 334), SimpleITK.Transform(), SimpleITK.sitkLinear, origin, (1.5,) * 3,
                                 image.GetDirection(), -1024, SimpleITK.sitkFloat32)
        return SimpleITK.GetArrayFromImage(out)
    return run
