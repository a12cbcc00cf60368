"""DICOM SEG and RTSTRUCT against the same labels as voxels, by others: dcmqi's NRRD and the IBSI's mask."""

import copy

import numpy as np
import pydicom
import pytest
import SimpleITK as sitk
from pydicom.uid import ExplicitVRLittleEndian
from volume_tool import CT, read, refused

STS, LIVER = CT / "sts-008", CT / "liver-3slice"


def truth(path):
    return sitk.GetArrayFromImage(sitk.ReadImage(str(path)))


def test_a_structure_set_fills_to_the_ibsi_mask(tmp_path):
    voxels, facts = read(tmp_path, "dicom-labels", STS / "RS.dcm", STS / "image", 0, "OUT")
    assert facts["names"] == ["background", "GTV_Mass_CT"]
    np.testing.assert_array_equal(voxels, truth(STS / "mask.nii.gz"))  # Dice 1: every one of 8,862 voxels
    assert voxels.sum() == 8862


def test_a_contour_within_a_contour_is_a_hole(tmp_path):
    data = pydicom.dcmread(STS / "RS.dcm")
    contours = data.ROIContourSequence[0].ContourSequence
    outer = max(contours, key=lambda c: len(c.ContourData))
    points = np.array(outer.ContourData, float).reshape(-1, 3)
    inner = pydicom.Dataset()
    inner.ContourGeometricType = "CLOSED_PLANAR"
    middle = points.mean(0)
    small = middle + (points - middle) * [0.4, 0.4, 1]
    inner.ContourData = [f"{v:.3f}" for v in small[::-1].ravel()]  # the other way round
    inner.NumberOfContourPoints = len(small)
    contours.append(inner)
    data.save_as(tmp_path / "hole.dcm")
    voxels, _ = read(tmp_path, "dicom-labels", tmp_path / "hole.dcm", STS / "image", 0, "OUT")
    full = truth(STS / "mask.nii.gz")
    # The hole once more, by casting a ray from every voxel.
    image = sitk.ReadImage(str(STS / "mask.nii.gz"))
    z = round(image.TransformPhysicalPointToContinuousIndex(tuple(middle))[2])
    outline = np.array([image.TransformPhysicalPointToContinuousIndex(tuple(p))[:2] for p in small])

    y, x = np.mgrid[: full.shape[1], : full.shape[2]]
    hole = np.zeros(full.shape[1:], bool)
    for (x1, y1), (x2, y2) in zip(outline, np.roll(outline, -1, 0)):
        if y1 != y2:
            hole ^= ((y1 > y) != (y2 > y)) & (x < (x2 - x1) * (y - y1) / (y2 - y1) + x1)
    assert hole.sum() > 20
    np.testing.assert_array_equal(voxels[z], full[z] * ~hole)
    np.testing.assert_array_equal(np.delete(voxels, z, 0), np.delete(full, z, 0))


def test_a_bit_packed_segmentation_is_dcmqis(tmp_path):
    voxels, facts = read(tmp_path, "dicom-labels", LIVER / "liver_seg.dcm", LIVER, 0, "OUT")
    assert facts == {"names": ["background", "Liver"], "notes": []}
    np.testing.assert_array_equal(voxels, truth(LIVER / "liver_seg.nii.gz"))


def segmentation(kind, frames):
    """The liver's SEG with other pixels: kind FRACTIONAL or LABELMAP, one byte a voxel."""
    data = pydicom.dcmread(LIVER / "liver_seg.dcm")
    data.SegmentationType = kind
    data.BitsAllocated, data.BitsStored, data.HighBit = 8, 8, 7
    if kind == "FRACTIONAL":
        data.SegmentationFractionalType, data.MaximumFractionalValue = "PROBABILITY", 200
    data.PixelData = frames.astype(np.uint8).tobytes()
    data.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
    data["PixelData"].VR = "OB"
    return data


