"""Makes samples/ct/organs: the same organs in two patients, one as DICOM and one as NIfTI, for a model that learns on one and is judged on the other.

Usage: python tools/derive_organ_samples.py REFERENCE      (needs pydicom, nibabel, imagecodecs, numpy; rewrites the files in place)
REFERENCE is tests/reference_files/ of github.com/wasserth/TotalSegmentator@0e65a44 (Apache-2.0); the organs are that model's own output.
  trunk/         DICOM, 20 slices: means of 2×2 pixels of example_ct_dicom (1.95×1.95×2 mm), lossless JPEG 2000; the headers hold geometry alone
  trunk.nii.gz   its organs, the value at the first of each 2×2 pixels of example_seg_dicom.nii.gz
  abdomen.nii.gz organs of samples/ct/totalseg-abdomen/ct.nii.gz (axes RAS), from its seg.nii.gz
"""
import gzip
import sys
from pathlib import Path

import imagecodecs
import nibabel
import numpy as np
import pydicom
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.encaps import encapsulate

OUT = Path(__file__).resolve().parent.parent / "samples/ct/organs"
ORGANS = {"liver": (5,), "spleen": (1,), "back_muscles": (86, 87)}  # name → TotalSegmentator's values; 86, 87: autochthon, left and right
UID = "2.25.27415993014120513700"


def organs_of(values):
    labels = np.zeros(values.shape, np.uint8)
    for value, of in enumerate(ORGANS.values(), 1):
        labels[np.isin(values, of)] = value
    return labels


def write_nifti(labels, affine, path):
    """Without a time in the gzip header, so that the same labels are the same bytes."""
    path.write_bytes(gzip.compress(nibabel.Nifti1Image(labels, affine).to_bytes(), 9, mtime=0))


def halved(pixels):
    """The mean of 2×2 pixels, halves rounded up."""
    sums = pixels.astype(np.int64).reshape(pixels.shape[0] // 2, 2, pixels.shape[1] // 2, 2).sum((1, 3))
    return ((sums + 2) // 4).astype(np.uint16)


def write_slice(source, number, path):
    pixels = halved(source.pixel_array)
    spacing = [2 * float(value) for value in source.PixelSpacing]
    row, column = np.array(source.ImageOrientationPatient, float).reshape(2, 3)
    corner = np.array(source.ImagePositionPatient, float) + 0.25 * (row * spacing[1] + column * spacing[0])
    meta = FileMetaDataset()
    meta.MediaStorageSOPClassUID = pydicom.uid.CTImageStorage
    meta.MediaStorageSOPInstanceUID = f"{UID}.3.{number}"
    meta.TransferSyntaxUID = pydicom.uid.JPEG2000Lossless
    slice_ = Dataset()
    slice_.file_meta = meta
    slice_.SOPClassUID, slice_.SOPInstanceUID = meta.MediaStorageSOPClassUID, meta.MediaStorageSOPInstanceUID
    slice_.StudyInstanceUID, slice_.SeriesInstanceUID, slice_.FrameOfReferenceUID = f"{UID}.1", f"{UID}.2", f"{UID}.4"
    slice_.PatientName, slice_.PatientID, slice_.Modality = "", "trunk", "CT"
    slice_.SeriesNumber, slice_.InstanceNumber = 1, source.InstanceNumber
    slice_.ImageOrientationPatient = [float(value) for value in source.ImageOrientationPatient]
    slice_.ImagePositionPatient = [float(value) for value in corner]
    slice_.PixelSpacing, slice_.SliceThickness = spacing, source.SliceThickness
    slice_.Rows, slice_.Columns = pixels.shape
    slice_.SamplesPerPixel, slice_.PhotometricInterpretation, slice_.PixelRepresentation = 1, "MONOCHROME2", 0
    slice_.BitsAllocated, slice_.BitsStored, slice_.HighBit = 16, 12, 11
    slice_.RescaleIntercept, slice_.RescaleSlope, slice_.RescaleType = source.RescaleIntercept, source.RescaleSlope, "HU"
    stream = imagecodecs.jpeg2k_encode(pixels, level=0, reversible=True, codecformat="j2k", bitspersample=12)
    slice_.PixelData = encapsulate([stream])
    slice_.save_as(path, enforce_file_format=True)
    assert (pydicom.dcmread(path).pixel_array == pixels).all()


def main():
    root = Path(sys.argv[1])
    (OUT / "trunk").mkdir(parents=True, exist_ok=True)
    slices = [pydicom.dcmread(path) for path in (root / "example_ct_dicom").iterdir()]
    for number, source in enumerate(sorted(slices, key=lambda s: int(s.InstanceNumber)), 1):
        write_slice(source, number, OUT / f"trunk/{number:02}.dcm")
    labels = nibabel.load(root / "example_seg_dicom.nii.gz")
    affine = labels.affine.copy()
    affine[:3, 3] += 0.5 * affine[:3, 0] + 0.5 * affine[:3, 1]  # centre of the first 2×2 voxels
    affine[:3, :2] *= 2
    write_nifti(organs_of(np.asarray(labels.dataobj)[::2, ::2]), affine, OUT / "trunk.nii.gz")
    labels = nibabel.load(root / "example_seg.nii.gz")
    write_nifti(organs_of(np.asarray(labels.dataobj)), labels.affine, OUT / "abdomen.nii.gz")


main()
