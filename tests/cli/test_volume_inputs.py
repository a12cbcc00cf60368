"""Which volumes are ingested, what they are called, and what is known of them; and that the store has SimpleITK's voxels, whatever the files are called."""
import json
import shutil

import numpy as np
import pydicom
import pytest
import SimpleITK as sitk
from ct_inputs import (CT, STS, dicom_files, facts, key_file, labels, mask, new_series, save_series, sts_slices, volume, voxels, write_volume)
from driving import headrace, json_of, write_table

UNREAD = "image a: a note that can't be read: of a newer version, or damaged"


@pytest.fixture()
def ingest(tmp_path):
    def run(*arguments, name="out"):
        result = json_of("ingest", "volumes", *arguments, "--out", tmp_path / f"{name}.zarr", "--key-file", key_file(tmp_path))
        root, images = facts(tmp_path / f"{name}.zarr")
        return tmp_path / f"{name}.zarr", root, images, result
    return run


def assert_as_simpleitk(store, image, expected):
    _, images = facts(store)
    expected = sitk.DICOMOrient(expected, "LPS")
    np.testing.assert_array_equal(voxels(store, image), sitk.GetArrayFromImage(expected))
    affine = np.array(images[image]["affine_lps"]).reshape(4, 4)
    direction = np.array(expected.GetDirection()).reshape(3, 3)
    # Spacing is the shortest decimal of its float32.
    np.testing.assert_allclose(affine[:3, :3], direction * np.array(expected.GetSpacing()), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(affine[:3, 3], expected.GetOrigin(), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(images[image]["spacing_mm"], expected.GetSpacing()[::-1], rtol=1e-7)
    point = [3.25, 7.5, 1.0]
    np.testing.assert_allclose(affine[:3, :3] @ point + affine[:3, 3], expected.TransformContinuousIndexToPhysicalPoint(point), atol=1e-5)


def itk_series(files):
    reader = sitk.ImageSeriesReader()
    reader.SetFileNames(files)
    return reader.Execute()


@pytest.mark.parametrize("sample", ["sts-008/image", "totalseg-dicom", "liver-3slice"])
def test_shuffled_and_renamed_series_are_as_simpleitk_reads_them(ingest, tmp_path, sample):
    files = dicom_files(CT / sample)
    rng = np.random.default_rng(3)
    named = bool(pydicom.dcmread(files[0], stop_before_pixels=True).get("SeriesInstanceUID"))
    for name in ("plain", "mixed"):
        for i, path in zip(rng.permutation(len(files)), files):
            folder = tmp_path / name / (f"d{i % 3}" if named and name == "mixed" else "d")
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, folder / (f"{i:05}" if name == "mixed" else path.rsplit("/", 1)[1]))
    store, _, images, result = ingest(tmp_path / "mixed", name="mixed")
    _, _, expected_images, expected_result = ingest(tmp_path / "plain", name="plain")
    [image] = images
    assert_as_simpleitk(store, image, itk_series(files))
    assert images == expected_images and result["dataset_hash"] == expected_result["dataset_hash"]
    assert len(image) == 21 and images[image]["case"] == image[:12] and images[image]["source"]["format"] == "DICOM"


@pytest.mark.parametrize("path", sorted((CT / "transfer-syntaxes").iterdir()), ids=lambda p: p.name)
def test_compressed_slices_are_as_simpleitk_reads_them(ingest, path):
    store, _, images, _ = ingest(path)
    [image] = images
    expected = sitk.ReadImage(str(path))
    np.testing.assert_array_equal(voxels(store, image), sitk.GetArrayFromImage(expected))


@pytest.mark.parametrize("ending", [".nii", ".nii.gz", ".nrrd", ".mha"])
def test_files_are_as_simpleitk_reads_them(ingest, tmp_path, ending):
    expected = sitk.ReadImage(str(CT / "totalseg-abdomen/ct.nii.gz"))
    path = tmp_path / f"case{ending}"
    sitk.WriteImage(expected, str(path))
    store, root, images, _ = ingest(path)
    assert list(images) == ["case"] and root["classes"] == []
    assert_as_simpleitk(store, "case", sitk.ReadImage(str(path)))


def test_patients_series_and_modalities_in_one_tree(ingest, tmp_path):
    """Two patients; one has an arterial and a venous series, a scout and an MR series beside them."""
    tree = tmp_path / "tree"
    shutil.copytree(STS, tree / "a")
    venous = new_series(sts_slices(20), number=5, series="1.2.3.1")
    for data in venous:
        data.SeriesDescription = "Abdomen portal venous 3.0"
    save_series(venous, tree / "a", "v{:03}")
    scout = new_series(sts_slices(1), number=1, series="1.2.3.2")
    scout[0].ImageType = ["ORIGINAL", "PRIMARY", "LOCALIZER"]
    save_series(scout, tree / "a", "s{:03}")
    mr = new_series(sts_slices(5), number=7, series="1.2.3.3")
    for data in mr:
        data.Modality = "MR"
    save_series(mr, tree / "b", "m{:03}")
    save_series(new_series(sts_slices(8), number=2, series="1.2.3.4", study="1.2.9", patient="SOMEBODY"), tree / "b", "o{:03}")
    (tree / "readme.txt").write_text("not DICOM")
    _, root, images, result = ingest(tree)
    assert sorted((i["phase"], i["levels"][0][0]) for i in images.values()) == [("portal-venous", 20), ("unknown", 8), ("unknown", 51)]
    assert len({i["case"] for i in images.values()}) == 2 and len({i["split"] for i in images.values() if i["levels"][0][0] != 8}) == 1
    assert result["skipped"] == 2 and any("1 series of modality MR, 1 scout left out" in note for note in result["notes"])
    assert root["classes"] == []


def test_series_with_one_number_are_told_apart_by_their_folders(ingest, tmp_path):
    save_series(sts_slices(), tmp_path / "in/a")
    save_series(new_series(sts_slices(6)), tmp_path / "in/b")
    table = write_table(tmp_path / "cases.csv", [{"file": "in/a", "image": "p1-a", "case": "p1", "phase": "native", "split": "test"},
                                                 {"file": "in/b", "image": "p1-b", "case": "p1", "phase": "delayed", "split": ""}])
    _, _, images, _ = ingest(tmp_path / "in", "--table", table)
    assert {k: (i["case"], i["phase"], i["split"], i["levels"][0][0]) for k, i in images.items()} == {
        "p1-a": ("p1", "native", "test", 10), "p1-b": ("p1", "delayed", "test", 6)}


def test_a_table_takes_a_series_by_its_number(ingest, tmp_path):
    save_series(new_series(sts_slices(), number=3, series="1.2.3.1"), tmp_path / "in", "a{:03}")
    save_series(new_series(sts_slices(6), number=4), tmp_path / "in", "b{:03}")
    table = write_table(tmp_path / "cases.csv", [{"file": "in", "series": 4, "image": "late", "case": "p1", "cohort": "Site A"}])
    _, _, images, _ = ingest(tmp_path / "in", "--table", table)
    assert list(images) == ["late"] and images["late"]["levels"][0][0] == 6 and images["late"]["cohort"] == "Site A"


def test_dicom_segmentations_and_structures_become_classes(ingest, tmp_path):
    folder = tmp_path / "in"
    shutil.copytree(STS, folder / "sts")
    shutil.copy(CT / "sts-008/RS.dcm", folder / "0.dcm")
    (folder / "liver").mkdir()
    for path in (CT / "liver-3slice").glob("*.dcm"):
        shutil.copy(path, folder / "liver")
    structures = [item.ROIName for item in pydicom.dcmread(CT / "sts-008/RS.dcm").StructureSetROISequence]
    store, root, images, _ = ingest(folder, "--classes", f"background,liver,lesion={structures[0]}|GTV")
    assert root["classes"] == ["background", "liver", "lesion"]
    depth = {i["levels"][0][0]: name for name, i in images.items()}
    liver = sitk.GetArrayFromImage(sitk.ReadImage(str(CT / "liver-3slice/liver_seg.nii.gz")))
    np.testing.assert_array_equal(labels(store, depth[3]), np.where(liver > 0, 1, 0))
    tumour = labels(store, depth[51])
    expected = sitk.GetArrayFromImage(sitk.ReadImage(str(CT / "sts-008/mask.nii.gz")))
    assert set(np.unique(tumour)) == {0, 2}
    dice = 2 * np.sum((tumour == 2) & (expected > 0)) / (np.sum(tumour == 2) + np.sum(expected > 0))
    assert dice > 0.98, dice


def test_structures_that_are_no_class_paint_nothing(ingest, tmp_path):
    """A later structure around everything, such as the body's outline, must not hide the one that is asked for."""
    folder = tmp_path / "in"
    shutil.copytree(STS, folder)
    data = pydicom.dcmread(CT / "sts-008/RS.dcm")
    name = data.StructureSetROISequence[0].ROIName
    shutil.copy(CT / "sts-008/RS.dcm", folder / "RS.dcm")
    store, _, images, _ = ingest(folder, "--classes", f"background,{name}", name="without")
    [image] = images
    expected = labels(store, image)
    outline = pydicom.dcmread(CT / "sts-008/RS.dcm")
    extra = pydicom.dataset.Dataset()
    extra.ROINumber, extra.ROIName, extra.ROIGenerationAlgorithm = 99, "BODY", "MANUAL"
    extra.ReferencedFrameOfReferenceUID = data.StructureSetROISequence[0].ReferencedFrameOfReferenceUID
    outline.StructureSetROISequence.append(extra)
    around = pydicom.dataset.Dataset()
    around.ReferencedROINumber = 99
    around.ContourSequence = pydicom.Sequence(outline.ROIContourSequence[0].ContourSequence)
    outline.ROIContourSequence.append(around)
    outline.save_as(folder / "RS.dcm")
    store, _, _, result = ingest(folder, "--classes", f"background,{name}", name="with")
    np.testing.assert_array_equal(labels(store, image), expected)
    assert expected.any() and any("left out" in note for note in result["notes"])


def test_masks_beside_their_images_and_classes_from_their_values(ingest, tmp_path):
    write_volume(tmp_path / "in/a.nii.gz", volume())
    write_volume(tmp_path / "in/a_seg.nii.gz", mask())
    write_volume(tmp_path / "in/b.nrrd", volume(seed=2))
    store, root, images, _ = ingest(tmp_path / "in", name="one")
    assert root["classes"] == ["background", "lesion"] and list(images) == ["a", "b"]
    np.testing.assert_array_equal(labels(store, "a"), mask())
    assert images["a"]["labels"] == ["annotation"] and images["b"]["labels"] == []
    many = mask(value=4)
    many[0, 0, :5] = 255
    write_volume(tmp_path / "in/b_mask.nrrd", many)
    store, root, _, _ = ingest(tmp_path / "in", name="two")
    assert root["classes"] == ["background", "class_1", "class_2", "class_3", "class_4"]
    np.testing.assert_array_equal(labels(store, "b"), many)


def test_a_folder_of_labels_and_rows_with_labels(ingest, tmp_path):
    folder = tmp_path / "in"
    shutil.copytree(STS, folder / "dicom")
    write_volume(folder / "ct_one.nii.gz", volume())
    write_volume(tmp_path / "labels/ct_one_mask.nii.gz", mask())
    store, root, images, _ = ingest(folder, "--labels", tmp_path / "labels", "--classes", "background,tumour")
    assert root["classes"] == ["background", "tumour"]
    np.testing.assert_array_equal(labels(store, "ct_one"), mask())
    dicom = next(name for name in images if name != "ct_one")
    shutil.copy(CT / "sts-008/mask.nii.gz", tmp_path / f"labels/{dicom}.nii.gz")
    second = mask(value=2)
    second[:, :8] = 0
    write_volume(tmp_path / "labels/second.nii.gz", second)
    table = write_table(tmp_path / "cases.csv", [{"file": "in/dicom", "image": "", "labels": ""},
                                                 {"file": "in/ct_one.nii.gz", "image": "one", "labels": "ct_one_mask.nii.gz; second.nii.gz"}])
    store, root, images, _ = ingest(folder, "--labels", tmp_path / "labels", "--table", table, name="table")
    assert sorted(images) == sorted([dicom, "one"])
    np.testing.assert_array_equal(labels(store, "one"), np.where(second > 0, second, mask()))
    expected = sitk.GetArrayFromImage(sitk.ReadImage(str(CT / "sts-008/mask.nii.gz")))
    np.testing.assert_array_equal(labels(store, dicom), expected)


def nnunet(folder, cases=("colon_001", "colon_002"), tests=("colon_010",), ignore=True):
    for i, name in enumerate(cases):
        write_volume(folder / f"imagesTr/{name}_0000.nii.gz", volume(seed=i))
        values = mask(value=2)
        values[0, 0, :7] = 3 if ignore else 1
        values[1, 0, :5] = 1
        write_volume(folder / f"labelsTr/{name}.nii.gz", values)
    for i, name in enumerate(tests):
        write_volume(folder / f"imagesTs/{name}_0000.nii.gz", volume(seed=50 + i))
    content = {"channel_names": {"0": "CT"}, "labels": {"background": 0, "colon": 1, "tumour": 2} | ({"ignore": 3} if ignore else {}),
               "numTraining": len(cases), "file_ending": ".nii.gz"}
    (folder / "dataset.json").write_text(json.dumps(content))
    return folder


def test_nnunet_raw(ingest, tmp_path):
    store, root, images, _ = ingest(nnunet(tmp_path / "Dataset010_Colon"), "--lesion-classes", "tumour")
    assert root["classes"] == ["background", "colon", "tumour"] and root["lesion_classes"] == ["tumour"]
    assert list(images) == ["colon_001", "colon_002", "colon_010"]
    assert images["colon_010"]["split"] == "test" and images["colon_010"]["labels"] == []
    assert images["colon_001"]["split"] in ("train", "val")
    stored = labels(store, "colon_001")
    assert list(stored[0, 0, :8]) == [255] * 7 + [0] and list(stored[1, 0, :6]) == [1] * 5 + [0] and (stored[5, 8, 9] == 2)


def test_a_table_picks_from_a_dataset(ingest, tmp_path):
    folder = nnunet(tmp_path / "Dataset010_Colon")
    table = write_table(folder / "cases.csv", [{"file": "imagesTr/colon_002_0000.nii.gz", "split": "val", "cohort": "east", "phase": "portal-venous"}])
    _, root, images, _ = ingest(folder, "--table", table)
    assert root["classes"] == ["background", "colon", "tumour"]
    assert list(images) == ["colon_002"] and images["colon_002"]["labels"] == ["annotation"]
    assert [images["colon_002"][key] for key in ("split", "cohort", "phase")] == ["val", "east", "portal-venous"]


def test_decathlon(ingest, tmp_path):
    folder = tmp_path / "Task10_Colon"
    for i in (1, 2):
        write_volume(folder / f"imagesTr/colon_{i:03}.nii.gz", volume(seed=i))
        write_volume(folder / f"labelsTr/colon_{i:03}.nii.gz", mask())
    write_volume(folder / "imagesTr/._colon_001.nii.gz", volume())
    write_volume(folder / "imagesTs/colon_007.nii.gz", volume(seed=7))
    content = {"modality": {"0": "CT"}, "labels": {"0": "background", "1": "colon cancer primaries"}, "numTraining": 2, "numTest": 2,
               "training": [{"image": f"./imagesTr/colon_{i:03}.nii.gz", "label": f"./labelsTr/colon_{i:03}.nii.gz"} for i in (1, 2)],
               "test": ["./imagesTs/colon_007.nii.gz", "./imagesTs/colon_008.nii.gz"]}
    (folder / "dataset.json").write_text(json.dumps(content))
    store, root, images, result = ingest(folder)
    assert root["classes"] == ["background", "colon cancer primaries"] and list(images) == ["colon_001", "colon_002", "colon_007"]
    assert images["colon_007"]["split"] == "test" and any("1 images of the list" in note for note in result["notes"])
    np.testing.assert_array_equal(labels(store, "colon_002"), mask())
    assert json_of("verify", store)["phi"] == []


def test_irregular_series_are_resampled_when_asked_and_their_notes_name_no_files(ingest, tmp_path):
    slices = sts_slices()
    del slices[4:6]
    folder = save_series(slices, tmp_path / "in", "Mueller_{:03}.dcm")
    store, _, images, result = ingest(folder, "--irregular", "resample")
    [image] = images.values()
    assert image["levels"][0][0] == 10 and image["notes"][0]["code"] == "slices-missing" and image["notes"][0]["values"][:3] == [2, 10, 3]
    assert any(": 2 of 10 slices missing (first between slice 3 at " in note for note in result["notes"])
    assert "Mueller" not in json.dumps(images) + json.dumps(result["notes"])
    assert json_of("verify", store)["phi"] == []


def without_index(store):
    """As versions before there were indexes left it."""
    for index in (store / "versions").glob("*.index"):
        index.unlink()


def test_a_store_of_an_older_headrace_is_read_and_verify_names_its_notes(ingest, tmp_path):
    write_volume(tmp_path / "in/a.nii.gz", volume())
    store, *_ = ingest(tmp_path / "in")
    group = store / "images/a/zarr.json"
    content = json.loads(group.read_text())
    content["attributes"]["headrace"]["notes"] = ["The sform's voxel size differs from pixdim."]
    group.write_text(json.dumps(content))
    without_index(store)
    assert ingest(tmp_path / "in")[3]["notes"] == ["image a: The sform's voxel size differs from pixdim."]
    assert [image["id"] for image in json_of("info", store)["images"]] == ["a"]
    [found] = json.loads(headrace("verify", store, "--json", code=4).stdout)["phi"]
    assert (found["key"], found["at"]) == ("images/a/zarr.json", "/attributes/headrace/notes/0") and "older Headrace" in found["detail"]


def test_notes_of_every_kind_pass_the_check(ingest, tmp_path):
    """Tilted, uneven and doubled slices, and NIfTI without a place in space: what is noted of them is known to verify."""
    slices = sts_slices(12)
    for i, data in enumerate(slices):
        x, y, z = map(float, data.ImagePositionPatient)
        data.ImagePositionPatient = [x, y + 0.5 * i, z + (1.1 if i == 6 else 0)]
    twice = sts_slices(12)[3]
    twice.ImagePositionPatient, twice.SOPInstanceUID = slices[3].ImagePositionPatient, "1.2.3.4.5"
    save_series([*slices, twice], tmp_path / "in")
    import nibabel
    image = nibabel.Nifti1Image(volume().T, np.eye(4))
    image.set_sform(None, 0)
    image.set_qform(None, 0)
    nibabel.save(image, tmp_path / "in/nowhere.nii.gz")
    other = nibabel.Nifti1Image(volume().T, np.diag([2, 2, 2, 1]))
    other.set_sform(np.diag([3, 3, 3, 1]), 2)
    other.set_qform(np.diag([2, 2, 2, 1]), 1)
    nibabel.save(other, tmp_path / "in/two-forms.nii.gz")
    write_volume(tmp_path / "in/air.nii.gz", np.full((12, 20, 24), -1000, np.int16))
    store, _, images, result = ingest(tmp_path / "in", "--irregular", "resample", "--accept", "values")
    codes = {note["code"] for image in images.values() for note in image["notes"]}
    assert codes >= {"slices-doubled", "slices-shifted", "slices-uneven", "nifti-without-form", "body-empty"}
    for words in ("doubled", "tilt", "unevenly", "neither qform nor sform", "No voxel of a body"):
        assert words in " ".join(result["notes"]), (words, result["notes"])
    done = headrace("verify", store, "--json")
    assert json.loads(done.stdout)["phi"] == []


@pytest.mark.parametrize("notes, told", [
    ([{"code": "later", "values": []}], [UNREAD]), ([{"code": "body-empty", "values": []}], [UNREAD]), (None, [UNREAD]), ([], []),
    (["An old sentence.", {"code": "nifti-without-form", "values": []}, 3],
     ["image a: An old sentence.", "image a: The NIfTI header has neither qform nor sform: unit directions and origin 0 are assumed.", UNREAD])])
def test_notes_of_other_versions_stop_no_ingest(ingest, tmp_path, notes, told):
    write_volume(tmp_path / "in/a.nii.gz", volume())
    store, _, _, first = ingest(tmp_path / "in")
    path = store / "images/a/zarr.json"
    group = json.loads(path.read_text())
    group["attributes"]["headrace"]["notes"] = notes
    path.write_text(json.dumps(group))
    without_index(store)
    again = ingest(tmp_path / "in")[3]
    assert again["reused"] == 1 and again["dataset_hash"] == first["dataset_hash"]
    assert again["notes"] == told
