"""OME-Zarr of stores and predictions: foreign readers open it without codecs of ours, ome-zarr-models and ome-zarr-py accept it, its pixels are
those of the source bit for bit."""
import hashlib
import json
import shutil
from pathlib import Path

import nibabel
import numpy as np
import ome_zarr.io
import ome_zarr.reader
import openslide
import pytest
import tensorstore
import zarr
from driving import SAMPLES, headrace, json_of, label_group, message_of
from ome_zarr_models.v05 import Image, ImageLabel, Labels
from results_by_hand import COLOURS, slide_result, volume_result

CORE = {"bytes", "zstd", "blosc", "gzip", "crc32c", "sharding_indexed", "transpose"}
SLIDE = SAMPLES / "slides/derived/cmu-aperio-style-4level.svs"
CT = SAMPLES / "ct/totalseg-abdomen"


def level0(path):
    slide = openslide.OpenSlide(path)
    return np.asarray(slide.read_region((0, 0), 0, slide.dimensions).convert("RGB")).transpose(2, 0, 1)


def array(folder, name):
    return zarr.open_array(folder / name, mode="r")[...]


def codecs_in(folder):
    def names(value):
        if isinstance(value, dict):
            yield from ([value["name"]] if "name" in value and ("configuration" in value or len(value) == 1) else [])
            value = value.values()
        elif not isinstance(value, list):
            return
        for one in value:
            yield from names(one)

    found = set()
    for path in folder.rglob("zarr.json"):
        group = json.loads(path.read_text())
        if group["node_type"] == "array":
            found |= set(names(group["codecs"]))
    return found


def tree(folder):
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(Path(folder).rglob("*")) if p.is_file()}


def ome_of(folder):
    return json.loads((folder / "zarr.json").read_text())["attributes"]["ome"]


@pytest.fixture(scope="module")
def ct(tmp_path_factory):
    """A store of one CT with labels, as int16."""
    folder = tmp_path_factory.mktemp("ct")
    shutil.copy(CT / "ct.nii.gz", folder / "abdomen.nii.gz")
    shutil.copy(CT / "seg.nii.gz", folder / "seg.nii.gz")
    (folder / "cases.csv").write_text("file,labels\nabdomen.nii.gz,seg.nii.gz\n")
    headrace("ingest", "volumes", folder / "abdomen.nii.gz", "--table", folder / "cases.csv", "--out", folder / "ct.zarr")
    return folder / "ct.zarr"


@pytest.mark.parametrize("codec", ["zstd", "blosc", "gzip", "raw"])
def test_a_slide_is_pixels_for_anyone(slide, tmp_path, codec):
    headrace("export", slide, "--as", "ome-zarr", "--codec", codec, "--out", tmp_path)
    out = tmp_path / f"{SLIDE.stem}.ome.zarr"
    assert codecs_in(out) <= CORE and not list(tmp_path.glob(".part-*"))
    np.testing.assert_array_equal(array(out, "0"), level0(SLIDE))
    whole = tensorstore.open({"driver": "zarr3", "kvstore": {"driver": "file", "path": str(out / "0")}}).result().read().result()
    np.testing.assert_array_equal(whole, array(out, "0"))
    stored = slide / f"images/{SLIDE.stem}"
    exported = ome_of(out)
    assert [dataset["coordinateTransformations"].pop()["type"] for dataset in exported["multiscales"][0]["datasets"]] == ["translation"] * 4
    assert exported == ome_of(stored) and len(exported["omero"]["channels"]) == 3
    for dataset in ome_of(out)["multiscales"][0]["datasets"]:
        pixels = array(out, dataset["path"])
        assert list(pixels.shape) == json.loads((stored / dataset["path"] / "zarr.json").read_text())["shape"]
        headrace("read", slide, SLIDE.stem, "--level", dataset["path"], "--origin", "0,0",
                 "--size", f"{pixels.shape[1]},{pixels.shape[2]}", "--out", tmp_path / "level.npy")
        np.testing.assert_array_equal(pixels.transpose(1, 2, 0), np.load(tmp_path / "level.npy").reshape(pixels.shape[1], pixels.shape[2], 3))


