"""Predictions of CT: the same findings at the same world points whatever the file's format and voxel order, masks on the file's own grid,
lesions against counts made here, and the files for other programs."""
import hashlib
import json
import shutil

import nibabel
import numpy as np
import pydicom
import pytest
import scipy.ndimage
import SimpleITK as sitk
import zarr
from ct_inputs import CT, STS
from driving import headrace, json_of, message_of, rows_of
from predictions import findings_of, tree
from test_voxel_order import as_nifti, itk_image, reoriented

def test_lesions_are_those_of_the_probabilities(predicted_ct):
    group = zarr.open_group(predicted_ct, mode="r")
    classes, probability, lesions = group["labels/classes/0"][:], group["0"][:], group["labels/lesions/0"][:]
    found = findings_of(predicted_ct)["volume"]
    facts = json.loads((predicted_ct / "zarr.json").read_text())["attributes"]["headrace"]["facts"]
    grid = np.array(facts["volume"]["grid"]["affine_lps"]).reshape(4, 4)
    voxel_ml = abs(np.linalg.det(grid[:3, :3])) / 1000
    assert classes.shape == lesions.shape == probability.shape[1:]
    known = classes != 255
    certain = known & (np.abs(probability[1].astype(int) - probability[0]) > 1)  # others may be equal after rounding
    np.testing.assert_array_equal(classes[certain], probability.argmax(0)[certain])
    assert certain.sum() > 0.9 * known.sum() and (classes == 1).any()
    # Air around the patient is left out, whatever the network makes of it; what lies within the skin is not.
    hu = sitk.GetArrayFromImage(itk_image()) if classes.shape == sitk.GetArrayFromImage(itk_image()).shape else None
    assert hu is not None and (classes[hu > -100] != 255).mean() > 0.97 and (probability[:, ~known] == 0).all()
    assert 0.2 < known.mean() < 0.95 and (hu[~known] < -200).mean() > 0.9
    assert found["structures"]["tumour"]["volume_ml"] == pytest.approx((classes == 1).sum() * voxel_ml, rel=1e-4)
    assert len(found["lesions"]) == len(rows_of(predicted_ct / "lesions.csv")) == lesions.max() > 0
    scores = [lesion["score"] for lesion in found["lesions"]]
    assert scores == sorted(scores, reverse=True)
    for number, lesion in enumerate(found["lesions"], 1):
        inside = lesions == number
        assert scipy.ndimage.label(inside, np.ones((3, 3, 3)))[1] == 1
        assert lesion["volume_ml"] == pytest.approx(inside.sum() * voxel_ml, rel=1e-4)
        assert round(lesion["score"] * 255) == pytest.approx(int(probability[1][inside].max()), abs=1)
        z = lesion["diameter_slice_index_z"]
        places = np.argwhere(inside[z]) @ np.diag(np.abs(np.diag(grid))[[1, 0]])
        hull = places if len(places) < 3000 else places[np.unique(np.concatenate([places.argmin(0), places.argmax(0)]))]
        far = max(np.linalg.norm(places - p, axis=1).max() for p in hull)
        assert lesion["longest_axial_diameter_mm"] >= far * (1 - 1e-6)
        assert len(places) >= 3000 or lesion["longest_axial_diameter_mm"] == pytest.approx(far, rel=1e-5)


def test_patients_keep_their_names(ct_run, predicted_ct, tmp_path):
    """By a key beside the results, which only DICOM needs."""
    key = predicted_ct.parent.parent / "out.key"
    assert key.stat().st_mode & 0o777 == 0o600 and len(key.read_text().strip()) >= 16
    assert not list(predicted_ct.parent.rglob("*.key"))
    (tmp_path / "out.key").write_bytes(key.read_bytes())
    headrace("predict", "--run", ct_run, STS, "--out", tmp_path / "out")
    assert tree(tmp_path / "out" / predicted_ct.name) == tree(predicted_ct)
    headrace("predict", "--run", ct_run, CT / "sarcoma/sts-012.nii.gz", "--out", tmp_path / "nifti")
    assert not (tmp_path / "nifti.key").exists()


