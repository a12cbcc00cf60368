"""A DICOM Segmentation of a slide that is DICOM: highdicom and pydicom find the class map at its place, dciodvfy no more errors than in the
slide itself."""
import re
import shutil
import subprocess

import highdicom
import numpy as np
import pydicom
import pytest
from driving import SAMPLES, headrace, message_of
from pydicom.uid import generate_uid
from results_by_hand import GLEASON, slide_result

STEP = 3
SPACING = [0.002, 0.0025]  # of level 0, mm between rows and columns
ORIGIN = [20.5, 40.25]


def code(value, scheme, meaning):
    item = pydicom.Dataset()
    item.CodeValue, item.CodingSchemeDesignator, item.CodeMeaning = value, scheme, meaning
    return item


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """A real slide with the identifiers, container, specimen and place that its converter left out."""
    path = tmp_path_factory.mktemp("wsm") / "level0.dcm"
    slide = pydicom.dcmread(SAMPLES / "slides/dicom-camelyon-lowres.dcm")
    slide.FrameOfReferenceUID = generate_uid(entropy_srcs=["frame"])
    slide.SpecificCharacterSet = "ISO_IR 192"
    slide.PatientName, slide.PatientID, slide.PatientBirthDate, slide.PatientSex = "Müller^Ä", "P-1", "", "O"
    slide.StudyDate, slide.StudyTime, slide.StudyID, slide.AccessionNumber = "20260102", "101112", "1", "A-77"
    slide.ReferringPhysicianName, slide.PositionReferenceIndicator = "", "SLIDE_CORNER"
    slide.ContainerIdentifier, slide.IssuerOfTheContainerIdentifierSequence = "C-9", []
    slide.ContainerTypeCodeSequence = [code("433466003", "SCT", "Microscope slide")]
    specimen = pydicom.Dataset()
    specimen.SpecimenIdentifier, specimen.SpecimenUID = "C-9-1", generate_uid(entropy_srcs=["specimen"])
    specimen.IssuerOfTheSpecimenIdentifierSequence, specimen.SpecimenPreparationSequence = [], []
    slide.SpecimenDescriptionSequence = [specimen]
    origin = pydicom.Dataset()
    origin.XOffsetInSlideCoordinateSystem, origin.YOffsetInSlideCoordinateSystem = ORIGIN
    slide.TotalPixelMatrixOriginSequence = [origin]
    slide.ImageOrientationSlide = [0, -1, 0, -1, 0, 0]
    measures = slide.SharedFunctionalGroupsSequence[0].PixelMeasuresSequence[0]
    measures.PixelSpacing, measures.SliceThickness = SPACING, 0.003
    slide.save_as(path)
    return path


@pytest.fixture(scope="module")
def written(source, tmp_path_factory):
    folder, classes = slide_result(tmp_path_factory.mktemp("r") / "r", source, (700, 1152), STEP)
    headrace("export", folder, "--as", "dicom-seg")
    return folder / "slide.seg.dcm", classes, folder


def complaints(path):
    done = subprocess.run(["dciodvfy", path], capture_output=True, text=True, timeout=60)
    lines = (done.stdout + done.stderr).splitlines()
    assert not any("Abort" in line for line in lines), lines
    return {re.sub(r" Module=.*", "", line) for line in lines if line.startswith("Error")}


def test_the_total_pixel_matrix_is_the_class_map(written):
    path, classes, _ = written
    seg = highdicom.seg.segread(path)
    expected = np.where(classes == 255, 0, classes)
    np.testing.assert_array_equal(seg.get_total_pixel_matrix(combine_segments=True), expected)
    assert [s.SegmentLabel for s in seg.SegmentSequence] == GLEASON[1:]
    assert classes.shape == (seg.TotalPixelMatrixRows, seg.TotalPixelMatrixColumns) == (234, 384)
    data = pydicom.dcmread(path)
    frames = data.pixel_array.reshape(-1, 512, 512)
    for frame, group in zip(frames, data.PerFrameFunctionalGroupsSequence):
        place, segment = group.PlanePositionSlideSequence[0], group.SegmentIdentificationSequence[0].ReferencedSegmentNumber
        tile = expected[place.RowPositionInTotalImagePixelMatrix - 1:, place.ColumnPositionInTotalImagePixelMatrix - 1:][:512, :512]
        np.testing.assert_array_equal(frame[:tile.shape[0], :tile.shape[1]], tile == segment)
        assert frame.any() and not frame[tile.shape[0]:].any() and not frame[:, tile.shape[1]:].any()


