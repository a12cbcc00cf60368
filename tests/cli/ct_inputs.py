"""CT inputs for tests: real series of samples/ct, changed and written by pydicom, SimpleITK and NumPy; and stores read back by zarr-python."""
import json
from pathlib import Path

import numpy as np
import pydicom
import SimpleITK as sitk
import zarr
from driving import SAMPLES, label_group, version_of

CT = SAMPLES / "ct"
STS = CT / "sts-008/image"
KEY = "a site key for the tests, nowhere else\n"


def dicom_files(folder):
    """CT files of a folder, in order along the normal."""
    found = []
    for path in sorted(Path(folder).iterdir()):
        try:
            header = pydicom.dcmread(path, stop_before_pixels=True)
        except pydicom.errors.InvalidDicomError:
            continue
        if header.Modality == "CT":
            row, column = np.array(header.ImageOrientationPatient, float).reshape(2, 3)
            found.append((np.dot(np.cross(row, column), np.array(header.ImagePositionPatient, float)), str(path)))
    return [path for _, path in sorted(found)]


def sts_slices(count=10):
    return [pydicom.dcmread(path) for path in dicom_files(STS)[:count]]


def save_series(slices, folder, name="{:03}.dcm"):
    folder.mkdir(parents=True, exist_ok=True)
    for i, data in enumerate(slices):
        data.save_as(folder / name.format(i))
    return folder


def new_series(slices, number=None, series="1.2.3.4.5.7", study=None, patient=None):
    """The same pictures as another series."""
    for i, data in enumerate(slices):
        data.SeriesInstanceUID = series
        data.SOPInstanceUID = data.file_meta.MediaStorageSOPInstanceUID = f"{series}.{i + 1}"
        if number is not None:
            data.SeriesNumber = str(number)
        if study:
            data.StudyInstanceUID = study
        if patient:
            data.PatientID = data.PatientName = patient
    return slices


def volume(shape=(12, 20, 24), seed=1):
    """A small CT: noise in a body of 40 HU within air."""
    rng = np.random.default_rng(seed)
    values = np.full(shape, -1000, np.int16)
    inside = tuple(slice(s // 6, s - s // 6) for s in shape)
    values[inside] = rng.integers(20, 60, values[inside].shape)
    return values


def mask(shape=(12, 20, 24), value=1):
    labels = np.zeros(shape, np.uint8)
    labels[tuple(slice(s // 3, s // 2) for s in shape)] = value
    return labels


def write_volume(path, values, spacing=(0.8, 0.9, 2.5), origin=(-10, -20, 30)):
    image = sitk.GetImageFromArray(values)
    image.SetSpacing(spacing)
    image.SetOrigin(origin)
    path.parent.mkdir(parents=True, exist_ok=True)
    sitk.WriteImage(image, str(path))
    return path


def key_file(folder):
    path = folder / "site.key"
    path.write_text(KEY)
    path.chmod(0o600)
    return path


def facts(store):
    """What the current version of a store and its groups say: of all, and of each image."""
    read = lambda path: json.loads(path.read_text())["attributes"]["headrace"]
    version = version_of(store)
    images = {name: {**read(Path(store) / f"images/{name}/zarr.json"), **image["columns"], "labels": sorted(image["labels"])}
              for name, image in sorted(version["images"].items())}
    return {**read(Path(store) / "zarr.json"), "classes": version["classes"], **version["facts"]}, images


def voxels(store, image, level=0):
    return zarr.open_array(str(store), path=f"images/{image}/{level}", mode="r")[:]


def labels(store, image, level=0):
    return zarr.open_array(str(store), path=f"{label_group(store, image)}/{level}", mode="r")[:]