def world_findings(folder):
    """What is found at which place of the patient, without indices into the file."""
    found = findings_of(folder)["volume"]
    keep = ("score", "volume_ml", "longest_axial_diameter_mm", "perpendicular_axial_diameter_mm", "diameter_end_points_lps_mm", "location", "class")
    return {"lesions": [{key: lesion[key] for key in keep} for lesion in found["lesions"]], "study": found["study"],
            "tumour_ml": found["structures"]["tumour"]["volume_ml"]}


def same_findings(ours, theirs):
    """Equal but for the last digits of millimetres: NIfTI keeps places as float32."""
    assert type(ours) is type(theirs)
    if isinstance(ours, dict):
        assert set(ours) == set(theirs)
        for key, value in ours.items():
            same_findings(value, theirs[key])
    elif isinstance(ours, list):
        assert len(ours) == len(theirs)
        for pair in zip(ours, theirs):
            same_findings(*pair)
    elif isinstance(ours, float):
        assert ours == pytest.approx(theirs, rel=1e-5, abs=2e-3)
    else:
        assert ours == theirs


@pytest.mark.parametrize("codes", ["LPS", "RAS", "SPL"])
def test_voxel_order_does_not_matter(ct_run, predicted_ct, tmp_path, codes):
    scan = reoriented(as_nifti(itk_image()), codes)
    nibabel.save(scan, tmp_path / "scan.nii.gz")
    headrace("predict", "--run", ct_run, tmp_path / "scan.nii.gz", "--out", tmp_path / "out")
    ours = {name: value for name, value in tree(tmp_path / "out/scan").items() if "/c/" in name}
    assert ours == {name: value for name, value in tree(predicted_ct).items() if "/c/" in name}  # every voxel of every map
    same_findings(world_findings(tmp_path / "out/scan"), world_findings(predicted_ct))
    headrace("export", tmp_path / "out", "--as", "nifti,nrrd,nifti-probability", "--out", tmp_path / "files")
    mask = nibabel.load(tmp_path / "files/scan.nii.gz")
    assert mask.shape == scan.shape
    np.testing.assert_allclose(mask.affine, scan.affine, atol=1e-4)
    # The same voxels in the DICOM's own order, by a reader of another kind.
    headrace("export", predicted_ct, "--as", "nifti", "--out", tmp_path / "reference")
    reference = nibabel.load(tmp_path / "reference" / f"{predicted_ct.name}.nii.gz")
    np.testing.assert_array_equal(np.asarray(reoriented(mask, "LPS").dataobj), np.asarray(reoriented(reference, "LPS").dataobj))
    nrrd = sitk.ReadImage(str(tmp_path / "files/scan.seg.nrrd"))
    np.testing.assert_array_equal(sitk.GetArrayFromImage(nrrd).transpose(2, 1, 0), np.asarray(mask.dataobj))
    tumour = nibabel.load(tmp_path / "files/scan.tumour.nii.gz")
    assert ((tumour.get_fdata() > 0.51) <= (np.asarray(mask.dataobj) == 1)).all()


def test_dicom_objects_refer_to_the_series(predicted_ct, tmp_path):
    files = json_of("export", predicted_ct, "--as", "dicom-seg,dicom-seg-fractional,dicom-seg-labelmap,dicom-rtstruct,dicom-sr", "--out", tmp_path)["files"]
    source = pydicom.dcmread(next(STS.glob("*.dcm")), stop_before_pixels=True)
    objects = [pydicom.dcmread(entry["file"]) for entry in files]
    assert {o.Modality for o in objects} == {"SEG", "RTSTRUCT", "SR"} and len(objects) == 6
    for data in objects:
        assert data.StudyInstanceUID == source.StudyInstanceUID and data.PatientID == source.PatientID
        assert data.SeriesInstanceUID != source.SeriesInstanceUID
    again = json_of("export", predicted_ct, "--as", "dicom-seg", "--out", tmp_path / "again")["files"][0]["file"]
    assert open(again, "rb").read() == open(files[0]["file"], "rb").read()


