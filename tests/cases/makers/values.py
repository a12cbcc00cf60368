"""Volumes and slides whose values are not what they should be: lost scales, windows, other modalities, nothing at all."""
import imagecodecs
import numpy as np
import pydicom
import SimpleITK as sitk
from pydicom.dataset import FileDataset, FileMetaDataset
from pydicom.uid import CTImageStorage, ExplicitVRLittleEndian


def phantom(shape=(20, 48, 56), seed=1):
    """HU of a body with fat, muscle, lungs and a spine, in noisy air."""
    rng = np.random.default_rng(seed)
    z, y, x = np.meshgrid(*(np.linspace(-1, 1, size) for size in shape), indexing="ij")
    hu = np.full(shape, -1000.0)
    hu[(y / 0.8) ** 2 + (x / 0.9) ** 2 < 1] = -100
    hu[(y / 0.7) ** 2 + (x / 0.8) ** 2 < 1] = 50
    for side in (-0.4, 0.4):
        hu[(y / 0.4) ** 2 + ((x - side) / 0.25) ** 2 + z**2 < 1] = -850
    hu[(y - 0.5) ** 2 + x**2 < 0.02] = 450
    return np.clip(np.rint(hu + rng.normal(0, 12, shape)), -1024, 3071).astype(np.int16)


def picture_of_mr(shape=(20, 48, 56)):
    """T1 as a scanner stores it: noise in air, fat bright, a bias across."""
    rng = np.random.default_rng(2)
    hu = phantom(shape)
    values = np.select([hu < -500, hu < 0, hu < 200], [0, 900, 420], 120) * np.linspace(0.8, 1.3, shape[2])
    return np.abs(values + rng.normal(0, 12, shape)).astype(np.int16)


def uptake(shape=(20, 48, 56)):
    """SUV with a hot spot."""
    hu = phantom(shape)
    suv = np.select([hu < -500, hu < 0], [0.02, 0.4], 1.3) * np.random.default_rng(3).uniform(0.8, 1.2, shape)
    suv[8:11, 20:24, 20:24] = 14
    return suv.astype(np.float32)


def write(path, values):
    path.parent.mkdir(parents=True, exist_ok=True)
    image = sitk.GetImageFromArray(values)
    image.SetSpacing((2, 2, 3))
    sitk.WriteImage(image, str(path))


def made(kind):
    hu = phantom()
    if kind == "unit":  # clipped to -1000..1000 and scaled, as in challenges of 0 to 1
        return ((np.clip(hu, -1000, 1000) + 1000) / 2000).astype(np.float32)
    if kind == "padded":  # HU + 1024 within the field of view, padding outside of it
        y, x = np.indices(hu.shape[1:])
        values = hu + 1024
        values[:, (y - 24) ** 2 + (x - 28) ** 2 > 27**2] = -2000
        return values
    if kind == "nan":
        values = hu.astype(np.float32)
        values[:, :4] = np.nan
        return values
    if kind == "map":
        return np.where(hu > 200, np.random.default_rng(4).uniform(0.5, 1, hu.shape), 0).astype(np.float32)
    return {
        "hu": lambda: hu,
        "plus1024": lambda: hu + 1024,
        "plus1000": lambda: hu + 1000,
        "raw": lambda: np.clip(hu + 1024, 0, 4095).astype(np.uint16),
        "twice": lambda: (hu - 1024).astype(np.int16),
        "thousandth": lambda: (hu / 1000).astype(np.float32),
        "standardised": lambda: ((hu - hu.mean()) / hu.std()).astype(np.float32),
        "window": lambda: np.clip(hu, -160, 240),
        "brain": lambda: np.clip(hu, 0, 80),
        "bytes": lambda: np.rint((np.clip(hu, -160, 240).astype(float) + 160) * 255 / 400).astype(np.uint8),
        "crop": lambda: np.random.default_rng(5).normal(60, 25, hu.shape).astype(np.int16),
        "mr": picture_of_mr,
        "suv": uptake,
        "becquerel": lambda: uptake() * 2000,
        "counts": lambda: (np.minimum(uptake(), 7) * 40).astype(np.float32),
        "maximum": lambda: (uptake() / uptake().max()).astype(np.float32),
        "negative": lambda: phantom().astype(np.float32) / 10,
        "mask": lambda: (hu > 200).astype(np.uint8),
        "zeros": lambda: np.zeros(hu.shape, np.int16),
        "air": lambda: np.full(hu.shape, -1000, np.int16),
    }[kind]()


def volume(folder, kind, ending=".nii.gz"):
    """One volume `ct/case`, and the HU that it was made of."""
    write(folder / f"ct/case{ending}", made(kind))
    np.save(folder / "hu.npy", phantom())


