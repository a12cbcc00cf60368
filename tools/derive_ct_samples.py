"""Makes samples/ct/sarcoma: CT of soft-tissue sarcomas, cut to the tumour and a margin, with the tumour that a physician drew.

Usage: python tools/derive_ct_samples.py IBSI      (needs SimpleITK, numpy; rewrites the files in place)
IBSI is ibsi_validation/ of github.com/theibsi/data_sets@6da9602, whose own cut leaves 5 cm around the tumour. Values are kept as they
are (whole HU), so are spacing and position; only voxels further than the margin from the tumour's box go. Written as int16 NIfTI.
"""
import gzip
import sys
import tempfile
from pathlib import Path

import numpy as np
import SimpleITK as sitk

OUT = Path(__file__).resolve().parent.parent / "samples/ct/sarcoma"
PATIENTS = ("002", "012", "018", "019", "024")
MARGIN_MM = 18


def read_ct(root, patient):
    nifti = root / f"nifti/STS_{patient}/CT_image.nii.gz"
    if nifti.exists():
        return sitk.ReadImage(str(nifti))
    folder = str(root / f"dicom/STS_{patient}/CT/image")
    return sitk.ReadImage(sitk.ImageSeriesReader.GetGDCMSeriesFileNames(folder))


def write(image, path):
    """Without a time in the gzip header, so that the same image is the same bytes."""
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "plain.nii"
        sitk.WriteImage(image, str(plain))
        path.write_bytes(gzip.compress(plain.read_bytes(), 9, mtime=0))


def main():
    root = Path(sys.argv[1])
    OUT.mkdir(exist_ok=True)
    for patient in PATIENTS:
        ct, mask = read_ct(root, patient), sitk.ReadImage(str(root / f"nifti/STS_{patient}/CT_mask.nii.gz"))
        assert ct.GetSize() == mask.GetSize()
        values, tumour = sitk.GetArrayFromImage(ct), sitk.GetArrayFromImage(mask) > 0
        assert (values == np.round(values)).all()
        margin = np.ceil(MARGIN_MM / np.array(ct.GetSpacing())[::-1]).astype(int)
        inside = np.argwhere(tumour)
        low = np.maximum(inside.min(0) - margin, 0)
        high = np.minimum(inside.max(0) + 1 + margin, values.shape)
        cut = [slice(int(a), int(b)) for a, b in zip(low, high)][::-1]
        label = sitk.GetImageFromArray(tumour.astype(np.uint8))
        label.CopyInformation(ct)
        write(sitk.Cast(ct, sitk.sitkInt16)[cut], OUT / f"sts-{patient}.nii.gz")
        write(label[cut], OUT / f"sts-{patient}-gtv.nii.gz")


main()
