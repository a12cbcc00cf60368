"""`batches --patches`: the patches that a user lists, held to the slide's own pixels."""
import hashlib

import numpy as np
import openslide
import pytest
import tifffile
from driving import SAMPLES, headrace, json_of, message_of, write_table
from made_once import made_once

SLIDES = {"CMU-1-Small-Region": SAMPLES / "slides/CMU-1-Small-Region.svs", "cmu-aperio-style-4level": SAMPLES / "slides/derived/cmu-aperio-style-4level.svs"}


def make_stores(folder):
    for name, pixels in (("copied", "copy"), ("referring", "reference")):
        headrace("ingest", "slides", *SLIDES.values(), "--out", folder / f"{name}.zarr", "--pixels", pixels)


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    return made_once(tmp_path_factory, "listed-stores", make_stores)


def config(path, store, size=(96, 160), mpp=0.499, more=""):
    path.write_text(f"task: segmentation\ndata: {{store: '{store}', labels: null}}\npatch: {{size: {list(size)}, mpp: {mpp}}}\nsampling: {{seed: 7, batch: 4}}\neval: {{batch: 4}}\n{more}")
    return path


def rows(count=10, seed=1, **more):
    random, out = np.random.default_rng(seed), []
    for i in range(count):
        image = list(SLIDES)[int(random.integers(2))]
        out.append({"case": f"p{i}", "image": image, "x": int(random.integers(0, 1800)), "y": int(random.integers(0, 1500)), **more})
    return out


def tensors(folder):
    return np.concatenate([np.load(file) for file in sorted(folder.glob("*-images.npy"), key=lambda path: int(path.stem.split("-")[2]))])


def test_pixels_are_those_of_the_slide_in_the_order_of_the_list(stores, tmp_path):
    listed = rows()
    table = write_table(tmp_path / "places.csv", listed)
    hashes = set()
    for store in ("copied", "referring"):
        for threads in (1, 4):
            out = tmp_path / f"{store}-{threads}"
            words = ["--config", config(tmp_path / "c.yaml", stores / f"{store}.zarr"), "--patches", table, "--count", 9, "--threads", threads]
            done = json_of("batches", *words, "--out", out)
            hashes.add(done["sha256"])
            assert [batch["samples"] for batch in done["batches"]] == [4, 4, 2]
            assert done["patches"] == {"sha256": hashlib.sha256(table.read_bytes()).hexdigest(), "augmented": False}
    assert len(hashes) == 1
    images = tensors(tmp_path / "copied-1")
    assert images.shape == (10, 1, 3, 96, 160)
    for row, image in zip(listed, images):
        with openslide.OpenSlide(SLIDES[row["image"]]) as slide:
            expected = np.asarray(slide.read_region((row["x"], row["y"]), 0, (160, 96)).convert("RGB"))
        shown = np.rint(image[0].transpose(1, 2, 0) * 255)
        assert np.array_equal(shown, expected), row