def test_fractional_counts_from_half_and_label_maps_name_their_segments(tmp_path):
    liver = truth(LIVER / "liver_seg.nii.gz")
    rng = np.random.default_rng(3)
    fractions = np.where(liver > 0, rng.integers(100, 201, liver.shape), rng.integers(0, 100, liver.shape))
    segmentation("FRACTIONAL", fractions).save_as(tmp_path / "f.dcm")
    voxels, _ = read(tmp_path, "dicom-labels", tmp_path / "f.dcm", LIVER, 0, "OUT")
    np.testing.assert_array_equal(voxels, liver)
    data = segmentation("LABELMAP", liver * 7)
    data.SegmentSequence[0].SegmentNumber = 7
    data.save_as(tmp_path / "l.dcm")
    voxels, facts = read(tmp_path, "dicom-labels", tmp_path / "l.dcm", LIVER, 0, "OUT")
    np.testing.assert_array_equal(voxels, liver)
    assert facts["names"] == ["background", "Liver"]
    segmentation("LABELMAP", liver * 9).save_as(tmp_path / "l.dcm")
    assert "segment 9" in refused("dicom-labels", tmp_path / "l.dcm", LIVER, 0, tmp_path / "o.npy")


def test_frames_in_any_order_and_turned_over_find_their_place(tmp_path):
    data = pydicom.dcmread(LIVER / "liver_seg.dcm")
    bits = np.unpackbits(np.frombuffer(data.PixelData, np.uint8), bitorder="little")
    frames = bits[: 3 * 512 * 512].reshape(3, 512, 512)
    groups = list(data.PerFrameFunctionalGroupsSequence)
    data.PerFrameFunctionalGroupsSequence = [groups[i] for i in (2, 0, 1)]
    shared = data.SharedFunctionalGroupsSequence[0]
    spacing = float(shared.PixelMeasuresSequence[0].PixelSpacing[0])
    shared.PlaneOrientationSequence[0].ImageOrientationPatient = [-1, 0, 0, 0, 1, 0]
    for group in groups:
        place = group.PlanePositionSequence[0].ImagePositionPatient
        place[0] = f"{float(place[0]) + 511 * spacing:.6f}"
    data.PixelData = np.packbits(frames[[2, 0, 1], :, ::-1].ravel(), bitorder="little").tobytes()
    data.save_as(tmp_path / "turned.dcm")
    voxels, _ = read(tmp_path, "dicom-labels", tmp_path / "turned.dcm", LIVER, 0, "OUT")
    np.testing.assert_array_equal(voxels, truth(LIVER / "liver_seg.nii.gz"))


def test_overlapping_segments_are_noted(tmp_path):
    data = pydicom.dcmread(LIVER / "liver_seg.dcm")
    second = copy.deepcopy(data.SegmentSequence[0])
    second.SegmentNumber, second.SegmentLabel = 2, "Lesion"
    data.SegmentSequence.append(second)
    groups = data.PerFrameFunctionalGroupsSequence
    extra = copy.deepcopy(groups[0])
    identification = pydicom.Dataset()
    identification.ReferencedSegmentNumber = 2
    extra.SegmentIdentificationSequence = [identification]
    groups.append(extra)
    data.NumberOfFrames = 4
    data.PixelData = data.PixelData + data.PixelData[: 512 * 512 // 8]
    data.save_as(tmp_path / "two.dcm")
    voxels, facts = read(tmp_path, "dicom-labels", tmp_path / "two.dcm", LIVER, 0, "OUT")
    liver = truth(LIVER / "liver_seg.nii.gz")
    expected = liver.astype(int)
    expected[0] *= 2
    np.testing.assert_array_equal(voxels, expected)
    assert facts["names"] == ["background", "Liver", "Lesion"]
    assert f"overlap in {liver[0].sum()} voxels" in facts["notes"][0]


@pytest.mark.parametrize("labels,image,words", [
    (STS / "RS.dcm", LIVER, "belongs to another series"),
    (LIVER / "liver_seg.dcm", STS / "image", "Image: 141x137x51"),
])
def test_labels_of_another_series_are_refused(labels, image, words, tmp_path):
    assert words in refused("dicom-labels", labels, image, 0, tmp_path / "o.npy")


def test_truncated_labels_are_refused(tmp_path):
    for path, image in ((STS / "RS.dcm", STS / "image"), (LIVER / "liver_seg.dcm", LIVER)):
        whole = path.read_bytes()
        (tmp_path / "cut.dcm").write_bytes(whole[: len(whole) * 2 // 3])
        refused("dicom-labels", tmp_path / "cut.dcm", image, 0, tmp_path / "o.npy")
