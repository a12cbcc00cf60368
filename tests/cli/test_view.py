"""Pixels of `headrace view`: tiles of slides against OpenSlide and the maps on disk, chunks of volumes against nibabel and the maps on disk."""
import imageio.v3 as iio
import nibabel
import numpy as np
import openslide
import pytest
import zarr
from ct_inputs import CT
from driving import SAMPLES, json_of, label_group, rows_of
from view_server import serving, tiles_of, volume_of

SLIDE = SAMPLES / "slides/derived/cmu-aperio-style-4level.svs"


def means(pixels, step):
    """Means of step × step pixels, of those that are there at the edges."""
    rows = [slice(y, y + step) for y in range(0, pixels.shape[0], step)]
    columns = [slice(x, x + step) for x in range(0, pixels.shape[1], step)]
    return np.array([[pixels[y, x].reshape(-1, pixels.shape[2]).mean(0) for x in columns] for y in rows])


def test_tiles_are_the_pixels_of_openslide():
    with openslide.OpenSlide(SLIDE) as slide:
        levels = [np.array(slide.read_region((0, 0), k, size).convert("RGB")) for k, size in enumerate(slide.level_dimensions)]
    with serving(SLIDE) as server:
        item = server.get("/api/items/0")
        assert (item["width"], item["height"], item["levels"], item["tile"]) == (2220, 2967, 13, 256)
        assert item["mpp"] == pytest.approx(0.499)
        for level, k, step in ((12, 0, 1), (11, 1, 1), (10, 2, 1), (8, 3, 2), (6, 3, 8)):
            shown = tiles_of(server, 0, "image", level, [-(-n // 2**(12 - level)) for n in (2967, 2220)]).astype(float)
            expected = means(levels[k], step) if step > 1 else levels[k]
            height, width = (min(pair) for pair in zip(shown.shape[:2], expected.shape[:2]))  # the slide's own levels lack the last odd pixel
            assert abs(height - shown.shape[0]) <= 1 and abs(width - shown.shape[1]) <= 1
            difference = shown[:height - 1, :width - 1] - expected[:height - 1, :width - 1]
            grey = np.abs(difference.mean(2)).mean()  # tiles are JPEGs, which halve the resolution of colours
            assert grey < 4.5 and abs(difference.mean()) < 1, (level, grey)


def test_a_picture_without_levels_is_shown_alike(tmp_path):
    rng = np.random.default_rng(1)
    picture = np.kron(rng.integers(0, 256, (60, 70, 1), np.uint8), np.ones((32, 32, 3), np.uint8))
    iio.imwrite(tmp_path / "flat.png", picture)
    with serving(tmp_path / "flat.png") as server:
        item = server.ask("/api/items/0").json
        assert item["mpp"] is None and item["levels"] == 13
        for level, step in ((12, 1), (7, 32)):
            shown = tiles_of(server, 0, "image", level, (-(-1920 // step), -(-2240 // step)))
            expected = picture if step == 1 else picture[16::32, 16::32]  # means of equal pixels
            assert np.abs(shown.astype(float) - expected).mean() < 6
        assert abs(server.ask("/slides/0/image/0/0_0.jpg").picture.mean() - picture.mean()) < 3


def colour_table(layer):
    return {entry["value"]: tuple(int(entry["colour"][i:i + 2], 16) for i in (1, 3, 5)) for entry in layer["classes"]}


def test_layers_of_a_prediction_lie_on_the_slides_grid(cohort, predicted):
    with serving(cohort / "s.zarr", predicted) as server:
        items = server.items()
        assert sorted(items) == sorted(row["image"] for row in rows_of(cohort / "in/cases.csv"))
        name, item = next((name, item) for name, item in items.items() if item["findings"])
        layers = {layer["name"]: layer for layer in item["layers"]}
        assert list(layers) == ["image", "annotation", "prediction", *(f"probability:{c}" for c in
                                                                         ("benign", "hgpin", "pattern3", "pattern4", "pattern5"))]
        facts = server.ask(f"/api/items/{item['n']}").json
        height, width = facts["height"], facts["width"]
        group = zarr.open_group(predicted / name, mode="r")
        classes, probability = group["labels/classes/0"][:], group["0"][:]
        table = colour_table(layers["prediction"])
        for level, step in ((facts["levels"] - 1, 1), (facts["levels"] - 3, 4)):
            size = -(-height // step), -(-width // step)
            at = [((2 * np.arange(n) + 1) * step // 2) // 8 for n in size]
            expected = classes[np.ix_(*at)]
            shown = tiles_of(server, item["n"], "prediction", level, size)
            seen = (expected > 0) & (expected < 255)
            np.testing.assert_array_equal(shown[..., 3], np.where(seen, 255, 0))
            for value, colour in table.items():
                assert (shown[expected == value][:, :3] == colour).all()
        shown = tiles_of(server, item["n"], "probability:pattern4", facts["levels"] - 4, (-(-height // 8), -(-width // 8)))
        part = probability[4][:shown.shape[0], :shown.shape[1]]
        np.testing.assert_array_equal(shown[:part.shape[0], :part.shape[1], 3], part)
        labels = zarr.open_array(cohort / "s.zarr" / label_group(cohort / "s.zarr", name) / "0", mode="r")[:]
        shown = tiles_of(server, item["n"], "annotation", facts["levels"] - 1, (height, width))
        np.testing.assert_array_equal(shown[..., 3] > 0, (labels > 0) & (labels < 255))


def test_a_run_shows_its_validation_images_and_results_alone_find_theirs(cohort, predicted):
    splits = {image["id"]: image["split"] for image in json_of("info", cohort / "s.zarr")["images"]}
    with serving(cohort / "run") as server:
        assert sorted(server.items()) == sorted(name for name, split in splits.items() if split == "val")
    with serving(predicted) as server:
        assert {item["layers"][0]["name"] for item in server.items().values()} == {"image"}
        assert server.ask("/slides/0/image/0/0_0.jpg").status == 200


def canonical(path):
    """(z, y, x) in the order of stores, and the spacing in that order."""
    order = nibabel.orientations.axcodes2ornt("LPS")
    image = nibabel.load(path)
    image = image.as_reoriented(nibabel.orientations.ornt_transform(nibabel.io_orientation(image.affine), order))
    return np.asarray(image.dataobj).transpose(2, 1, 0), [float(s) for s in image.header.get_zooms()[2::-1]]


def test_chunks_of_a_file_and_of_a_store_are_its_voxels(ct_cohort, predicted_ct_val):
    hu, spacing = canonical(CT / "sarcoma/sts-012.nii.gz")
    with serving(CT / "sarcoma/sts-012.nii.gz") as server:
        item = server.ask("/api/items/0").json
        assert item["shape_zyx"] == list(hu.shape) and item["window"] == {"low": -160, "high": 240}
        np.testing.assert_allclose(item["spacing_zyx_mm"], spacing, rtol=1e-6)
        info, voxels = volume_of(server, 0, "image")
        assert info["data_type"] == "int16" and info["type"] == "image"
        np.testing.assert_allclose(info["scales"][0]["resolution"], np.array(spacing[::-1]) * 1e6, rtol=1e-6)
        np.testing.assert_array_equal(voxels, np.rint(hu))
    with serving(ct_cohort / "ct.zarr", predicted_ct_val) as server:
        item = server.items()["sts-012"]
        np.testing.assert_array_equal(volume_of(server, item["n"], "image")[1], np.rint(hu))
        info, annotation = volume_of(server, item["n"], "annotation")
        assert info["type"] == "image" and info["data_type"] == "uint8"
        np.testing.assert_array_equal(annotation, canonical(CT / "sarcoma/sts-012-gtv.nii.gz")[0])
        group = zarr.open_group(predicted_ct_val / "sts-012", mode="r")
        classes = group["labels/classes/0"][:]
        np.testing.assert_array_equal(volume_of(server, item["n"], "prediction")[1], classes)
        np.testing.assert_array_equal(volume_of(server, item["n"], "lesions")[1], group["labels/lesions/0"][:])
        np.testing.assert_array_equal(volume_of(server, item["n"], "probability:tumour")[1], group["0"][1])
