"""What `info` says of a store's supervision, against NumPy and SciPy on the stored labels."""
import numpy as np
from ct_inputs import labels, mask, volume, write_volume
from driving import headrace, json_of, write_table
from scipy.ndimage import label


def test_supervised_pixels_of_slides_by_class_and_split(nuclei):
    facts = json_of("info", nuclei)
    for split in ("train", "val"):
        names = [image["id"] for image in facts["images"] if image["split"] == split]
        found = facts["supervision"]["annotation"][split]
        assert found["images"] == found["annotated"] == len(names) > 0
        objects = sum(int((labels(nuclei, name) == 1).sum()) for name in names)
        assert found["classes"]["object"] == {"pixels": objects}
        assert 0 < found["classes"]["background"]["pixels"] <= sum(labels(nuclei, name).size for name in names) - objects
    assert f"train ({facts['supervision']['annotation']['train']['annotated']} of 4 images)" in headrace("info", nuclei).stdout


def test_lesions_of_volumes_by_class_and_split(tmp_path):
    several = mask(value=2)
    several[1, 2, 3:6] = 1
    several[9, 2, 3:6] = 1
    for name, values in (("a", several), ("b", mask(value=1)), ("c", None)):
        write_volume(tmp_path / f"in/{name}.nii.gz", volume())
        if values is not None:
            write_volume(tmp_path / f"in/{name}_seg.nii.gz", values)
    rows = [{"file": f"in/{name}.nii.gz", "split": split, "labels": labelled} for name, split, labelled in
            (("a", "train", "in/a_seg.nii.gz"), ("b", "test", "in/b_seg.nii.gz"), ("c", "train", ""))]
    store = tmp_path / "out.zarr"
    json_of("ingest", "volumes", tmp_path / "in", "--table", write_table(tmp_path / "cases.csv", rows), "--classes", "background,polyp,liver",
            "--accept", "same-pixels,values", "--out", store)
    found = json_of("info", store)["supervision"]["annotation"]
    assert (found["train"]["images"], found["train"]["annotated"]) == (2, 1) and (found["test"]["images"], found["test"]["annotated"]) == (1, 1)
    for split, image in (("train", "a"), ("test", "b")):
        values = labels(store, image)
        for value, name in ((1, "polyp"), (2, "liver")):
            assert found[split]["classes"][name] == {"pixels": int((values == value).sum()), "lesions": label(values == value, np.ones((3, 3, 3)))[1]}
    text = headrace("info", store).stdout
    assert "6 in 2 lesions" in text and "train (1 of 2 images)" in text
