"""Labels of volumes that come later are stored as if they had been there at first."""
import json

import numpy as np
import pydicom
import pytest
import SimpleITK as sitk
from ct_inputs import CT, key_file, labels, mask, volume, write_volume
from driving import headrace, json_of, label_group, message_of, version_of, write_table

CLASSES = "background,organ,lesion"


@pytest.fixture
def cases(tmp_path):
    """Three CTs beside masks of two of them."""
    for i, name in enumerate(("one", "two", "three")):
        write_volume(tmp_path / f"ct/{name}.nii.gz", volume(seed=i))
        values = mask()
        values[2:5, 3:9, 4:8] = 2
        if name != "three":
            write_volume(tmp_path / f"masks/{name}.nii.gz", values)
    return tmp_path


def test_two_steps_are_the_same_version_as_one(cases):
    whole = json_of("ingest", "volumes", cases / "ct", "--labels", cases / "masks", "--classes", CLASSES, "--out", cases / "whole.zarr")
    json_of("ingest", "volumes", cases / "ct", "--out", cases / "s.zarr")
    done = json_of("ingest", "labels", cases / "s.zarr", "--labels", cases / "masks", "--classes", CLASSES)
    assert done["added"] == 2 and done["dataset_hash"] == whole["dataset_hash"]
    headrace("verify", cases / "s.zarr")


def test_a_revised_mask_is_a_version_and_says_what_changed(cases):
    store = cases / "s.zarr"
    first = json_of("ingest", "volumes", cases / "ct", "--labels", cases / "masks", "--classes", CLASSES, "--out", store)["dataset_hash"]
    values = mask()
    values[2:5, 3:9, 4:9] = 2  # 3 x 6 x 1 voxels more
    write_volume(cases / "masks/one.nii.gz", values)
    done = json_of("ingest", "labels", store, "--labels", cases / "masks")
    assert (done["replaced"], done["unchanged"]) == (1, 1)
    np.testing.assert_array_equal(labels(store, "one"), values)
    [line] = headrace("diff", store, first[:8], done["dataset_hash"][:8]).stdout.splitlines()
    assert line.startswith("image one: labels 'annotation' replaced, 18 voxels changed: ")
    more = json_of("ingest", "labels", store, "--classes", CLASSES + ",cyst")
    assert more["classes_added"] == 1 and version_of(store)["facts"]["lesion_classes"] == ["organ", "lesion", "cyst"]
    assert headrace("diff", store, done["dataset_hash"][:8], more["dataset_hash"][:8]).stdout == (
        'class cyst (value 3): added\nlesion_classes was ["organ","lesion"], is ["organ","lesion","cyst"]\n')
    again = json_of("ingest", "labels", store, "--labels", cases / "masks", "--classes", CLASSES + ",cyst")
    assert (again["replaced"], again["unchanged"]) == (0, 2), "a class that no mask has is no reason to read them again"
    gone = json_of("ingest", "labels", store, "--withdraw", "all")
    assert gone["withdrawn"] == 2 and json_of("info", store, "--versions")[-1]["labels"] == {}
    headrace("verify", store)


def test_masks_of_another_grid_and_unknown_images_are_refused(cases):
    store = cases / "s.zarr"
    json_of("ingest", "volumes", cases / "ct", "--labels", cases / "masks", "--classes", CLASSES, "--out", store)
    write_volume(cases / "other/one.nii.gz", mask(shape=(11, 20, 24)))
    headrace("ingest", "labels", store, "--labels", cases / "other", code=1)
    (cases / "other/one.nii.gz").rename(cases / "other/four.nii.gz")
    assert "fits no image of the store" in message_of(headrace("ingest", "labels", store, "--labels", cases / "other", code=2))
    assert json_of("verify", store)["ok"]


def test_an_rtstruct_finds_its_series_by_the_sites_key(tmp_path):
    images, key = CT / "sts-008/image", key_file(tmp_path)
    name = pydicom.dcmread(CT / "sts-008/RS.dcm").StructureSetROISequence[0].ROIName
    (tmp_path / "rs").mkdir()
    (tmp_path / "rs/RS.dcm").write_bytes((CT / "sts-008/RS.dcm").read_bytes())
    classes = f"background,tumour={name}"
    whole = json_of("ingest", "volumes", images, "--labels", tmp_path / "rs", "--classes", classes, "--key-file", key, "--out", tmp_path / "whole.zarr")
    json_of("ingest", "volumes", images, "--key-file", key, "--out", tmp_path / "s.zarr")
    done = json_of("ingest", "labels", tmp_path / "s.zarr", "--labels", tmp_path / "rs", "--classes", classes, "--key-file", key)
    assert done["added"] == 1 and done["dataset_hash"] == whole["dataset_hash"]
    [image] = version_of(tmp_path / "s.zarr")["images"]
    assert label_group(tmp_path / "s.zarr", image).startswith(f"images/{image}/labels/annotation-")