def test_jpeg_tiles_stay_what_they_are(slide, tmp_path):
    headrace("export", "ome-zarr", slide, "--codec", "jpeg", "--out", tmp_path)
    out, stored = tmp_path / f"{SLIDE.stem}.ome.zarr", slide / f"images/{SLIDE.stem}"
    assert "imagecodecs_jpeg" in codecs_in(out)
    for path in (out / "0").rglob("*"):
        if path.is_file():
            assert path.read_bytes() == (stored / path.relative_to(out)).read_bytes()


def test_labels_have_their_values_and_the_colours_of_predictions(nuclei, tmp_path):
    name = sorted(p.name for p in (nuclei / "images").iterdir() if p.is_dir())[0]
    found = json_of("export", nuclei, "--as", "ome-zarr", "--images", name, "--out", tmp_path)["files"]
    out = tmp_path / f"{name}.ome.zarr"
    assert found == [{"id": name, "file": str(out)}] and [p.name for p in tmp_path.iterdir()] == [out.name]
    Image.from_zarr(zarr.open_group(out, mode="r"))
    Labels.from_zarr(zarr.open_group(out / "labels", mode="r"))
    ImageLabel.from_zarr(zarr.open_group(out / "labels/annotation", mode="r"))
    nodes = list(ome_zarr.reader.Reader(ome_zarr.io.parse_url(str(out)))())
    assert any(str(node.zarr.basename()) == "annotation" or "annotation" in str(node.zarr.path) for node in nodes)
    label = ome_of(out / "labels/annotation")
    assert {c["label-value"]: c["rgba"] for c in label["image-label"]["colors"]} == {0: [0, 0, 0, 0], 1: [*COLOURS[1], 255]}
    for level in label["multiscales"][0]["datasets"]:
        np.testing.assert_array_equal(array(out / "labels/annotation", level["path"]), array(nuclei / label_group(nuclei, name), level["path"]))


def test_volumes_keep_every_voxel_and_their_place(ct, tmp_path):
    headrace("export", ct, "--as", "ome-zarr", "--codec", "blosc", "--out", tmp_path)
    out = tmp_path / "abdomen.ome.zarr"
    Image.from_zarr(zarr.open_group(out, mode="r"))
    nifti = nibabel.load(CT / "ct.nii.gz")
    lps = nibabel.orientations.ornt_transform(nibabel.io_orientation(nifti.affine), nibabel.orientations.axcodes2ornt("LPS"))
    expected = nifti.as_reoriented(lps)
    assert array(out, "0").dtype == np.int16
    np.testing.assert_array_equal(array(out, "0"), np.asarray(expected.dataobj).transpose(2, 1, 0))
    scale, place = (t[t["type"]] for t in ome_of(out)["multiscales"][0]["datasets"][0]["coordinateTransformations"])
    np.testing.assert_allclose(scale, expected.header.get_zooms()[::-1], rtol=1e-6)
    np.testing.assert_allclose(place, (np.diag([-1, -1, 1, 1]) @ expected.affine)[2::-1, 3], rtol=1e-6)
    np.testing.assert_array_equal(array(out, "labels/annotation/0"), array(ct / label_group(ct, "abdomen"), "0"))


def test_an_interrupted_export_goes_on(nuclei, tmp_path):
    for out, threads in (("a", 1), ("b", 3)):
        headrace("export", nuclei, "--as", "ome-zarr", "--out", tmp_path / out, "--threads", threads)
    whole = tree(tmp_path / "a")
    assert whole == tree(tmp_path / "b") and len(list((tmp_path / "a").iterdir())) == 6
    first, *others = sorted((tmp_path / "a").iterdir())
    kept = {p: p.stat().st_ino for p in others}
    first.rename(tmp_path / f"a/.part-{first.name}")  # as a killed export leaves it
    (tmp_path / f"a/.part-{first.name}/junk").write_text("junk")
    headrace("export", nuclei, "--as", "ome-zarr", "--out", tmp_path / "a")
    assert tree(tmp_path / "a") == whole and {p: p.stat().st_ino for p in others} == kept
    said = message_of(headrace("export", nuclei, "--as", "ome-zarr", "--codec", "raw", "--out", tmp_path / "a", code=2))
    assert "is not this export" in said and tree(tmp_path / "a") == whole


