"""DICOM objects of a prediction: dciodvfy (dicom3tools) accepts them, pydicom, highdicom and SimpleITK find the same voxels in the same place."""
import json
import pathlib
import re
import shutil
import subprocess

import highdicom
import highdicom.seg
import highdicom.sr
import numpy as np
import pydicom
import pytest
import SimpleITK as sitk
from ct_inputs import CT, STS
from driving import ROOT, run_tool
from pydicom.sr._concepts_dict import concepts

SERIES = {"sts-008": STS, "trunk": CT / "organs/trunk"}
SEGMENTS = [(1, "Kidney_left"), (2, "lesion"), (7, "polyp")]  # polyp: nowhere in the map
LESIONS = [
    {"name": "Lesion 1", "segment": 2, "volume_ml": 1.25, "long_axis_mm": 12.5, "short_axis_mm": 8.125,
     "probability": 0.91, "site": "liver", "score": 0.8125},
    {"name": "Lesion 2", "segment": 2, "volume_ml": 0.5, "long_axis_mm": 6, "short_axis_mm": 4},
]
# Below the operating point; the centre is given as a slice.
BELOW = [{"name": "Lesion 3, below", "slice": 3, "volume_ml": 0.25, "long_axis_mm": 5, "short_axis_mm": 3, "probability": 0.25,
          "score": 0.125}]
FLAG = {"positive": True, "text": "Highest score 0.813, operating point 0.300."}
WEIGHTS = "ab" * 32


class Written:
    """The objects of one series, and what they were made from."""

    def __init__(self, folder: pathlib.Path, series: pathlib.Path, nothing: bool = False):
        self.folder = folder
        self.image, self.slices = read_series(series)
        self.source = self.slices[0].filename
        shape = sitk.GetArrayFromImage(self.image).shape
        self.classes = np.zeros(shape, np.uint8) if nothing else draw(shape)
        self.probability = [np.uint8(np.clip(np.float32(self.classes == v) * 200 + 3 * (self.classes > 0), 0, 255))
                            for v, _ in SEGMENTS]
        self.uids = self.write(series, [] if nothing else LESIONS, None if nothing else FLAG)

    def write(self, series, lesions, flag):
        self.classes.tofile(self.folder / "classes.raw")
        segments = []
        for (value, name), probability in zip(SEGMENTS, self.probability):
            probability.tofile(self.folder / f"{value}.raw")
            segments.append({"value": value, "name": name, "probability": str(self.folder / f"{value}.raw")})
        kinds = ["binary", "report", "fractional", "labelmap", "structure-set"]
        request = {"series": str(series), "classes": str(self.folder / "classes.raw"), "segments": segments,
                   "version": "0.1.0", "weights": WEIGHTS, "time": 1700000000,
                   "write": [{"kind": k, "out": self.path(k), "lesions": lesions, "below": self.below() if lesions else [], "flag": flag}
                             for k in kinds]}
        (self.folder / "request.json").write_text(json.dumps(request))
        done = run_tool("dicom_export_tool", self.folder / "request.json")
        return dict(zip(kinds, json.loads(done.stdout)))

    def path(self, kind):
        return str(self.folder / f"{kind}.dcm")

    def below(self):
        """Each with its centre near the middle of its slice."""
        width, height, _ = self.image.GetSize()
        place = lambda z: self.image.TransformContinuousIndexToPhysicalPoint((width / 2, height / 2, z + 0.4))
        return [{**{k: v for k, v in one.items() if k != "slice"}, "centre_lps_mm": place(one["slice"])} for one in BELOW]

    def labels(self):
        """The class map as segment numbers."""
        out = np.zeros_like(self.classes)
        for number, (value, _) in enumerate(SEGMENTS, 1):
            out[self.classes == value] = number
        return out


def read_series(folder):
    headers = [pydicom.dcmread(path, stop_before_pixels=True) for path in sorted(folder.iterdir())]
    headers.sort(key=lambda h: float(h.ImagePositionPatient[2]))  # axial series, upright
    reader = sitk.ImageSeriesReader()
    reader.SetFileNames([h.filename for h in headers])
    return reader.Execute(), headers


def draw(shape):
    """A shell with single holes and parts in it, off the middle, and no class on the first slices."""
    z, y, x = np.indices(shape)
    far = np.sqrt((2 * (z - shape[0] / 2)) ** 2 + (y - shape[1] / 3) ** 2 + (x - shape[2] / 2.5) ** 2)
    random = np.random.default_rng(5)
    classes = np.uint8(far < 30)
    classes[(far < 24) & (random.random(shape) < 0.1)] = 0
    classes[far < 15] = 2
    classes[far < 4] = 255  # not predicted
    classes[:2] = 0
    return classes


