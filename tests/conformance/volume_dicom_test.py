"""DICOM CT series against SimpleITK (GDCM), for every real file at hand, and what series can get wrong."""

import copy
import os
import pathlib
import shutil

import numpy as np
import pydicom
import pytest
import SimpleITK as sitk
from pydicom.uid import (
    DeflatedExplicitVRLittleEndian,
    ExplicitVRBigEndian,
    ExplicitVRLittleEndian,
    RLELossless,
    generate_uid,
)
from volume_tool import CT, read, refused, run

EXTRA = os.environ.get("HEADRACE_EXTRA_DATA")  # a folder with more real series: ct/ and odd/
SERIES = [CT / "sts-008" / "image", CT / "liver-3slice", CT / "totalseg-dicom"]
SINGLE = sorted((CT / "transfer-syntaxes").iterdir())
if EXTRA:
    more = pathlib.Path(EXTRA)
    SERIES += [more / "ct/totalseg-dicom/series", more / "ct/crlm-1004", more / "ct/sts-dicom/STS_002/CT/image"]
    SINGLE += sorted((more / "odd/dicom-ts").iterdir())
    SINGLE += [more / "odd/pydicom" / n for n in ("693_J2KR.dcm", "CT_small.dcm", "J2K_pixelrep_mismatch.dcm",
                                                  "bad_sequence.dcm")]


def files_of(folder):
    """In order of position along the normal, by pydicom alone."""
    pictures = []
    for path in sorted(pathlib.Path(folder).iterdir()):
        if path.suffix == ".gz":
            continue
        header = pydicom.dcmread(path, stop_before_pixels=True)
        if header.Modality == "CT":
            row, column = np.array(header.ImageOrientationPatient, float).reshape(2, 3)
            pictures.append((np.dot(np.cross(row, column), np.array(header.ImagePositionPatient, float)), str(path)))
    return [path for _, path in sorted(pictures)]


def itk_series(files):
    reader = sitk.ImageSeriesReader()
    reader.SetFileNames(files)
    return reader.Execute()


