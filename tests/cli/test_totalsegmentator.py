"""TotalSegmentator's folders: ct.nii.gz beside a folder of organ masks, or beside the masks themselves; on its own sample."""
import numpy as np
import pytest
import SimpleITK as sitk
from ct_inputs import CT, facts, labels, mask, volume, voxels, write_volume
from driving import headrace, json_of, message_of, write_table

SAMPLE = CT / "totalseg-abdomen"
IDS = {"spleen": 1, "kidney_right": 2, "liver": 5, "stomach": 6, "pancreas": 7, "colon": 20}


def organ_folder(folder, inside="segmentations", organs=IDS):
    """The sample as the data set has it: a mask for each organ."""
    folder.mkdir(parents=True)
    image, segmentation = (sitk.ReadImage(str(SAMPLE / name)) for name in ("ct.nii.gz", "seg.nii.gz"))
    sitk.WriteImage(image, str(folder / "ct.nii.gz"))
    (folder / inside).mkdir(exist_ok=True)
    for name, value in organs.items():
        sitk.WriteImage(sitk.Cast(segmentation == value, sitk.sitkUInt8), str(folder / inside / f"{name}.nii.gz"))
    return folder


def expected(**classes):
    """Labels in the order given, a later class over an earlier one, in the voxel order of the store (taken from the image itself)."""
    found = sitk.GetArrayFromImage(sitk.ReadImage(str(SAMPLE / "seg.nii.gz")))
    out = np.zeros_like(found)
    for value, organs in enumerate(classes.values(), 1):
        out[np.isin(found, [IDS[name] for name in organs])] = value
    return out


def in_store_order(store, image, values):
    """`values`, on the grid of the sample's file, as the store holds that image: the same flips and permutation that make the CT equal."""
    stored = voxels(store, image)
    original = sitk.GetArrayFromImage(sitk.ReadImage(str(SAMPLE / "ct.nii.gz")))
    for flips in range(8):
        axes = tuple(a for a in range(3) if flips >> a & 1)
        if original.shape == stored.shape and (np.flip(original, axes) == stored).all():
            return np.flip(values, axes)
    raise AssertionError("the store does not hold the file's voxels")


@pytest.mark.parametrize("inside", ["segmentations", "."])
def test_organs_are_picked_by_their_names(tmp_path, inside):
    for case in ("s0001", "s0002"):
        organ_folder(tmp_path / "data" / case, inside)
    store = tmp_path / "out.zarr"
    result = json_of("ingest", "volumes", tmp_path / "data", "--classes", "background,liver,spleen", "--out", store)
    root, images = facts(store)
    assert result["images"] == 2 and list(images) == ["s0001", "s0002"] and root["classes"] == ["background", "liver", "spleen"]
    assert {i["case"] for i in images.values()} == {"s0001", "s0002"}
    for image in images:
        np.testing.assert_array_equal(labels(store, image), in_store_order(store, image, expected(liver=["liver"], spleen=["spleen"])))
    headrace("verify", store)


def test_several_masks_make_a_class_and_later_classes_lie_above(tmp_path):
    folder = organ_folder(tmp_path / "s0007")
    half = sitk.ReadImage(str(folder / "segmentations/liver.nii.gz"))
    values = sitk.GetArrayFromImage(half)
    values[: len(values) // 2] = 0
    lesion = sitk.GetImageFromArray(values * 255)  # some tools write masks of 0 and 255
    lesion.CopyInformation(half)
    sitk.WriteImage(lesion, str(folder / "segmentations/liver_tumor.nii.gz"))
    store = tmp_path / "out.zarr"
    json_of("ingest", "volumes", folder / "ct.nii.gz", "--classes", "background,abdomen=liver|Spleen|stomach,lesion=liver_tumor", "--out", store)
    labels_expected = expected(abdomen=["liver", "spleen", "stomach"])
    labels_expected[values > 0] = 2
    np.testing.assert_array_equal(labels(store, "s0007"), in_store_order(store, "s0007", labels_expected))
    assert (labels_expected == 2).sum() > 100


def test_without_classes_the_organs_are_listed(tmp_path):
    organ_folder(tmp_path / "data/s0001")
    text = message_of(headrace("ingest", "volumes", tmp_path / "data", "--out", tmp_path / "out.zarr", code=2))
    assert "6 masks of organs" in text and "colon, kidney_right, liver" in text and "--classes" in text
    assert not (tmp_path / "out.zarr").exists()


def test_a_case_without_an_organ_is_not_taught_as_background(tmp_path):
    organ_folder(tmp_path / "data/s0001")
    organ_folder(tmp_path / "data/s0002", organs={"liver": 5})
    arguments = ("ingest", "volumes", tmp_path / "data", "--classes", "background,liver,spleen", "--out", tmp_path / "out.zarr")
    text = message_of(headrace(*arguments, code=2))
    assert "s0002" in text and "'spleen'" in text and "background" in text and not (tmp_path / "out.zarr").exists()
    result = json_of(*arguments, "--on-error", "skip")
    assert result["images"] == 1 and "s0002" in result["left_out"][0]["input"]


def test_other_labels_and_tables_go_before_the_organs(tmp_path):
    organ_folder(tmp_path / "data/s0001")
    segmentation = sitk.ReadImage(str(SAMPLE / "seg.nii.gz"))
    (tmp_path / "labels").mkdir()
    sitk.WriteImage(sitk.Cast(segmentation == 7, sitk.sitkUInt8), str(tmp_path / "labels/s0001.nii.gz"))
    store = tmp_path / "labels.zarr"
    json_of("ingest", "volumes", tmp_path / "data", "--labels", tmp_path / "labels", "--classes", "background,pancreas", "--out", store)
    np.testing.assert_array_equal(labels(store, "s0001"), in_store_order(store, "s0001", expected(pancreas=["pancreas"])))
    table = write_table(tmp_path / "cases.csv", [{"file": "data/s0001/ct.nii.gz", "cohort": "basel", "split": "test"}])
    store = tmp_path / "table.zarr"
    json_of("ingest", "volumes", "--table", table, tmp_path / "data", "--classes", "background,colon", "--out", store)
    _, images = facts(store)
    assert images["s0001"]["cohort"] == "basel" and images["s0001"]["split"] == "test"
    np.testing.assert_array_equal(labels(store, "s0001"), in_store_order(store, "s0001", expected(colon=["colon"])))


def test_a_ct_beside_its_one_mask_is_as_before(tmp_path):
    """ct and seg beside each other are an image and its mask of several values, not organs."""
    store = tmp_path / "out.zarr"
    names = ",".join(["background", *(f"class_{i}" for i in range(1, 120))])
    json_of("ingest", "volumes", SAMPLE, "--classes", names, "--out", store)
    _, images = facts(store)
    assert list(images) == ["ct"]
    write_volume(tmp_path / "in/ct.nii.gz", volume())
    write_volume(tmp_path / "in/pet_like.nii.gz", volume(seed=2))
    result = json_of("ingest", "volumes", tmp_path / "in", "--out", tmp_path / "two.zarr")
    assert result["images"] == 2, "a file that is not named as an organ stays an image"
    write_volume(tmp_path / "in/aorta.nii.gz", mask())
    assert json_of("ingest", "volumes", tmp_path / "in", "--classes", "background,aorta", "--out", tmp_path / "three.zarr")["images"] == 1
