"""`ingest slides --pixels reference`: stores whose pixels stay in the slides' files, held to copied stores, NumPy and zarr-python."""
import json
import os
import shutil

import imagecodecs
import numpy as np
import pytest
import tifffile
import zarr
from driving import SAMPLES, headrace, json_of, message_of, sentence_of
from made_once import made_once
from written_slides import averaged, write_jpeg2000, write_pyramid, ycbcr

SLIDES = SAMPLES / "slides"
# What the levels of each slide are: of the file, averaged when they are read, kept in the store.
KINDS = {"one": "rakk", "dense": "rrrr", "aperio": "rarkr", "rgb": "rarkr", "twenty": "rarkr", "halves": "rrkkk", "jp2k": "rrkkk", "ycc": "rkk"}


def make_inputs(folder):
    shutil.copy(SLIDES / "CMU-1-Small-Region.svs", folder / "one.svs")
    shutil.copy(SLIDES / "derived/cmu-aperio-style-4level.svs", folder / "dense.svs")
    shutil.copy(SLIDES / "TCGA-CR-7395-01A-01-TS1.svs", folder / "jp2k.svs")
    pixels = tifffile.imread(SLIDES / "CMU-1-Small-Region.svs", key=0)
    large = np.concatenate([pixels, pixels[:, ::-1]], 1)
    write_pyramid(folder / "aperio.tif", large, [1, 4, 16], mpp=0.25)
    write_pyramid(folder / "rgb.tif", large, [1, 4, 16], mpp=0.25, photometric="rgb", edge=512)
    write_pyramid(folder / "twenty.tif", large, [1, 4, 16], mpp=0.5)
    write_pyramid(folder / "halves.tif", large, [1, 2], mpp=0.5)
    write_jpeg2000(folder / "ycc.tif", ycbcr(pixels[700:1900, 500:1700]), 33003, "ycbcr")


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    return made_once(tmp_path_factory, "referenced-slides", make_inputs)


@pytest.fixture(scope="module")
def stores(inputs, tmp_path_factory):
    """A folder with copied.zarr and referring.zarr of all inputs."""
    def make(folder):
        for name, pixels in (("copied", "copy"), ("referring", "reference")):
            headrace("ingest", "slides", inputs, "--out", folder / f"{name}.zarr", "--pixels", pixels, "--mpp", 0.5)
    return made_once(tmp_path_factory, "referring-stores", make)


def file_of(inputs, image):
    return next(path for path in inputs.iterdir() if path.stem == image)


def facts(store, image):
    return json.loads((store / f"images/{image}/zarr.json").read_text())["attributes"]["headrace"]


def level_of(store, image, level, folder):
    height, width = facts(store, image)["levels"][level]
    out = folder / f"{store.stem}-{image}-{level}.png"
    headrace("read", store, image, "--level", level, "--origin", "0,0", "--size", f"{height},{width}", "--out", out)
    return imagecodecs.png_decode(out.read_bytes())


def write_config(path, store, mpp):
    path.write_text(f"task: segmentation\ndata: {{store: {store}}}\npatch: {{size: [96, 96], mpp: {mpp}}}\n"
                    "sampling: {seed: 7, batch: 6, batches_per_epoch: 8}\ntransforms:\n"
                    "  - affine: {rotate_deg: [-180, 180], scale: [0.8, 1.25], shear_deg: [-5, 5], flip: true}\n"
                    "  - stain_normalize: {method: macenko, reference: builtin}\n  - hed_jitter: {sigma: 0.05}\n"
                    "  - normalize: {mean: [0.7, 0.55, 0.7], std: [0.2, 0.22, 0.18]}\n")
    return path


def batches(folder, store, mpp, *arguments):
    done = json_of("batches", "--config", write_config(folder / f"{store.stem}-{mpp}.yaml", store, mpp), "--count", 4, *arguments)
    return [(batch["images_sha256"], batch["labels_sha256"]) for batch in done["batches"]]


@pytest.mark.parametrize("image", KINDS)
def test_levels_are_those_of_the_copied_store(stores, image, tmp_path):
    copied, referring = stores / "copied.zarr", stores / "referring.zarr"
    found = facts(referring, image)
    kinds = "".join("r" if k in found["referenced_levels"] else "a" if k in found["averaged_levels"] else "k" for k in range(len(found["levels"])))
    assert kinds == KINDS[image] and found["levels"] == facts(copied, image)["levels"]
    for level, kind in enumerate(kinds):
        expected = averaged(level_of(copied, image, level - 1, tmp_path)) if kind == "a" else level_of(copied, image, level, tmp_path)
        np.testing.assert_array_equal(level_of(referring, image, level, tmp_path), expected)
        own = {path.name for path in (referring / f"images/{image}/{level}").iterdir()}
        assert own == {"r": {"zarr.json", "tiles"}, "a": {"zarr.json"}, "k": {"zarr.json", "c"}}[kind]