def test_size_and_level_change_from_run_to_run(stores, tmp_path):
    """The same list at four times the pixel size is level 2 of the slide that has it."""
    listed = [row for row in rows(40) if row["image"] == "cmu-aperio-style-4level"]
    listed = [row | {"x": row["x"] // 4 * 4, "y": row["y"] // 4 * 4} for row in listed]
    with tifffile.TiffFile(SLIDES["cmu-aperio-style-4level"]) as tiff:
        quarter = next(page.asarray() for page in tiff.pages if page.is_tiled and 4 * page.imagewidth <= tiff.pages[0].imagewidth < 4 * page.imagewidth + 4)
    with openslide.OpenSlide(SLIDES["cmu-aperio-style-4level"]) as slide:
        mpp = float(slide.properties["openslide.mpp-x"])
    listed = [row for row in listed if row["y"] // 4 + 64 <= quarter.shape[0] and row["x"] // 4 + 64 <= quarter.shape[1]]
    expected = [quarter[row["y"] // 4:, row["x"] // 4:][:64, :64] for row in listed]
    table = write_table(tmp_path / "places.csv", listed)
    json_of("batches", "--config", config(tmp_path / "c.yaml", stores / "referring.zarr", (64, 64), 4 * mpp), "--patches", table, "--count", 99, "--out", tmp_path / "out")
    shown = np.rint(tensors(tmp_path / "out")[:, 0].transpose(0, 2, 3, 1) * 255)
    assert len(shown) == len(expected) > 10 and all(np.array_equal(one, other) for one, other in zip(shown, expected))


def test_augmented_epochs_are_permutations(stores, tmp_path):
    """Each patch once an epoch, in another order, turned; the same for any number of threads."""
    table = write_table(tmp_path / "places.csv", rows())
    more = "transforms:\n  - affine: {flip: true}\n"
    words = ["--config", config(tmp_path / "c.yaml", stores / "copied.zarr", (64, 64), more=more), "--patches", table, "--augment"]
    both = [json_of("batches", *words, "--count", 6, "--threads", threads, "--out", tmp_path / str(threads)) for threads in (1, 4)]
    assert both[0]["sha256"] == both[1]["sha256"]
    assert [(batch["epoch"], batch["samples"]) for batch in both[0]["batches"]] == [(e, n) for e in (0, 1) for n in (4, 4, 2)]

    def seen(epoch):
        images = np.concatenate([np.load(tmp_path / f"1/batch-{epoch}-{i}-images.npy") for i in range(3)])
        return [hashlib.sha256(np.sort(image.reshape(3, -1), axis=1).tobytes()).hexdigest() for image in images]

    assert sorted(seen(0)) == sorted(seen(1)) and len(set(seen(0))) == 10 and seen(0) != seen(1)


@pytest.mark.parametrize("text, said", [
    ("image,x\na,1\n", "has no column 'y'"),
    ("image,x,y\n", "lists no patches"),
    ("image,x,y\nCMU-1-Small-Regoin,1,2\n", "line 2: image 'CMU-1-Small-Regoin' is not in the store; did you mean 'CMU-1-Small-Region'?"),
    ("image,x,y\nCMU-1-Small-Region,1.5,2\n", "line 2: x is '1.5', expected a whole number"),
    ("image,x,y\n,1,2\n", "line 2: names no image"),
    ("image,x,y\nCMU-1-Small-Region,90000,2\n", "line 2: x 90000, y 2 lies outside"),
    ("image,x,y\nCMU-1-Small-Region,-200,2\n", "line 2: x -200, y 2 lies outside"),
    ("image,x,y,width\nCMU-1-Small-Region,1,2,9\n", "has only one"),
    ("image,x,y,width,height\nCMU-1-Small-Region,1,2,0,0\n", "0x0 pixels are no patch"),
    ("image,x,y,width,height\nCMU-1-Small-Region,1,2,256,256\n", "set patch: {size: [256, 256], mpp: 0.499}"),
    ("image,x,y,level,width,height\nCMU-1-Small-Region,1,2,0,160,96\nCMU-1-Small-Region,1,2,1,160,96\n", "line 3: 160x96 pixels of level 1"),
    ("image,x,y,level,width,height\nCMU-1-Small-Region,1,2,0,256,256\n", "set patch: {size: [256, 256], mpp: 0.499}"),
    ("image,x,y,level,width,height\nCMU-1-Small-Region,1,2,9,256,256\n", "level 9 is listed"),
])
def test_lists_that_are_refused(stores, tmp_path, text, said):
    (tmp_path / "places.csv").write_text(text)
    done = headrace("batches", "--config", config(tmp_path / "c.yaml", stores / "copied.zarr"), "--patches", tmp_path / "places.csv", code=2)
    assert said in message_of(done) and "places.csv" in done.stderr, done.stderr


def test_cells_that_say_nothing(stores, tmp_path):
    """A level is 0 where none is stated, and a size is as the config has it."""
    written = config(tmp_path / "c.yaml", stores / "copied.zarr")
    hashes = set()
    for columns, cells in (("", ""), (",level", ",3"), (",width,height", ",160,96"), (",level,width,height", ",,,"), (",level,width,height", ",,160,96"), (",level,width,height", ",+0,160.0,96")):
        (tmp_path / "places.csv").write_text(f"\ufeffimage,x,y{columns}\nCMU-1-Small-Region,+10,20{cells}\n")
        hashes.add(json_of("batches", "--config", written, "--patches", tmp_path / "places.csv")["sha256"])
    assert len(hashes) == 1


def test_what_does_not_go_together(stores, tmp_path):
    written = config(tmp_path / "c.yaml", stores / "copied.zarr")
    table = write_table(tmp_path / "places.csv", rows(level=0, width=160, height=96))
    assert json_of("batches", "--config", written, "--patches", table)["sha256"]
    for words, said in ((["--augment"], "--augment belongs to --patches"), (["--patches", table, "--split", "val"], "name one of them"),
                        (["--patches", table, "--start", 3], "has 3 batches, the last is 2")):
        assert said in message_of(headrace("batches", "--config", written, *words, code=2))