@pytest.fixture(scope="module", params=SERIES, ids=str)
def written(request, tmp_path_factory):
    return Written(tmp_path_factory.mktemp(request.param), SERIES[request.param])


@pytest.fixture(scope="module")
def nothing(tmp_path_factory):
    return Written(tmp_path_factory.mktemp("nothing"), SERIES["sts-008"], nothing=True)


def index_to_mm(image):
    return np.array(image.GetDirection()).reshape(3, 3) * image.GetSpacing()


def complaints(path):
    """Errors of dciodvfy; what it says of the module is left out, since objects name theirs."""
    done = subprocess.run(["dciodvfy", path], capture_output=True, text=True, timeout=300)
    lines = (done.stdout + done.stderr).splitlines()
    assert not any("Abort" in line for line in lines), lines
    return {re.sub(r" Module=.*", "", line) for line in lines if line.startswith("Error")}


needs_dciodvfy = pytest.mark.skipif(shutil.which("dciodvfy") is None, reason="not run: dicom3tools is not installed")


@needs_dciodvfy
@pytest.mark.parametrize("kind", ["binary", "fractional", "report", "structure-set"])
def test_dciodvfy_finds_no_more_than_in_the_source(written, kind):
    assert complaints(written.path(kind)) <= complaints(written.source)


@needs_dciodvfy
@pytest.mark.parametrize("kind", ["binary", "fractional", "report", "structure-set"])
def test_dciodvfy_accepts_that_nothing_was_found(nothing, kind):
    assert complaints(nothing.path(kind)) <= complaints(nothing.source)


@pytest.mark.parametrize("kind", ["binary", "labelmap"])
def test_highdicom_reads_equal_voxels_at_the_same_place(written, kind):
    seg = highdicom.seg.segread(written.path(kind))
    pixels = seg.get_pixels_by_source_instance([h.SOPInstanceUID for h in written.slices], combine_segments=True,
                                               assert_missing_frames_are_empty=True)
    np.testing.assert_array_equal(pixels, written.labels())
    volume = seg.get_volume(combine_segments=True, allow_missing_positions=True)
    places = volume.map_indices_to_reference(np.argwhere(volume.array))
    index = np.rint((places - written.image.GetOrigin()) @ np.linalg.inv(index_to_mm(written.image)).T)
    np.testing.assert_allclose(index @ index_to_mm(written.image).T + written.image.GetOrigin(), places, atol=0.02)
    found = np.zeros_like(written.classes)
    found[tuple(index[:, ::-1].astype(int).T)] = volume.array[volume.array > 0]
    np.testing.assert_array_equal(found, written.labels())


def test_highdicom_reads_equal_probabilities(written):
    seg = highdicom.seg.segread(written.path("fractional"))
    pixels = seg.get_pixels_by_source_instance([h.SOPInstanceUID for h in written.slices],
                                               assert_missing_frames_are_empty=True, rescale_fractional=False)
    np.testing.assert_array_equal(pixels, np.stack(written.probability, axis=-1))


def test_frames_hold_something_and_name_their_source(written):
    seg = pydicom.dcmread(written.path("binary"))
    assert seg.pixel_array.reshape(seg.NumberOfFrames, -1).any(axis=1).all()
    assert [s.SegmentLabel for s in seg.SegmentSequence] == [name for _, name in SEGMENTS]
    assert seg.FrameOfReferenceUID == written.slices[0].FrameOfReferenceUID
    position = {h.SOPInstanceUID: h.ImagePositionPatient for h in written.slices}
    for groups in seg.PerFrameFunctionalGroupsSequence:
        source = groups.DerivationImageSequence[0].SourceImageSequence[0].ReferencedSOPInstanceUID
        assert groups.PlanePositionSequence[0].ImagePositionPatient == position[source]


def test_kidney_is_coded_with_its_side(written):
    segment = pydicom.dcmread(written.path("binary")).SegmentSequence[0]
    kind = segment.SegmentedPropertyTypeCodeSequence[0]
    assert (kind.CodeValue, kind.CodingSchemeDesignator, kind.CodeMeaning) == ("64033007", "SCT", "Kidney")
    assert kind.SegmentedPropertyTypeModifierCodeSequence[0].CodeMeaning == "Left"