@pytest.mark.parametrize("mpp", [0.25, 0.5, 2])
def test_batches_of_levels_that_the_files_have_are_those_of_the_copied_store(inputs, tmp_path, mpp):
    names = {0.25: ["aperio", "rgb"], 0.5: [name for name in KINDS if name not in ("aperio", "rgb")], 2: ["aperio", "rgb", "twenty", "dense"]}[mpp]
    files = [file_of(inputs, name) for name in names]
    stores = {pixels: tmp_path / f"{pixels}.zarr" for pixels in ("copy", "reference")}
    hashes = {}
    for pixels, store in stores.items():
        hashes[pixels] = json_of("ingest", "slides", *files, "--out", store, "--mpp", 0.5, "--pixels", pixels)["dataset_hash"]
    assert hashes["copy"] != hashes["reference"]
    expected = batches(tmp_path, stores["copy"], mpp)
    assert len(set(expected)) == len(expected)
    for threads in (1, 3):
        assert batches(tmp_path, stores["reference"], mpp, "--threads", threads) == expected
    assert batches(tmp_path, stores["reference"], mpp, "--split", "train") == batches(tmp_path, stores["copy"], mpp, "--split", "train")


def test_what_it_costs_is_said(inputs, tmp_path):
    done = headrace("ingest", "slides", inputs, "--out", tmp_path / "s.zarr", "--pixels", "reference", "--mpp", 0.5)
    assert "the files keep the pixels" in done.stdout and "4 of them lack the level of half the size" in done.stdout, done.stdout
    assert "2 of them keep their JPEG 2000 tiles" in done.stdout
    again = json_of("ingest", "slides", inputs, "--out", tmp_path / "s.zarr", "--pixels", "reference", "--mpp", 0.5)
    assert again["reused"] == again["images"] == again["referenced_slides"] == len(KINDS)
    assert again["averaged_slides"] == 4 and again["jpeg2000_slides"] == 2
    assert again["stored_bytes"] < 0.35 * again["source_bytes"]


def test_zarr_python_refuses_what_it_cant_read(stores, tmp_path):
    """Rather than giving fill values; also where it knows the codecs."""
    for level in (0, 1):
        folder = shutil.copytree(stores / f"referring.zarr/images/one/{level}", tmp_path / str(level))
        metadata = json.loads((folder / "zarr.json").read_text())
        (folder / "zarr.json").write_text(json.dumps(metadata | {"codecs": [{"name": "bytes"}]}))
        with pytest.raises(ValueError, match="storage transformers"):
            zarr.open_array(str(folder), mode="r")


@pytest.fixture
def store(inputs, tmp_path):
    """A store of one slide, whose file may be changed."""
    shutil.copy(file_of(inputs, "dense"), tmp_path / "dense.svs")
    headrace("ingest", "slides", tmp_path / "dense.svs", "--out", tmp_path / "s.zarr", "--pixels", "reference")
    return tmp_path / "s.zarr"


def read(store, code=0):
    return headrace("read", store, "dense", "--level", 0, "--origin", "0,0", "--size", "64,64", "--out", store.parent / "p.png", code=code)


def test_a_file_that_is_touched_or_copied_is_still_the_same(store, tmp_path):
    os.utime(tmp_path / "dense.svs", (1, 1))
    read(store)
    headrace("verify", store)


def test_files_that_moved_are_found_by_one_line(store, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "dense.svs").rename(tmp_path / "elsewhere/dense.svs")
    text = message_of(read(store, code=1))
    assert "dense.svs: is not there" in text and "references.json" in text
    references = store / "references.json"
    stated = json.loads(references.read_text())
    assert stated["root"] == str(tmp_path.resolve())
    references.write_text(json.dumps(stated | {"root": str(tmp_path / "elsewhere")}))
    read(store)
    headrace("verify", store)


