"""DICOM series of one study as channels: phases found or named, one frame of reference, structures drawn on any of them, nothing of the patient."""
import shutil

import numpy as np
import pydicom
import pytest
import SimpleITK as sitk
from channel_inputs import PHASES, ZERO, channel, lps
from ct_inputs import CT, STS, facts, key_file, labels, new_series, save_series, sts_slices, voxels
from driving import headrace, json_of, message_of, write_table
from test_volume_phi import assert_nothing_found, plant, unpacked

def dicom_pair(folder, frame=None, start=0, phase="PORTAL VENOUS"):
    """Two series of one study: the second has fewer slices, a part of the rows, and is brighter."""
    first, second = sts_slices(10), new_series(sts_slices(10)[start:], number=77)
    for data in first:
        data.SeriesDescription = "ARTERIAL PHASE"
        data.FrameOfReferenceUID = "1.2.3.9"
        data.StudyInstanceUID = "1.2.3.8"
    for data in second:
        data.SeriesDescription = phase
        data.FrameOfReferenceUID = frame or "1.2.3.9"
        data.StudyInstanceUID = "1.2.3.8"
        pixels = data.pixel_array[8:].copy()
        pixels[pixels > 900] += 40
        data.PixelData = pixels.tobytes()
        data.Rows = pixels.shape[0]
        position = np.array(data.ImagePositionPatient, float)
        column = np.array(data.ImageOrientationPatient, float)[3:]
        data.ImagePositionPatient = [f"{v:.6f}" for v in position + 8 * float(data.PixelSpacing[0]) * column]
    save_series(first, folder / "a")
    save_series(second, folder / "b")
    return folder, int(first[0].SeriesNumber)


def test_dicom_phases_of_one_frame_of_reference(tmp_path):
    folder, _ = dicom_pair(tmp_path / "in", start=2)
    made = json_of("ingest", "volumes", folder, "--channels", PHASES, "--key-file", key_file(tmp_path), "--out", tmp_path / "ct.zarr")
    assert made["images"] == 1
    _, images = facts(tmp_path / "ct.zarr")
    [image] = images
    reader = sitk.ImageSeriesReader()
    series = []
    for name in ("a", "b"):
        reader.SetFileNames(reader.GetGDCMSeriesFileNames(str(folder / name)))
        series.append(reader.Execute())
    np.testing.assert_array_equal(voxels(tmp_path / "ct.zarr", image), lps(series[0]))
    theirs = sitk.GetArrayFromImage(sitk.Resample(series[1], sitk.DICOMOrient(series[0], "LPS"), sitk.Transform(), sitk.sitkLinear, 1e6, sitk.sitkFloat64))
    ours, inside = channel(tmp_path / "ct.zarr", image, 1), theirs < 4e4
    assert 0.5 < inside.mean() < 1 and (ours[~inside] == -1024).all()
    assert np.abs(ours - theirs)[inside].max() <= 0.6
    headrace("verify", tmp_path / "ct.zarr")


def test_dicom_of_another_frame_of_reference_is_refused(tmp_path):
    folder, number = dicom_pair(tmp_path / "in", frame="1.2.3.10")
    for arguments in (["--channels", PHASES], ["--channels", PHASES, "--shared-frame"]):
        said = message_of(headrace("ingest", "volumes", folder, *arguments, "--key-file", key_file(tmp_path), "--out", tmp_path / "ct.zarr", code=1))
        assert "frame of reference" in said and str(folder / "a") in said and str(folder / "b") in said
    rows = [{"file": str(folder), "image": "one", "series": n, "channel": name} for n, name in ((number, "early"), (77, "late"))]
    said = message_of(headrace("ingest", "volumes", folder, "--table", write_table(tmp_path / "t.csv", rows), "--key-file", key_file(tmp_path),
                               "--out", tmp_path / "ct.zarr", code=1))
    assert "frame of reference" in said and "'early'" in said and "'late'" in said and not (tmp_path / "ct.zarr").exists()


def test_series_of_two_patients_are_refused(tmp_path):
    folder, number = dicom_pair(tmp_path / "in")
    for path in (folder / "b").iterdir():
        data = pydicom.dcmread(path)
        data.PatientID = "another"
        del data.FrameOfReferenceUID
        data.save_as(path)
    rows = [{"file": str(folder), "image": "one", "series": n, "channel": name, "case": "p1"} for n, name in ((number, "early"), (77, "late"))]
    said = message_of(headrace("ingest", "volumes", folder, "--table", write_table(tmp_path / "t.csv", rows), "--shared-frame",
                               "--key-file", key_file(tmp_path), "--out", tmp_path / "ct.zarr", code=1))
    assert "of another patient than" in said and "'early'" in said and "'late'" in said