def test_dicom_needs_the_series(ct_run, tmp_path):
    headrace("predict", "--run", ct_run, CT / "sarcoma/sts-012.nii.gz", "--out", tmp_path / "out")
    said = message_of(headrace("export", tmp_path / "out", "--as", "dicom-seg", code=2))
    assert "none of its 0 DICOM series lies on the predicted voxels" in said and "--source" in said


def other_series(files, folder, added):
    """The series again under other UIDs, with other values."""
    folder.mkdir()
    uid = pydicom.uid.generate_uid()
    for number, path in enumerate(sorted(files)):
        data = pydicom.dcmread(path)
        data.SeriesInstanceUID = uid
        data.SOPInstanceUID = data.file_meta.MediaStorageSOPInstanceUID = pydicom.uid.generate_uid()
        if added:
            data.PixelData = (data.pixel_array + added).astype(data.pixel_array.dtype).tobytes()
        data.save_as(folder / f"{number}.dcm")
    return uid


def facts_of(result):
    return json.loads((result / "zarr.json").read_text())["attributes"]["headrace"]["facts"]


def test_a_result_states_the_voxels_that_were_predicted(ct_run, predicted_ct, tmp_path):
    hu = sitk.GetArrayFromImage(itk_image())
    stated = facts_of(predicted_ct)["volume"]["voxels_sha256"]
    assert stated == hashlib.sha256(hu.astype("<i2").tobytes()).hexdigest()
    nibabel.save(reoriented(as_nifti(itk_image()), "SPL"), tmp_path / "scan.nii.gz")
    headrace("predict", "--run", ct_run, tmp_path / "scan.nii.gz", "--out", tmp_path / "out")
    assert facts_of(tmp_path / "out/scan")["volume"]["voxels_sha256"] == stated


def test_dicom_finds_the_series_among_others_of_its_grid(predicted_ct, tmp_path):
    """Another phase or reconstruction has the same grid; the voxels tell which one was predicted, under whatever UIDs."""
    folder = tmp_path / "study"
    folder.mkdir()
    files = list(STS.glob("*.dcm"))
    own, other = other_series(files, folder / "own", 0), other_series(files, folder / "other", 7)
    export = ("export", predicted_ct, "--as", "dicom-rtstruct", "--out", tmp_path, "--source")
    (entry,) = json_of(*export, folder)["files"]
    study = pydicom.dcmread(entry["file"]).ReferencedFrameOfReferenceSequence[0].RTReferencedStudySequence[0]
    assert study.RTReferencedSeriesSequence[0].SeriesInstanceUID == own != other
    said = message_of(headrace(*export, folder / "other", code=2))
    assert "the series that was predicted is not there; 1 of 1 DICOM series on its grid, but with other voxels" in said and "--source" in said
    other_series(files, folder / "copy", 0)
    assert "more than one DICOM series" in message_of(headrace(*export, folder, code=2))


def test_results_of_before_go_by_the_grid(predicted_ct, tmp_path):
    shutil.copytree(predicted_ct, tmp_path / predicted_ct.name)
    text = (predicted_ct / "zarr.json").read_text()
    group = json.loads(text)
    del group["attributes"]["headrace"]["facts"]["volume"]["voxels_sha256"]
    (tmp_path / predicted_ct.name / "zarr.json").write_text(json.dumps(group))
    other_series(STS.glob("*.dcm"), tmp_path / "other", 7)
    headrace("export", tmp_path / predicted_ct.name, "--as", "dicom-rtstruct", "--source", tmp_path / "other", "--out", tmp_path)


def test_builds_of_one_release_share_an_output_folder(predicted_ct):
    said = headrace("--version").stdout.strip()
    assert facts_of(predicted_ct)["code_version"] == said
    assert json.loads((predicted_ct.parent / "predict.json").read_text())["code_version"] == said.split("+")[0]


