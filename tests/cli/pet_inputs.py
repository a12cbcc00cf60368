"""PET inputs for tests: the real series of samples/ct/sts-008-pet beside its CT, and what SimpleITK makes of both."""
import shutil

import numpy as np
import pydicom
import SimpleITK as sitk
from ct_inputs import CT, STS, key_file, save_series
from driving import headrace

PET = CT / "sts-008-pet"
NAMED = ["--channels", "CT,PET"]


def pet_slices():
    return [pydicom.dcmread(path) for path in sorted(PET.iterdir())]


def study(folder, *series):
    """The CT and series of PET, as slices; without any the sample's own."""
    shutil.copytree(STS, folder / "ct")
    for i, slices in enumerate(series or [pet_slices()]):
        save_series(slices, folder / f"pet{i}")
    return folder


def ingest(folder, *arguments, code=0, store="ct.zarr"):
    """Ingests in/ of a folder into a store of the folder."""
    return headrace("ingest", "volumes", folder / "in", *arguments, "--key-file", key_file(folder), "--out", folder / store, code=code)


def read_series(folder):
    reader = sitk.ImageSeriesReader()
    reader.SetFileNames(reader.GetGDCMSeriesFileNames(str(folder)))
    return reader.Execute()


def on_grid(moving, fixed, outside=0.0):
    """Linear between voxel centres, on the other one's voxels in canonical order."""
    return sitk.Resample(moving, sitk.DICOMOrient(fixed, "LPS"), sitk.Transform(), sitk.sitkLinear, outside, sitk.sitkFloat64)


def hundredths(values):
    """What is stored of SUV."""
    return np.rint(np.asarray(values, np.float64) * 100).astype(np.int16)