@pytest.mark.parametrize("drawn_on, apart", [("b", False), (None, False), ("b", True), (None, True)])
def test_structures_drawn_on_a_further_channel(tmp_path, drawn_on, apart):
    """By its series, or by the frame of reference alone, which both series share; beside them or in a folder of labels."""
    folder, _ = dicom_pair(tmp_path / "in")
    slices = [pydicom.dcmread(path) for path in sorted((folder / (drawn_on or "a")).iterdir())]
    data = pydicom.dcmread(CT / "sts-008/RS.dcm")
    name = data.StructureSetROISequence[0].ROIName
    data.PatientID = slices[0].PatientID
    frame = data.ReferencedFrameOfReferenceSequence[0]
    data.FrameOfReferenceUID = frame.FrameOfReferenceUID = data.StructureSetROISequence[0].ReferencedFrameOfReferenceUID = "1.2.3.9"
    if drawn_on is None:
        del frame.RTReferencedStudySequence
    else:
        frame.RTReferencedStudySequence[0].RTReferencedSeriesSequence[0].SeriesInstanceUID = slices[0].SeriesInstanceUID
    contours = data.ROIContourSequence[0].ContourSequence
    data.ROIContourSequence[0].ContourSequence = contours[:1]
    points = np.array(contours[0].ContourData, float).reshape(-1, 3)
    points[:, 2] = float(slices[5].ImagePositionPatient[2])
    contours[0].ContourData = [f"{v:.4f}" for v in points.ravel()]
    place = tmp_path / "labels" if apart else folder
    place.mkdir(exist_ok=True)
    data.save_as(place / "RS.dcm")
    command = ["ingest", "volumes", folder, "--channels", PHASES, "--classes", f"background,{name}", "--key-file", key_file(tmp_path)]
    headrace(*command, *(["--labels", place] if apart else []), "--out", tmp_path / "ct.zarr")
    _, images = facts(tmp_path / "ct.zarr")
    [image] = images
    drawn = labels(tmp_path / "ct.zarr", image) == 1
    assert drawn.any() and np.flatnonzero(drawn.any((1, 2))).tolist() == [5]


def test_series_named_in_a_table(tmp_path):
    folder, number = dicom_pair(tmp_path / "in")
    rows = [{"file": str(folder), "image": "one", "series": n, "channel": name} for n, name in ((77, "late"), (number, "early"))]
    rows[0]["case"] = "p1"  # what a row states is compared with what others state, not with the file's patient
    headrace("ingest", "volumes", folder, "--table", write_table(tmp_path / "t.csv", rows), "--key-file", key_file(tmp_path), "--out", tmp_path / "ct.zarr")
    assert json_of("info", tmp_path / "ct.zarr")["channels"] == ["late", "early"]


def test_planted_identifiers_of_both_channels_are_found_nowhere(tmp_path):
    plant(STS, tmp_path / "one")
    parts = []
    for name, phase, series in (("a", "ARTERIAL PHASE", "1.2.3.4.5.6"), ("b", "PORTAL VENOUS", "1.2.3.4.5.7")):
        slices = new_series([pydicom.dcmread(path) for path in sorted((tmp_path / "one").iterdir())], number=len(parts) + 1, series=series)
        for data in slices:
            data.SeriesDescription = f"{phase} {data.PatientName}"
        parts.append(save_series(slices, tmp_path / "in" / name))
    out = tmp_path / "ct.zarr"
    done = headrace("ingest", "volumes", tmp_path / "in", "--channels", PHASES, "--key-file", key_file(tmp_path), "--out", out)
    said = done.stdout + done.stderr + headrace("verify", out).stdout + headrace("info", out).stdout
    assert_nothing_found("output", said.replace(str(tmp_path), "").encode())
    files = [path for path in sorted(out.rglob("*")) if path.is_file()]
    assert any("channels/1/0" in str(path) for path in files)
    for path in files:
        assert_nothing_found("a name", str(path.relative_to(out)).encode())
        for part in unpacked(path.read_bytes()):
            assert_nothing_found(path, part)


def test_two_series_of_one_phase_and_none(tmp_path):
    folder, _ = dicom_pair(tmp_path / "in", phase="ARTERIAL PHASE")
    said = message_of(headrace("ingest", "volumes", folder, "--channels", PHASES, "--key-file", key_file(tmp_path), "--out", tmp_path / "ct.zarr", code=2))
    assert "second channel 'arterial'" in said and "'image' and 'channel'" in said


def test_a_broken_series_is_no_missing_channel(tmp_path):
    folder, _ = dicom_pair(tmp_path / "in")
    for other in ("c", "d"):  # of another study, which is whole
        shutil.copytree(folder / "ab"["cd".index(other)], folder / other)
        for path in (folder / other).iterdir():
            data = pydicom.dcmread(path)
            data.StudyInstanceUID, data.FrameOfReferenceUID = "1.2.3.18", "1.2.3.19"
            data.SeriesInstanceUID = data.SeriesInstanceUID[:-1] + str(9 - int(data.SeriesInstanceUID[-1]))
            data.SOPInstanceUID = data.file_meta.MediaStorageSOPInstanceUID = pydicom.uid.generate_uid(entropy_srcs=[data.SOPInstanceUID])
            data.save_as(path)
    command = ["ingest", "volumes", folder, "--channels", PHASES, "--key-file", key_file(tmp_path), *ZERO, "--out"]
    assert json_of(*command, tmp_path / "whole.zarr")["images"] == 2
    damaged = sorted((folder / "b").iterdir())
    damaged[0].write_bytes(damaged[0].read_bytes()[:1000])
    done = json_of(*command, tmp_path / "ct.zarr")
    [one] = done["left_out"]
    assert done["images"] == 1 and damaged[0].name in one["reason"] and "no channel" not in one["reason"]
    for path in damaged[1:]:  # nothing says of which study it was, so that it may be of this one
        path.unlink()
    done = json_of(*command, tmp_path / "ct2.zarr")
    assert done["images"] == 1 and any("has no channel" in one["reason"] and damaged[0].name in one["reason"] for one in done["left_out"])