def test_the_report_states_all_lesions_and_the_flag(ct_run, predicted_ct, tmp_path):
    """Those below the operating point without a segment."""
    shutil.copytree(predicted_ct, tmp_path / predicted_ct.name)
    findings = json.loads((predicted_ct / "findings.json").read_text())
    scores = [lesion["score"] for lesion in findings["volume"]["lesions"]]
    assert len(scores) > 1 and scores[0] > scores[1]
    point = {"threshold": (scores[0] + scores[1]) / 2, "allowed_false_positives_per_scan": 1, "false_positives_per_scan": 0.5,
             "sensitivity": 0.75, "scans": 8, "lesions": 12, "scan_sensitivity": 1, "scan_specificity": None}
    findings["volume"]["study"]["flag"] = {"positive": True, "operating_point": point}
    (tmp_path / predicted_ct.name / "findings.json").write_text(json.dumps(findings))
    files = json_of("export", tmp_path / predicted_ct.name, "--as", "dicom-sr", "--source", STS, "--out", tmp_path)["files"]
    segmentation, report = (pydicom.dcmread(entry["file"]) for entry in files)
    assert [s.SegmentLabel for s in segmentation.SegmentSequence] == [f"Lesion 1 (score {scores[0]:.2f})"]
    parts = {i.ConceptNameCodeSequence[0].CodeMeaning: i.ContentSequence for i in report.ContentSequence if "ContentSequence" in i}
    stated = [float(m.MeasuredValueSequence[0].NumericValue) for group in parts["Imaging Measurements"] for m in group.ContentSequence
              if m.ConceptNameCodeSequence[0].CodeMeaning == "Probability"]
    np.testing.assert_allclose(stated, scores, atol=1e-6)
    lesion, comment = parts["Qualitative Evaluations"]
    assert lesion.ConceptCodeSequence[0].CodeMeaning == "Present"
    assert f"operating point {point['threshold']:.3f}" in comment.TextValue and "75.0 % of 12 lesions in 8 scans" in comment.TextValue
    findings["volume"]["study"]["flag"] = {"positive": False, "operating_point": point | {"threshold": 0.999}}
    (tmp_path / predicted_ct.name / "findings.json").write_text(json.dumps(findings))
    (only,) = json_of("export", tmp_path / predicted_ct.name, "--as", "dicom-sr", "--source", STS, "--out", tmp_path)["files"]
    report = pydicom.dcmread(only["file"])
    parts = {i.ConceptNameCodeSequence[0].CodeMeaning: i.ContentSequence for i in report.ContentSequence if "ContentSequence" in i}
    assert len(parts["Imaging Measurements"]) == len(scores)
    assert parts["Qualitative Evaluations"][0].ConceptCodeSequence[0].CodeMeaning == "Absent"


def test_the_flag_follows_the_runs_validation(ct_run, predicted_ct, tmp_path):
    found = findings_of(predicted_ct)["volume"]
    curve = json.loads((ct_run / "eval.json").read_text())["overall"]["lesion"]["curve"]
    study = found["study"]
    if study["flag"] is None:
        assert study["reason"]
    else:
        point = study["flag"]["operating_point"]
        allowed = [score for fp, _, score in curve if fp <= 1.0]
        assert point["threshold"] == pytest.approx(min(allowed), abs=1e-4)
        assert study["flag"]["positive"] == (study["score"] >= point["threshold"])


def test_slides_and_volumes_are_told_apart(ct_run, tmp_path):
    said = message_of(headrace("predict", "--run", ct_run, CT.parent / "slides/CMU-1-Small-Region.svs", "--out", tmp_path / "out", code=2))
    assert "CMU-1-Small-Region.svs: holds no volume" in said


def test_predicts_and_exports_in_one_call(ct_run, tmp_path):
    options = ["predict", "--run", ct_run, STS, "--out", tmp_path / "out"]
    assert "geojson is for slides" in message_of(headrace(*options, "--as", "nifti,geojson", code=2)) and not (tmp_path / "out").exists()
    made = json_of(*options, "--as", "nifti,dicom-seg,dicom-sr", "--json")
    (image,) = made["images"]
    endings = [file.removeprefix(f"{image['folder']}/{image['id']}") for file in image["files"]]
    assert endings == [".nii.gz", ".seg.dcm", ".lesions.seg.dcm", ".sr.dcm"] and made["files"] == []
    assert nibabel.load(image["files"][0]).get_fdata().any() and pydicom.dcmread(image["files"][1]).Modality == "SEG"