@pytest.mark.parametrize("from_store", [False, True])
def test_a_predicted_slide_lies_beside_its_labels(slide, tmp_path, from_store):
    height, width = level0(SLIDE).shape[1:]
    folder, classes = slide_result(tmp_path / "r", slide if from_store else SLIDE, (height, width), 4, name=SLIDE.stem)
    headrace("export", folder, "--as", "ome-zarr", "--out", tmp_path / "out")
    out = tmp_path / f"out/{SLIDE.stem}.ome.zarr"
    np.testing.assert_array_equal(array(out, "0"), level0(SLIDE))
    image, label = ome_of(out)["multiscales"][0], ome_of(out / "labels/classes")
    ImageLabel.from_zarr(zarr.open_group(out / "labels/classes", mode="r"))
    levels = label["multiscales"][0]["datasets"]
    assert len(levels) == len(image["datasets"]) > 2 and codecs_in(out) <= CORE
    steps = image["datasets"][0]["coordinateTransformations"][0]["scale"][1:]
    for k, level in enumerate(levels):
        first = [(4 * 2**min(k, 1) - 1) / 2 * step for step in steps]  # the result has two levels; the others are thinned from the second
        assert level["coordinateTransformations"] == [{"type": "scale", "scale": [step * 4 * 2**k for step in steps]},
                                                      {"type": "translation", "translation": first}]
        np.testing.assert_array_equal(array(out / "labels/classes", str(k)), classes[::2**k, ::2**k])
    colours = {c["label-value"]: c["rgba"] for c in label["image-label"]["colors"]}
    assert {k: colours[k] for k in COLOURS} == {k: [*rgb, 255] for k, rgb in COLOURS.items()} and colours[0][3] == 0
    assert label["image-label"]["properties"][3] == {"label-value": 3, "class": "pattern3"}
    kept = out.stat().st_ino
    headrace("export", folder, "--as", "ome-zarr", "--out", tmp_path / "out")
    assert out.stat().st_ino == kept


def test_a_predicted_folder_is_searched_for_the_image(tmp_path):
    (tmp_path / "in/deep").mkdir(parents=True)
    shutil.copy(SLIDE, tmp_path / "in/deep/second.svs")
    shutil.copy(SAMPLES / "slides/dicom-bone-jpeg.dcm", tmp_path / "in/x.dcm")
    folder, _ = slide_result(tmp_path / "r", tmp_path / "in", level0(SLIDE).shape[1:], 4, name="second")
    headrace("export", folder, "--as", "ome-zarr")
    np.testing.assert_array_equal(array(folder / "second.ome.zarr", "0"), level0(SLIDE))
    folder, _ = slide_result(tmp_path / "d", tmp_path / "in", (715, 957), 4, name="in")  # DICOM slides are named after their folder
    headrace("export", folder, "--as", "ome-zarr")
    np.testing.assert_array_equal(array(folder / "in.ome.zarr", "0"), level0(SAMPLES / "slides/dicom-bone-jpeg.dcm"))


def grids_of(store, name):
    facts = json.loads((store / f"images/{name}/zarr.json").read_text())["attributes"]["headrace"]
    nifti = nibabel.load(CT / "ct.nii.gz")
    file = {"shape_zyx": list(nifti.shape[::-1]), "affine_lps": list((np.diag([-1.0, -1, 1, 1]) @ nifti.affine).ravel())}
    lps = nifti.as_reoriented(nibabel.orientations.ornt_transform(nibabel.io_orientation(nifti.affine),
                                                                   nibabel.orientations.axcodes2ornt("LPS")))
    grid = {"shape_zyx": list(lps.shape[::-1]), "affine_lps": facts["affine_lps"]}
    return grid, file, ([0, 1, 2], [True, True, False]), np.asarray(lps.dataobj).transpose(2, 1, 0)


