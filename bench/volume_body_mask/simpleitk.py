PACKAGES = ("SimpleITK",)
NOTE = "ConnectedComponent, RelabelComponent, BinaryFillhole a slice"


def masker(volume):
    import SimpleITK
    SimpleITK.ProcessObject.SetGlobalDefaultNumberOfThreads(1)
    image = SimpleITK.GetImageFromArray(volume)

    def run():
        body = SimpleITK.RelabelComponent(SimpleITK.ConnectedComponent(image > -300)) == 1
        slices = [SimpleITK.BinaryFillhole(body[:, :, z]) for z in range(body.GetSize()[2])]
        return SimpleITK.GetArrayFromImage(SimpleITK.JoinSeries(slices))
    return run