@pytest.mark.parametrize("kind", ["binary", "fractional", "labelmap", "report", "structure-set"])
def test_objects_say_what_made_them_and_that_it_is_research(written, kind):
    found, source = pydicom.dcmread(written.path(kind)), written.slices[0]
    assert found.SeriesDescription.startswith("RESEARCH USE ONLY")
    equipment = found.ContributingEquipmentSequence[0]
    assert (equipment.Manufacturer, equipment.SoftwareVersions) == ("Headrace", "0.1.0")
    assert WEIGHTS in equipment.ContributionDescription
    assert (found.PatientID, found.StudyInstanceUID) == (source.PatientID, source.StudyInstanceUID)
    assert found.SeriesInstanceUID == written.uids[kind]["series_uid"]
    assert found.SOPInstanceUID == written.uids[kind]["sop_instance_uid"] == found.file_meta.MediaStorageSOPInstanceUID
    assert found.get("ContentDate", found.get("StructureSetDate")) == "20231114"
    assert len({u["series_uid"] for u in written.uids.values()}) == len(written.uids)


def inside(ring, shape):
    """Pixels whose centre is inside a ring (x, y) of pixel indices, by the even-odd rule: crossings left of a centre are counted."""
    crossings = np.zeros((shape[0], shape[1] + 1), np.int64)
    for (x0, y0), (x1, y1) in zip(ring, np.roll(ring, -1, axis=0)):
        assert abs(x0 - x1) < 1e-3 or abs(y0 - y1) < 1e-3  # along the edges of pixels
        rows = np.arange(*sorted((int(np.ceil(y0)), int(np.ceil(y1)))))
        np.add.at(crossings, (rows, int(np.ceil(x0))), 1)
    return np.cumsum(crossings, axis=1)[:, :-1] % 2 == 1


def test_contours_enclose_the_pixels(written):
    structures = pydicom.dcmread(written.path("structure-set"))
    names = {int(r.ROINumber): r.ROIName for r in structures.StructureSetROISequence}
    assert names == {k: name for k, (_, name) in enumerate(SEGMENTS, 1)}
    z_of = {h.SOPInstanceUID: z for z, h in enumerate(written.slices)}
    found = np.zeros_like(written.classes)
    for roi in structures.ROIContourSequence:
        for contour in roi.get("ContourSequence", []):
            points = np.array(contour.ContourData, float).reshape(-1, 3)
            assert contour.ContourGeometricType == "CLOSED_PLANAR" and len(points) == contour.NumberOfContourPoints
            index = (points - written.image.GetOrigin()) @ np.linalg.inv(index_to_mm(written.image)).T
            z = z_of[contour.ContourImageSequence[0].ReferencedSOPInstanceUID]
            np.testing.assert_allclose(index[:, 2], z, atol=0.01)
            mask = inside(index[:, :2], found.shape[1:])
            assert not found[z][mask].any()  # parts do not overlap, so fillers that know no XOR agree
            found[z][mask] = roi.ReferencedROINumber
    np.testing.assert_array_equal(found, written.labels())


def value_of(group, name):
    (item,) = (i for i in group.ContentSequence if i.ConceptNameCodeSequence[0].CodeMeaning == name)
    measured = item.MeasuredValueSequence[0]
    return float(measured.NumericValue), measured.MeasurementUnitsCodeSequence[0].CodeValue


def test_highdicom_reads_the_measurements(written):
    report = highdicom.sr.srread(written.path("report"))
    groups = report.content.get_volumetric_roi_measurement_groups()
    assert [g.tracking_identifier for g in groups] == ["Lesion 1", "Lesion 2"]
    assert len({g.tracking_uid for g in groups}) == 2
    assert groups[0].finding_type.meaning == "Lesion"
    assert [s.value.meaning for s in groups[0].finding_sites] == ["Liver"]
    segment = groups[0].referenced_segment
    assert segment.referenced_sop_instance_uid == written.uids["binary"]["sop_instance_uid"]
    assert segment[0].referenced_segment_numbers == [2]
    assert figures(groups[0]) == {"Volume": (1.25, "ml"), "Long Axis": (12.5, "mm"), "Short Axis": (8.125, "mm"),
                                  "Probability": (0.8125, "{0:1}"), "Certainty of Finding": (91.0, "%")}
    assert not {"Certainty of Finding", "Probability"} & set(figures(groups[1]))


def figures(group):
    return {m.name.meaning: (float(m.value), m.unit.value) for m in group.get_measurements()}