def several(folder, kinds):
    for kind in kinds:
        write(folder / f"ct/{kind}.nii.gz", made(kind))


def two_patients(folder, cases):
    """One in training, the other in validation, by a table."""
    rows = ["file,image,case,split"]
    for number, (case, split) in enumerate(zip(cases, ("train", "val"))):
        write(folder / f"ct/{number}.nii.gz", phantom(seed=number))
        rows.append(f"{number}.nii.gz,i{number},{case},{split}")
    (folder / "table.csv").write_text("\n".join(rows) + "\n")


def with_pet(folder, kind):
    """A CT and its PET, as channels 0 and 1."""
    write(folder / "ct/case_0000.nii.gz", phantom())
    write(folder / "ct/case_0001.nii.gz", made(kind))


def series(folder, kind, slope=1, intercept=0):
    """A CT series of raw values, with a rescale that a converter has made up."""
    for number, pixels in enumerate(made(kind)):
        meta = FileMetaDataset()
        meta.MediaStorageSOPClassUID, meta.TransferSyntaxUID = CTImageStorage, ExplicitVRLittleEndian
        meta.MediaStorageSOPInstanceUID = f"1.2.826.0.1.3680043.8.498.1.{number + 1}"
        data = FileDataset(None, {}, file_meta=meta, preamble=b"\0" * 128)
        data.SOPClassUID, data.SOPInstanceUID, data.Modality = CTImageStorage, meta.MediaStorageSOPInstanceUID, "CT"
        data.PatientID, data.PatientName = "p", "p"
        data.StudyInstanceUID, data.SeriesInstanceUID = "1.2.826.0.1.3680043.8.498.2", "1.2.826.0.1.3680043.8.498.3"
        data.FrameOfReferenceUID, data.SeriesNumber, data.InstanceNumber = "1.2.826.0.1.3680043.8.498.4", 1, number + 1
        data.ImageType, data.ImageOrientationPatient = ["ORIGINAL", "PRIMARY", "AXIAL"], [1, 0, 0, 0, 1, 0]
        data.ImagePositionPatient, data.PixelSpacing, data.SliceThickness = [0, 0, 3 * number], [2, 2], 3
        data.Rows, data.Columns = pixels.shape
        data.SamplesPerPixel, data.PhotometricInterpretation = 1, "MONOCHROME2"
        data.BitsAllocated, data.BitsStored, data.HighBit, data.PixelRepresentation = 16, 16, 15, 1
        data.RescaleSlope, data.RescaleIntercept, data.RescaleType = slope, intercept, "HU"
        data.PixelData = pixels.astype("<i2").tobytes()
        path = folder / f"ct/{number:03}.dcm"
        path.parent.mkdir(parents=True, exist_ok=True)
        pydicom.dcmwrite(path, data, enforce_file_format=True)


def stained(size=512, seed=6):
    """Tissue with nuclei on white glass, sharp at 1 µm a pixel."""
    rng = np.random.default_rng(seed)
    image = np.full((size, size, 3), 243.0)
    image[64:-64, 64:-64] = (214, 150, 190)
    y, x = np.indices((size, size))
    for cy, cx in rng.integers(80, size - 80, (260, 2)):
        image[(y - cy) ** 2 + (x - cx) ** 2 < 30] = (92, 58, 140)
    return np.clip(image + rng.normal(0, 3, image.shape), 0, 255).astype(np.uint8)


def smoothed(image, sigma=4):
    weights = np.exp(-np.arange(-16, 17) ** 2 / (2 * sigma**2))
    weights /= weights.sum()
    for axis in (0, 1):
        image = np.apply_along_axis(lambda line: np.convolve(np.pad(line, 16, "edge"), weights, "valid"), axis, image)
    return image


def slide(folder, kind):
    image = stained()
    image = {
        "sharp": lambda: image,
        "blurred": lambda: smoothed(image.astype(float)),
        "glass": lambda: np.clip(243 + np.random.default_rng(7).normal(0, 2, image.shape), 0, 255),
        "white": lambda: np.full_like(image, 255),
        "black": lambda: np.zeros_like(image),
        "dark": lambda: 255 - image,
        "fluorescence": lambda: np.stack([0 * image[..., 0], 0 * image[..., 0], np.where(image[..., 0] < 150, 200, 10)], -1),
        "green": lambda: np.where((image < 240).any(-1, keepdims=True), image[..., [0, 2, 1]] // [4, 1, 2], image),
    }[kind]()
    (folder / "slides").mkdir(parents=True, exist_ok=True)
    (folder / "slides/case.png").write_bytes(imagecodecs.png_encode(np.ascontiguousarray(image, np.uint8)))