def test_a_revision_between_the_pieces_of_a_large_mask_is_seen(tmp_path):
    """Uncompressed and of the same size, as ITK-SNAP saves it again."""
    shape = (12, 700, 700)
    values = mask(shape)
    write_volume(tmp_path / "ct/one.nii.gz", volume(shape))
    path = write_volume(tmp_path / "masks/one.nii", values)
    size, piece = path.stat().st_size, 64 << 10
    assert size > 4 << 20
    json_of("ingest", "volumes", tmp_path / "ct", "--labels", tmp_path / "masks", "--classes", "background,organ", "--out", tmp_path / "s.zarr")
    spot = (size - piece) // 63 * 20 + piece + 9000  # between the 21st and the 22nd of 64 pieces
    flat = values.reshape(-1)
    flat[spot - 352] ^= 1  # a NIfTI header with its empty extension has 352 bytes
    write_volume(path, values)
    assert path.stat().st_size == size
    done = json_of("ingest", "labels", tmp_path / "s.zarr", "--labels", tmp_path / "masks")
    assert done["replaced"] == 1
    np.testing.assert_array_equal(labels(tmp_path / "s.zarr", "one"), values)


def test_lesion_classes_stay_as_the_ingest_was_told(cases):
    store, told = cases / "s.zarr", ["--classes", "background,organ,lesion", "--lesion-classes", "lesion,organ"]
    json_of("ingest", "volumes", cases / "ct", "--labels", cases / "masks", *told, "--out", store)
    json_of("ingest", "labels", store, "--classes", "background,organ,lesion,liver")
    assert version_of(store)["facts"]["lesion_classes"] == ["organ", "lesion"]


def test_a_table_clears_negative_and_names_nothing_by_a_dash(cases):
    store = cases / "s.zarr"
    json_of("ingest", "volumes", cases / "ct", "--labels", cases / "masks", "--classes", CLASSES, "--out", store)
    for said, stored in (("1", 1), ("", 1), ("-", None), ("0", 0)):
        headrace("ingest", "labels", store, "--table", write_table(cases / "t.csv", [{"image": "three", "negative": said}]))
        assert version_of(store)["images"]["three"]["columns"]["negative"] == stored
    for column in ("case", "cohort"):
        table = write_table(cases / "t.csv", [{"image": "three", column: "-"}])
        assert "leave the field empty" in message_of(headrace("ingest", "labels", store, "--table", table, code=2))


def test_a_patient_and_a_class_more_by_ingest_volumes(cases):
    store = cases / "s.zarr"
    command = ["ingest", "volumes", cases / "ct", "--labels", cases / "masks", "--out", store]
    json_of(*command, "--classes", CLASSES)
    write_volume(cases / "ct/four.nii.gz", volume(seed=4))
    write_volume(cases / "masks/four.nii.gz", mask(value=3))
    more = json_of(*command, "--classes", CLASSES + ",cyst")
    assert more["images"] == 4 and more["reused"] == 3 and labels(store, "four").max() == 3
    headrace("verify", store)


def test_the_ignore_value_of_a_dataset_holds_for_later_masks(tmp_path):
    dataset, values = tmp_path / "Dataset007_Bowel", mask()
    values[0, 0, 0] = 2
    write_volume(dataset / "imagesTr/case_001_0000.nii.gz", volume())
    write_volume(dataset / "labelsTr/case_001.nii.gz", values)
    (dataset / "dataset.json").write_text(json.dumps({"channel_names": {"0": "CT"}, "labels": {"background": 0, "organ": 1, "ignore": 2},
                                                      "numTraining": 1, "file_ending": ".nii.gz"}))
    store = tmp_path / "s.zarr"
    json_of("ingest", "volumes", dataset, "--out", store)
    [image] = version_of(store)["images"]
    values[0, 0, 1] = 2
    write_volume(tmp_path / f"masks/{image}.nii.gz", values)
    # A class that is added later does not take the value over.
    done = json_of("ingest", "labels", store, "--labels", tmp_path / "masks", "--classes", "background,organ")
    assert done["replaced"] == 1
    np.testing.assert_array_equal(labels(store, image), np.where(values == 2, 255, values))
    headrace("verify", store)


def test_masks_need_no_key_whatever_else_lies_beside_them(cases):
    json_of("ingest", "volumes", cases / "ct", "--out", cases / "s.zarr")
    (cases / "masks/readme.txt").write_text("drawn by two readers")
    assert json_of("ingest", "labels", cases / "s.zarr", "--labels", cases / "masks", "--classes", CLASSES)["added"] == 2


def test_two_steps_on_an_oblique_grid_are_the_same_version_as_one(tmp_path):
    turn = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)) + 4 * np.eye(3))[0]
    turn *= np.sign(np.linalg.det(turn))
    values = mask()
    values[2:5, 3:9, 4:8] = 2
    for folder, voxels in (("ct", volume()), ("masks", values)):
        image = sitk.ReadImage(str(write_volume(tmp_path / folder / "one.nii.gz", voxels, spacing=(0.83, 0.91, 2.37))))
        image.SetDirection(turn.reshape(-1).tolist())
        sitk.WriteImage(image, str(tmp_path / folder / "one.nii.gz"))
    whole = json_of("ingest", "volumes", tmp_path / "ct", "--labels", tmp_path / "masks", "--classes", CLASSES, "--out", tmp_path / "whole.zarr")
    json_of("ingest", "volumes", tmp_path / "ct", "--out", tmp_path / "s.zarr")
    done = json_of("ingest", "labels", tmp_path / "s.zarr", "--labels", tmp_path / "masks", "--classes", CLASSES)
    assert done["dataset_hash"] == whole["dataset_hash"]