def test_highdicom_reads_what_lies_below_the_operating_point(written):
    """As groups without a segment, which show the slice they lie on."""
    content = highdicom.sr.srread(written.path("report")).content
    (group,) = content.get_image_measurement_groups()
    assert group.tracking_identifier == BELOW[0]["name"] and group.finding_type.meaning == "Lesion"
    assert figures(group) == {"Volume": (0.25, "ml"), "Long Axis": (5, "mm"), "Short Axis": (3, "mm"), "Probability": (0.125, "{0:1}"),
                              "Certainty of Finding": (25.0, "%")}
    assert [s.referenced_sop_instance_uid for s in group.source_images] == [written.slices[BELOW[0]["slice"]].SOPInstanceUID]
    (intent,) = (q for q in group.get_qualitative_evaluations() if q.name.meaning == "Rendering Intent")
    assert intent.value.value == "111151"


def evaluations_of(path):
    (found,) = (i for i in pydicom.dcmread(path).ContentSequence if i.ConceptNameCodeSequence[0].CodeMeaning == "Qualitative Evaluations")
    return found.ContentSequence


def test_the_flag_and_its_operating_point_are_stated(written):
    lesion, comment = evaluations_of(written.path("report"))
    assert (lesion.ConceptNameCodeSequence[0].CodeMeaning, lesion.ConceptCodeSequence[0].CodeValue) == ("Lesion", "52101004")
    assert comment.TextValue == FLAG["text"]


def test_a_study_that_is_not_flagged_may_have_lesions_below(written, tmp_path):
    request = json.loads((written.folder / "request.json").read_text())
    request["write"] = [{"kind": "report", "out": str(tmp_path / "sr.dcm"), "lesions": [], "below": written.below(),
                         "flag": {"positive": False, "text": "Highest score 0.125, operating point 0.300."}}]
    (tmp_path / "request.json").write_text(json.dumps(request))
    run_tool("dicom_export_tool", tmp_path / "request.json")
    lesion, comment = evaluations_of(tmp_path / "sr.dcm")
    assert lesion.ConceptCodeSequence[0].CodeMeaning == "Absent" and "0.300" in comment.TextValue
    content = highdicom.sr.srread(str(tmp_path / "sr.dcm")).content
    assert len(content.get_image_measurement_groups()) == 1 and not content.get_volumetric_roi_measurement_groups()
    if shutil.which("dciodvfy"):
        assert complaints(str(tmp_path / "sr.dcm")) <= complaints(written.source)


def test_pydicom_reads_the_measurements(written):
    report = pydicom.dcmread(written.path("report"))
    (measurements,) = (i for i in report.ContentSequence
                       if i.ConceptNameCodeSequence[0].CodeMeaning == "Imaging Measurements")
    first, _, _ = measurements.ContentSequence
    assert value_of(first, "Volume") == (1.25, "ml")
    texts = {i.ConceptNameCodeSequence[0].CodeMeaning: i.TextValue for i in first.ContentSequence if i.ValueType == "TEXT"}
    assert texts["Algorithm Name"] == "Headrace" and texts["Algorithm Version"] == "0.1.0"
    assert WEIGHTS in texts["Algorithm Parameters"]
    evidence = report.CurrentRequestedProcedureEvidenceSequence[0].ReferencedSeriesSequence
    assert len(evidence[0].ReferencedSOPSequence) == len(written.slices)
    assert evidence[1].ReferencedSOPSequence[0].ReferencedSOPInstanceUID == written.uids["binary"]["sop_instance_uid"]


def test_nothing_found_is_stated(nothing):
    seg = pydicom.dcmread(nothing.path("binary"))
    assert seg.NumberOfFrames == 1 and not seg.pixel_array.any() and len(seg.SegmentSequence) == len(SEGMENTS)
    structures = pydicom.dcmread(nothing.path("structure-set"))
    assert [("ContourSequence" in r) for r in structures.ROIContourSequence] == [False] * len(SEGMENTS)
    (lesion,) = evaluations_of(nothing.path("report"))
    assert lesion.ConceptCodeSequence[0].CodeMeaning == "Absent"


def test_codes_are_those_of_the_standard():
    """Every code of the table stands with this meaning in a list of PS3.16, as pydicom has them."""
    known = {(code, meaning.lower()) for words in concepts["SCT"].values() for code, (meaning, _) in words.items()}
    table = (ROOT / "learn/handover/dicom/segment_codes.cpp").read_text()
    entries = re.findall(r'"(\d{5,})",\s*(?:"SCT",\s*)?"([^"]+)"', table)
    assert len(entries) > 50
    for code, meaning in entries:
        assert (code, meaning.lower()) in known