@pytest.mark.parametrize("from_store", [False, True])
def test_a_predicted_volume_lies_under_its_labels(ct, tmp_path, from_store):
    grid, file, axes, voxels = grids_of(ct, "abdomen")
    lesions = np.zeros(voxels.shape, np.uint8)
    lesions[4:9, 20:41, 30:50], lesions[12:14, 7:9, 9:11] = 1, 2
    folder, classes = volume_result(tmp_path / "r", ct if from_store else CT / "ct.nii.gz", grid, file, axes, ["background", "a", "b"],
                                    lesions, name="abdomen")
    headrace("export", folder, "--as", "ome-zarr")
    out = folder / "abdomen.ome.zarr"
    np.testing.assert_array_equal(array(out, "0"), voxels)
    for name, values in (("classes", classes), ("lesions", lesions)):
        np.testing.assert_array_equal(array(out, f"labels/{name}/0"), values)
        image, label = ome_of(out)["multiscales"][0], ome_of(out / f"labels/{name}")["multiscales"][0]
        assert label["datasets"][0] == image["datasets"][0] and label["axes"] == image["axes"]
        for ours, theirs in zip(label["datasets"], image["datasets"], strict=True):  # coarser levels are thinned, so their first voxel is level 0's
            assert ours["coordinateTransformations"] == [theirs["coordinateTransformations"][0], image["datasets"][0]["coordinateTransformations"][1]]
        for k in range(1, len(label["datasets"])):
            step = [-(-a // b) for a, b in zip(values.shape, array(out, str(k)).shape)]
            np.testing.assert_array_equal(array(out, f"labels/{name}/{k}"), values[::step[0], ::step[1], ::step[2]])
    assert [p["class"] for p in ome_of(out / "labels/lesions")["image-label"]["properties"]] == ["background", "lesion 1", "lesion 2"]
    assert [node for node in ome_of(out / "labels")["labels"]] == ["classes", "lesions"]


def test_another_image_is_not_taken_for_the_predicted_one(slide, tmp_path):
    folder, _ = slide_result(tmp_path / "r", SAMPLES / "slides/CMU-1-Small-Region.svs", (700, 900), 4, name="x")
    said = message_of(headrace("export", folder, "--as", "ome-zarr", code=2))
    assert "2220x2967 pixels, and the prediction is of a slide of 900x700" in said and not (folder / "x.ome.zarr").exists()
    assert "gone.svs" in message_of(headrace("export", folder, "--as", "ome-zarr", "--source", tmp_path / "gone.svs", code=1))


@pytest.mark.parametrize("arguments, words", [
    (["--as", "geojson"], "a store, which is exported as ome-zarr"),
    (["--as", "ome-zarr", "--tolerance", 1], "--tolerance: belongs to geojson"),
    (["--as", "ome-zarr", "--source", "x"], "--source: belongs to predictions"),
    ([], "--as: name one or more formats of geojson"),
])
def test_what_does_not_belong_to_a_store_is_refused(nuclei, tmp_path, arguments, words):
    assert words in message_of(headrace("export", nuclei, *arguments, "--out", tmp_path / "out", code=2))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("arguments, words", [
    (["--as", "csv", "--codec", "zstd"], "--codec: belongs to ome-zarr"),
    (["--as", "ome-tiff,csv", "--min-area-mm2", 1], "--min-area-mm2: belongs to geojson"),
    (["--as", "geojson", "--source", "x"], "--source: belongs to dicom-seg"),
    (["--as", "ome-zarr", "--images", "a"], "--images: belongs to stores"),
    (["--as", "ome-zarr", "--version", "abcd"], "--version: belongs to stores"),
])
def test_options_of_other_formats_are_refused(slide, tmp_path, arguments, words):
    folder, _ = slide_result(tmp_path / "r", SLIDE, (700, 900), 4)
    assert words in message_of(headrace("export", folder, *arguments, code=2))
    assert not list(folder.glob("slide.*"))


def test_an_image_that_is_not_there(nuclei, tmp_path):
    said = message_of(headrace("export", nuclei, "--as", "ome-zarr", "--images", "nobody", "--out", tmp_path / "out", code=1))
    assert "no image 'nobody'" in said and not (tmp_path / "out").exists()


def test_a_volume_is_no_jpeg(ct, tmp_path):
    said = message_of(headrace("export", ct, "--as", "ome-zarr", "--codec", "jpeg", "--out", tmp_path / "out", code=2))
    assert "choose another codec" in said and not list((tmp_path / "out").iterdir())
