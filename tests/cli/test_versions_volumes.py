"""Labels of volumes that come later are stored as if they had been there at first."""
import numpy as np
import pydicom
import pytest
from ct_inputs import CT, key_file, labels, mask, volume, write_volume
from driving import headrace, json_of, label_group, message_of, version_of

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
    assert headrace("diff", store, done["dataset_hash"][:8], more["dataset_hash"][:8]).stdout == "class cyst (value 3): added\n"
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