def test_it_lies_where_the_slide_lies(written, source):
    seg, slide = pydicom.dcmread(written[0]), pydicom.dcmread(source, stop_before_pixels=True)
    for key in ("StudyInstanceUID", "FrameOfReferenceUID", "PositionReferenceIndicator", "PatientName", "PatientID", "AccessionNumber",
                "ContainerIdentifier", "ContainerTypeCodeSequence", "SpecimenDescriptionSequence", "ImageOrientationSlide"):
        assert seg[key].value == slide[key].value, key
    shared = seg.SharedFunctionalGroupsSequence[0]
    assert shared.DerivationImageSequence[0].SourceImageSequence[0].ReferencedSOPInstanceUID == slide.SOPInstanceUID
    series = seg.ReferencedSeriesSequence[0]
    assert series.SeriesInstanceUID == slide.SeriesInstanceUID
    assert series.ReferencedInstanceSequence[0].ReferencedSOPInstanceUID == slide.SOPInstanceUID
    spacing = shared.PixelMeasuresSequence[0].PixelSpacing
    assert list(spacing) == pytest.approx([STEP * s for s in SPACING]) and shared.PixelMeasuresSequence[0].SliceThickness == 0.003
    assert (seg.SegmentationType, seg.DimensionOrganizationType) == ("BINARY", "TILED_SPARSE")
    assert seg.SeriesDescription.startswith("RESEARCH USE ONLY")
    # The centre of the map's pixel (0, 0) is that of the STEP × STEP pixels of level 0 under it: columns run along -y, rows along -x.
    origin = seg.TotalPixelMatrixOriginSequence[0]
    assert float(origin.XOffsetInSlideCoordinateSystem) == pytest.approx(ORIGIN[0] - SPACING[0])
    assert float(origin.YOffsetInSlideCoordinateSystem) == pytest.approx(ORIGIN[1] - SPACING[1])
    to_level0 = highdicom.spatial.PixelToPixelTransformer(
        image_position_from=[float(origin.XOffsetInSlideCoordinateSystem), float(origin.YOffsetInSlideCoordinateSystem), 0],
        image_orientation_from=list(seg.ImageOrientationSlide), pixel_spacing_from=list(spacing),
        image_position_to=[*ORIGIN, 0], image_orientation_to=list(slide.ImageOrientationSlide), pixel_spacing_to=SPACING)
    np.testing.assert_array_equal(to_level0(np.array([[0, 0], [100, 50]])), [[1, 1], [100 * STEP + 1, 50 * STEP + 1]])


def test_it_has_several_tiles_and_places(source, tmp_path):
    """A map finer than the slide: four tiles, those of a class without a pixel left out."""
    folder, classes = slide_result(tmp_path / "r", source, (700, 1152), 1, classes=GLEASON[:3])
    headrace("export", folder, "--as", "dicom-seg", "--out", tmp_path)
    seg = highdicom.seg.segread(tmp_path / "slide.seg.dcm")
    np.testing.assert_array_equal(seg.get_total_pixel_matrix(combine_segments=True), np.where(classes == 255, 0, classes))
    position = {(p.RowPositionInTotalImagePixelMatrix, p.ColumnPositionInTotalImagePixelMatrix): p
                for p in (g.PlanePositionSlideSequence[0] for g in seg.PerFrameFunctionalGroupsSequence)}
    assert len(position) > 2 and seg.NumberOfFrames <= 2 * 2 * 3
    for (row, column), place in position.items():
        assert float(place.XOffsetInSlideCoordinateSystem) == pytest.approx(ORIGIN[0] - (row - 1) * SPACING[0], abs=1e-6)
        assert float(place.YOffsetInSlideCoordinateSystem) == pytest.approx(ORIGIN[1] - (column - 1) * SPACING[1], abs=1e-6)


@pytest.mark.skipif(shutil.which("dciodvfy") is None, reason="not run: dicom3tools is not installed")
def test_dciodvfy_finds_no_more_than_in_the_slide(written, source):
    assert complaints(written[0]) <= complaints(source)


def test_the_same_export_is_the_same_object(written, tmp_path):
    path, _, folder = written
    headrace("export", folder, "--as", "dicom-seg", "--out", tmp_path)
    assert (tmp_path / "slide.seg.dcm").read_bytes() == path.read_bytes()


def test_the_slide_must_be_there_and_be_dicom(written, source, tmp_path):
    folder, plain = written[2], SAMPLES / "slides/CMU-1-Small-Region.svs"
    said = message_of(headrace("export", folder, "--as", "dicom-seg", "--source", plain, "--out", tmp_path, code=2))
    assert "no DICOM slide of 1152x700 pixels there" in said
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        shutil.copy(source, tmp_path / name)
    assert "more than one DICOM slide" in message_of(headrace("export", folder, "--as", "dicom-seg", "--source", tmp_path, "--out", tmp_path, code=2))
    headrace("export", folder, "--as", "dicom-seg", "--source", tmp_path / "a", "--out", tmp_path)
    assert "for volumes" in message_of(headrace("export", folder, "--as", "dicom-rtstruct", "--out", tmp_path, code=2))
