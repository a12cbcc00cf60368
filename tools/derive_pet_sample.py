"""Makes samples/ct/sts-008-pet: PET slices through the tumour of samples/ct/sts-008, with the headers that a reader of PET needs.

Usage: python tools/derive_pet_sample.py IBSI      (needs pydicom; rewrites the files in place)
IBSI is ibsi_validation/ of github.com/theibsi/data_sets@6da9602. Pixels are kept as they are, and so is every element of KEPT; all others go.
"""
import sys
from pathlib import Path

import pydicom
from pydicom.dataset import Dataset

OUT = Path(__file__).resolve().parent.parent / "samples/ct/sts-008-pet"
SLICES = range(19, 31)  # of 51; the tumour lies in 16 to 34
KEPT = """SOPClassUID SOPInstanceUID StudyDate SeriesDate AcquisitionDate StudyTime SeriesTime AcquisitionTime Modality PatientName PatientID
PatientWeight PatientIdentityRemoved SliceThickness StudyInstanceUID SeriesInstanceUID SeriesNumber InstanceNumber ImagePositionPatient
ImageOrientationPatient FrameOfReferenceUID SamplesPerPixel PhotometricInterpretation Rows Columns PixelSpacing CorrectedImage BitsAllocated BitsStored
HighBit PixelRepresentation LongitudinalTemporalInformationModified RescaleIntercept RescaleSlope Units SUVType DecayCorrection PixelData""".split()
KEPT_OF_DOSE = ["RadiopharmaceuticalStartTime", "RadionuclideTotalDose", "RadionuclideHalfLife"]


def only(source, keywords):
    kept = Dataset()
    for keyword in keywords:
        kept[keyword] = source[keyword]
    return kept


def main():
    OUT.mkdir(exist_ok=True)
    for path in sorted((Path(sys.argv[1]) / "dicom/STS_008/PET/image").iterdir()):
        source = pydicom.dcmread(path)
        if int(source.InstanceNumber) not in SLICES:
            continue
        slice_ = only(source, KEPT)
        slice_.RadiopharmaceuticalInformationSequence = [only(source.RadiopharmaceuticalInformationSequence[0], KEPT_OF_DOSE)]
        slice_.file_meta, slice_.preamble = source.file_meta, b"\0" * 128
        slice_.save_as(OUT / path.name, enforce_file_format=True)
        assert (pydicom.dcmread(OUT / path.name).pixel_array == source.pixel_array).all()


main()