def assert_same_as_itk(voxels, facts, image):
    expected = sitk.GetArrayFromImage(image)
    assert voxels.shape == expected.shape
    np.testing.assert_allclose(voxels, expected, rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(facts["spacing_mm_xyz"], image.GetSpacing(), rtol=1e-9)
    np.testing.assert_allclose(facts["origin_lps_mm"], image.GetOrigin(), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(facts["direction"], image.GetDirection(), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("folder", SERIES, ids=str)
def test_real_series_are_as_simpleitk_reads_them(folder, tmp_path):
    voxels, facts = read(tmp_path, "series", folder, 0, "OUT")
    assert_same_as_itk(voxels, facts, itk_series(files_of(folder)))
    assert facts["modality"] == "CT"


@pytest.mark.parametrize("path", SINGLE, ids=lambda p: p.name)
def test_each_transfer_syntax_is_as_simpleitk_reads_it(path, tmp_path):
    voxels, facts = read(tmp_path, "series", path, 0, "OUT")
    image = sitk.ReadImage(str(path))
    np.testing.assert_allclose(voxels, sitk.GetArrayFromImage(image), rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(facts["spacing_mm_xyz"][:2], image.GetSpacing()[:2], rtol=1e-9)
    np.testing.assert_allclose(facts["origin_lps_mm"], image.GetOrigin(), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("folder", SERIES, ids=str)
def test_names_and_order_of_files_do_not_matter(folder, tmp_path):
    files = files_of(folder)
    rng = np.random.default_rng(4)
    for i, path in zip(rng.permutation(len(files)), files):
        sub = tmp_path / "in" / f"d{i % 3}" if pydicom.dcmread(path, stop_before_pixels=True).get("SeriesInstanceUID") \
            else tmp_path / "in"
        sub.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, sub / f"{i:05}")
    expected, facts = read(tmp_path, "series", folder, 0, "OUT")
    voxels, found = read(tmp_path, "series", tmp_path / "in", 0, "OUT")
    np.testing.assert_array_equal(voxels, expected)
    assert found == facts
    (tmp_path / "only").mkdir()
    for path in files:
        shutil.copy(path, tmp_path / "only")
    assert run("scan", tmp_path / "in")["series"] == run("scan", tmp_path / "only")["series"]


def sts_slices(count=12):
    return [pydicom.dcmread(path) for path in files_of(CT / "sts-008" / "image")[:count]]


def save_all(slices, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for i, data in enumerate(slices):
        data.save_as(folder / f"{i:03}")
    return folder


@pytest.mark.parametrize("syntax", [ExplicitVRLittleEndian, ExplicitVRBigEndian,
                                    DeflatedExplicitVRLittleEndian, RLELossless], ids=lambda s: s.name)
def test_re_encoded_series_have_the_same_voxels(syntax, tmp_path):
    slices = sts_slices()
    expected, _ = read(tmp_path, "series", save_all(slices, tmp_path / "plain"), 0, "OUT")
    for data in slices:
        if syntax == RLELossless:
            data.compress(RLELossless, generate_instance_uid=False)
        elif syntax == ExplicitVRBigEndian:
            data.PixelData = data.pixel_array.astype(">i2").tobytes()
            data["PixelData"].VR = "OW"
            data.file_meta.TransferSyntaxUID = syntax
        else:
            data.file_meta.TransferSyntaxUID = syntax
    folder = tmp_path / "coded"
    folder.mkdir()
    for i, data in enumerate(slices):
        big = syntax == ExplicitVRBigEndian
        pydicom.dcmwrite(folder / f"{i}", data, little_endian=not big, implicit_vr=False, force_encoding=True)
    voxels, _ = read(tmp_path, "series", folder, 0, "OUT")
    np.testing.assert_array_equal(voxels, expected)


def test_slope_and_intercept_hold_for_each_slice(tmp_path):
    slices = sts_slices()
    for i, data in enumerate(slices):
        data.RescaleSlope, data.RescaleIntercept = str(1 + 0.5 * i), str(-1024 + i)
    folder = save_all(slices, tmp_path / "in")
    voxels, _ = read(tmp_path, "series", folder, 0, "OUT")
    for i, data in enumerate(slices):
        np.testing.assert_allclose(voxels[i], data.pixel_array * (1 + 0.5 * i) + (-1024 + i), rtol=1e-12)


def test_patients_studies_series_and_other_modalities_in_one_tree(tmp_path):
    shutil.copytree(CT, tmp_path / "in")
    (tmp_path / "in" / "notes.txt").write_text("not DICOM")
    found = run("scan", tmp_path / "in")
    assert found["problems"] == []
    sizes = sorted((s["rows"], s["columns"], s["slices"]) for s in found["series"])
    assert sizes == [(29, 30, 12), (137, 141, 51), (256, 256, 20), (512, 512, 1), (512, 512, 2), (512, 512, 3)]  # copies are one
    assert len({s["patient"] for s in found["series"]}) == 5
    by_series = {s["series"]: s for s in found["series"]}
    assert len(found["labels"]) == 2
    for label in found["labels"]:
        [reference] = label["referenced_series"]
        assert by_series[reference]["patient"] == label["patient"]


def test_several_series_of_a_patient_stay_apart_and_say_their_phase(tmp_path):
    words = ["Abd native 3.0", "Abdomen ARTERIELL 1.5", "CT Abd portal venous", "delay 10 min", "TOPO", "w/o contrast"]
    for number, text in enumerate(words):
        slices = sts_slices(4)
        uid = generate_uid()
        for data in slices:
            data.SeriesInstanceUID, data.SeriesNumber, data.SeriesDescription = uid, number + 1, text
            data.PixelData = (data.pixel_array + np.int16(number)).tobytes()
        save_all(slices, tmp_path / f"{number}")
    found = run("scan", tmp_path)
    assert [s["phase"] for s in found["series"]] == ["native", "arterial", "portal-venous", "delayed", "unknown", "native"]
    assert len({(s["patient"], s["study"]) for s in found["series"]}) == 1
    base, _ = read(tmp_path, "series", tmp_path, 0, "OUT")
    third, _ = read(tmp_path, "series", tmp_path, 2, "OUT")
    np.testing.assert_array_equal(third, base + 2)


def broken(tmp_path, slices, *words, n=0):
    folder = save_all(slices, tmp_path / "in")
    text = refused("series", folder, n, tmp_path / "o.npy")
    for word in words:
        assert word in text, text
    assert "STS_008" not in text and "IBSI" not in text
    shutil.rmtree(folder)


def test_irregular_series_are_refused_in_one_sentence(tmp_path):
    slices = sts_slices()
    broken(tmp_path, slices[:5] + slices[6:], "1 of 12 slices missing", "004", "005")
    broken(tmp_path, slices[:3] + slices[7:], "4 of 12 slices missing")
    twin = copy.deepcopy(slices[4])
    twin.SOPInstanceUID = generate_uid()
    broken(tmp_path, [*slices, twin], "1 slices doubled")
    uneven = [copy.deepcopy(data) for data in slices]
    for data in uneven[6:]:
        data.ImagePositionPatient[2] += 1
    broken(tmp_path, uneven, "unevenly spaced", "3.270 to 4.270 mm")
    tilted = [copy.deepcopy(data) for data in slices]
    for i, data in enumerate(tilted):
        data.ImagePositionPatient[1] += i * 1.19
    broken(tmp_path, tilted, "gantry tilt 20.0 degrees")
    other = [copy.deepcopy(data) for data in slices]
    for data in other:
        data.Modality = "MR"
    broken(tmp_path, other, "modality MR, expected CT")
    alone = copy.deepcopy(slices[0])
    del alone.SliceThickness
    broken(tmp_path, [alone], "single slice", "depth is unknown")


def test_two_series_with_the_same_number_are_a_problem(tmp_path):
    first, second = sts_slices(4), sts_slices(4)
    uid = generate_uid()
    for data in second:
        data.SeriesInstanceUID = uid
    save_all(first, tmp_path / "a")
    save_all(second, tmp_path / "b")
    [problem] = run("scan", tmp_path)["problems"]
    assert "same number" in problem and problem.count(". ") <= 1


def test_truncated_and_broken_files_are_refused(tmp_path):
    path = files_of(CT / "totalseg-dicom")[0]
    whole = pathlib.Path(path).read_bytes()
    for part in (0.9, 0.5, 0.1):
        (tmp_path / "cut").write_bytes(whole[: int(len(whole) * part)])
        text = refused("series", tmp_path / "cut", 0, tmp_path / "o.npy")
        assert "truncated or damaged" in text
    plain = pathlib.Path(files_of(CT / "liver-3slice")[0]).read_bytes()
    for size in (300000, 2000, 500, 200):
        (tmp_path / "cut").write_bytes(plain[:size])
        refused("series", tmp_path / "cut", 0, tmp_path / "o.npy")
    for name in ("jpeg-lossless-sv1.dcm", "jpeg-ls-lossless.dcm"):
        coded = (CT / "transfer-syntaxes" / name).read_bytes()
        (tmp_path / "cut").write_bytes(coded[: len(coded) // 2])
        refused("series", tmp_path / "cut", 0, tmp_path / "o.npy")


def test_a_transfer_syntax_that_is_not_read_is_named(tmp_path):
    for syntax in ("1.2.840.10008.1.2.4.201", "1.2.840.10008.1.2.4.100"):  # high-throughput JPEG 2000, MPEG-2
        data = pydicom.dcmread(files_of(CT / "totalseg-dicom")[0])
        data.file_meta.TransferSyntaxUID = syntax
        pydicom.dcmwrite(tmp_path / "other", data, implicit_vr=False, little_endian=True)
        assert f"transfer syntax {syntax} is not read" in refused("series", tmp_path / "other", 0, tmp_path / "o.npy")


def test_irregular_series_can_be_resampled(tmp_path):
    """A ramp in space stays that ramp: linear interpolation is exact on it."""
    slices = sts_slices(9)
    del slices[4]  # missing
    for i, data in enumerate(slices):
        data.ImagePositionPatient[1] = float(data.ImagePositionPatient[1]) + i * 1.3  # tilted
        if i == 6:
            data.ImagePositionPatient[2] = float(data.ImagePositionPatient[2]) + 0.8  # uneven
    slices.append(copy.deepcopy(slices[2]))  # doubled
    slices[-1].SOPInstanceUID = generate_uid()
    pixel_mm = 0.976562
    for data in slices:
        x0, y0, z0 = map(float, data.ImagePositionPatient)
        y, x = np.mgrid[: data.Rows, : data.Columns]
        ramp = 3 * (x0 + x * pixel_mm) - 2 * (y0 + y * pixel_mm) + 4 * (z0 + 200)
        data.PixelData = np.rint(ramp / 0.1).astype("<i2").tobytes()
        data.RescaleSlope, data.RescaleIntercept = "0.1", "0"
    folder = save_all(slices, tmp_path / "in")
    refused("series", folder, 0, tmp_path / "o.npy")
    voxels, facts = read(tmp_path, "series", folder, 0, "OUT", "resample")
    *faults, filled = facts["notes"]
    for note, words in zip(faults, ("missing", "doubled", "tilt"), strict=True):
        assert words in note and note.endswith(": resampled to 3.27 mm.")
    assert filled.startswith("1 of 9 slices lie where the source has none")
    affine = np.array(facts["affine_lps"]).reshape(4, 4)
    z, y, x = np.meshgrid(*[np.arange(n) for n in voxels.shape], indexing="ij")
    points = np.stack([x, y, z, np.ones_like(x)], -1) @ affine.T
    ramp = 3 * points[..., 0] - 2 * points[..., 1] + 4 * (points[..., 2] + 200)
    # Away from the border, where air comes in.
    inside = (slice(None), slice(15, -15), slice(2, -2))
    np.testing.assert_allclose(voxels[inside], ramp[inside], atol=0.2)
    assert facts["spacing_mm_xyz"][2] == pytest.approx(3.27, abs=1e-3)


def test_identifiers_never_leave_the_reader(tmp_path):
    slices = sts_slices(4)
    planted = {"PatientName": "Mustermann^Erika", "PatientID": "PID4711", "PatientBirthDate": "19500102",
               "StudyDate": "20190203", "ReferringPhysicianName": "Brown^Doc", "InstitutionName": "St Elsewhere",
               "SeriesDescription": "portal Mustermann", "AccessionNumber": "ACC0815", "StudyID": "STUDY99"}
    for data in slices:
        for tag, value in planted.items():
            setattr(data, tag, value)
        data.private_block(0x0011, "SECRET CREATOR", create=True).add_new(1, "LO", "private Erika")
    folder = save_all(slices, tmp_path / "in")
    _, facts = read(tmp_path, "series", folder, 0, "OUT")
    shown = str(run("scan", folder)) + str(facts) + refused("series", folder, 7, tmp_path / "o.npy")
    assert facts["phase"] == "portal-venous"
    uids = [str(slices[0][tag].value) for tag in ("SeriesInstanceUID", "StudyInstanceUID", "FrameOfReferenceUID")]
    for secret in [*planted.values(), "Erika", "Mustermann", "private", "SECRET", *uids]:
        assert secret not in shown


def enhanced(slices):
    """An enhanced multi-frame CT (PS3.3 A.38.1) made of single slices, frames in a scrambled order."""
    first = slices[0]
    data = pydicom.Dataset()
    data.file_meta = pydicom.dataset.FileMetaDataset()
    data.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
    data.file_meta.MediaStorageSOPClassUID = "1.2.840.10008.5.1.4.1.1.2.1"
    data.file_meta.MediaStorageSOPInstanceUID = data.SOPInstanceUID = generate_uid()
    data.SOPClassUID = data.file_meta.MediaStorageSOPClassUID
    for tag in ("Modality", "PatientID", "StudyInstanceUID", "SeriesInstanceUID", "FrameOfReferenceUID", "Rows", "Columns",
                "BitsAllocated", "BitsStored", "HighBit", "PixelRepresentation", "SamplesPerPixel",
                "PhotometricInterpretation", "SeriesNumber"):
        setattr(data, tag, first.get(tag))
    data.NumberOfFrames = len(slices)

    def item(**values):
        ds = pydicom.Dataset()
        for key, value in values.items():
            setattr(ds, key, value)
        return ds

    shared = pydicom.Dataset()
    shared.PixelMeasuresSequence = [item(PixelSpacing=first.PixelSpacing, SliceThickness="3.27")]
    shared.PlaneOrientationSequence = [item(ImageOrientationPatient=first.ImageOrientationPatient)]
    data.SharedFunctionalGroupsSequence = [shared]
    data.PerFrameFunctionalGroupsSequence = []
    for i, single in enumerate(slices):
        frame = pydicom.Dataset()
        frame.PlanePositionSequence = [item(ImagePositionPatient=single.ImagePositionPatient)]
        frame.PixelValueTransformationSequence = [item(RescaleSlope="1", RescaleIntercept=str(-1000 - i), RescaleType="HU")]
        data.PerFrameFunctionalGroupsSequence.append(frame)
    data.PixelData = b"".join(single.PixelData for single in slices)
    return data


def test_an_enhanced_multi_frame_file_is_one_volume(tmp_path):
    slices = sts_slices(8)
    order = np.random.default_rng(2).permutation(8)
    data = enhanced([slices[i] for i in order])
    data.save_as(tmp_path / "enhanced", enforce_file_format=True)
    voxels, facts = read(tmp_path, "series", tmp_path / "enhanced", 0, "OUT")
    for frame, i in enumerate(order):
        np.testing.assert_array_equal(voxels[i], slices[i].pixel_array - 1000.0 - frame)
    np.testing.assert_allclose(facts["origin_lps_mm"], [float(v) for v in slices[0].ImagePositionPatient])
    assert facts["spacing_mm_xyz"][2] == pytest.approx(3.27, abs=1e-3)
    data.compress(RLELossless, generate_instance_uid=False)
    data.save_as(tmp_path / "enhanced", enforce_file_format=True)
    coded, _ = read(tmp_path, "series", tmp_path / "enhanced", 0, "OUT")
    np.testing.assert_array_equal(coded, voxels)