@pytest.mark.parametrize("change", ["shorter", "longer", "other bytes", "other slide", "gone"])
def test_a_file_that_is_another_now_is_refused(store, tmp_path, inputs, change):
    file = tmp_path / "dense.svs"
    raw = bytearray(file.read_bytes())
    if change == "shorter":
        file.write_bytes(raw[:-1])
    elif change == "longer":
        file.write_bytes(raw + b"x")
    elif change == "other bytes":
        raw[len(raw) // 2] ^= 1
        file.write_bytes(raw)
    elif change == "other slide":
        shutil.copy(file_of(inputs, "one"), file)
    else:
        file.unlink()
    code = 1 if change == "gone" else 4
    text = message_of(read(store, code=code))
    assert "dense.svs: is not " in text, text
    config = write_config(tmp_path / "c.yaml", store, 0.5)
    assert "dense.svs: is not " in sentence_of(headrace("batches", "--config", config, code=code))
    assert "dense.svs: is not " in headrace("verify", store, code=4).stdout


def test_a_store_without_its_references_is_not_sound(store, tmp_path):
    """Nor one with those of another store; the ingest writes them again."""
    references = store / "references.json"
    good = references.read_text()
    references.unlink()
    assert "does not say where its file lies" in headrace("verify", store, code=4).stdout
    assert "references.json" in message_of(headrace("ingest", "files", store, tmp_path, code=2))
    changed = json.loads(good)
    changed["images"]["dense"]["stamp"] = "0" * 64
    references.write_text(json.dumps(changed))
    assert "another file than the store was made of" in headrace("verify", store, code=4).stdout
    headrace("ingest", "slides", tmp_path / "dense.svs", "--out", store, "--pixels", "reference")
    assert references.read_text() == good
    headrace("verify", store)


def test_one_slide_under_two_names_in_two_splits_is_refused(inputs, tmp_path):
    """As of a copied store: a model would be judged on what it was trained on."""
    for name in ("a", "b"):
        shutil.copy(file_of(inputs, "dense"), tmp_path / f"{name}.svs")
    (tmp_path / "cases.csv").write_text("file,split\na.svs,train\nb.svs,val\n")
    said = [sentence_of(headrace("ingest", "slides", tmp_path, "--table", tmp_path / "cases.csv", "--out", tmp_path / f"{pixels}.zarr", "--pixels", pixels, code=2))
            for pixels in ("copy", "reference")]
    assert "same pixels" in said[1] and said[0].replace("copy.zarr", "reference.zarr") == said[1]


def test_what_is_left_out_is_not_referred_to(inputs, tmp_path):
    shutil.copy(file_of(inputs, "dense"), tmp_path / "good.svs")
    raw = file_of(inputs, "halves").read_bytes()
    (tmp_path / "cut.tif").write_bytes(raw[:len(raw) - 2000])
    done = headrace("ingest", "slides", tmp_path / "good.svs", tmp_path / "cut.tif", "--out", tmp_path / "s.zarr", "--pixels", "reference", "--on-error", "skip")
    assert "cut.tif" in done.stdout
    assert set(json.loads((tmp_path / "s.zarr/references.json").read_text())["images"]) == {"good"}


def test_the_hash_is_of_the_contents_not_of_the_place(store, inputs, tmp_path):
    other = tmp_path / "another/place"
    other.mkdir(parents=True)
    shutil.copy(tmp_path / "dense.svs", other / "dense.svs")
    hash_of = lambda folder, name: json_of("ingest", "slides", folder / "dense.svs", "--out", folder / name, "--pixels", "reference")["dataset_hash"]
    expected = hash_of(tmp_path, "s2.zarr")
    assert hash_of(other, "s2.zarr") == expected
    with tifffile.TiffFile(other / "dense.svs") as tiff:
        at = tiff.pages[0].dataoffsets[0] + 300  # glass, of which no figure is kept
    raw = bytearray((other / "dense.svs").read_bytes())
    raw[at] ^= 1
    (other / "dense.svs").write_bytes(raw)
    assert hash_of(other, "s3.zarr") != expected
    for file in (store / "references.json").parent.rglob("*.json"):
        assert file.name == "references.json" or str(tmp_path) not in file.read_text(), "only references.json says where files lie"


def test_new_labels_and_pruning_keep_the_references(store, tmp_path):
    before = read(store) and (tmp_path / "p.png").read_bytes()
    mask = np.zeros((2967 // 4, 2220 // 4), np.uint8)
    mask[100:300, 100:300] = 1
    (tmp_path / "labels").mkdir()
    (tmp_path / "labels/dense.png").write_bytes(imagecodecs.png_encode(mask))
    headrace("ingest", "labels", store, "--annotations", tmp_path / "labels", "--classes", "background,tumour")
    headrace("prune", store, "--keep-last", 1)
    headrace("verify", store)
    read(store)
    assert (tmp_path / "p.png").read_bytes() == before


@pytest.mark.parametrize("name, reason", [("hamamatsu-DAPI-387.ndpi", "hamamatsu"), ("dicom-camelyon-lowres.dcm", "dicom"), ("derived/cmu-lzw-pred-256.tif", "tiff"),
                                          ("derived/cmu-bigtiff-deflate-512.tif", "tiff")])
def test_other_formats_are_refused_with_what_to_do(tmp_path, name, reason):
    text = message_of(headrace("ingest", "slides", SLIDES / name, "--out", tmp_path / "s.zarr", "--pixels", "reference", "--mpp", 0.5, code=1))
    assert "--pixels copy" in text and reason in text.lower() and not (tmp_path / "s.zarr").exists(), text


@pytest.mark.parametrize("arguments", [("--codec", "blosc-zstd"), ("--chunk", 512), ("--drop-glass",)])
def test_options_that_copy_are_refused(tmp_path, inputs, arguments):
    text = sentence_of(headrace("ingest", "slides", file_of(inputs, "dense"), "--out", tmp_path / "s.zarr", "--pixels", "reference", *arguments, code=2))
    assert "--pixels" in text and arguments[0] in text and not (tmp_path / "s.zarr").exists(), text


def test_export_gives_pixels_that_any_reader_reads(stores, tmp_path):
    for name in ("copied", "referring"):
        headrace("export", "ome-zarr", stores / f"{name}.zarr", "--images", "twenty", "--out", tmp_path / name)
    for level in (0, 2, 3, 4):
        copied, referring = (zarr.open_array(str(next((tmp_path / name).rglob(f"{level}/zarr.json")).parent), mode="r")[:] for name in ("copied", "referring"))
        np.testing.assert_array_equal(copied, referring)
