"""Batches, boxes and montages of a real CT with real labels: the same whatever the threads, the start and the instruction set, equal to
NumPy's and SciPy's, and from a store that zarr-python wrote."""
import hashlib
import json

import numpy as np
import pytest
from driving import SAMPLES, headrace, json_of, message_of
from PIL import Image
from scipy.ndimage import map_coordinates
from volume_store import read_nifti, write_volume_store

CT, SEG = (SAMPLES / "ct/totalseg-abdomen" / name for name in ("ct.nii.gz", "seg.nii.gz"))
CHAIN = """transforms:
  - affine: {rotate_deg: [-20, 20], scale: [0.8, 1.25], shear_deg: [-5, 5], translate: 0.1, flip: true}
  - elastic: {grid: 4, magnitude_mm: 8, probability: 0.5}
  - window_hu: {low: -160, high: 240}
  - gaussian_noise: {sigma: [0, 0.05], probability: 0.5}
  - gamma: {gamma: [0.7, 1.5], probability: 0.5}
  - contrast: {factor: [0.8, 1.2]}
"""


@pytest.fixture(scope="module")
def scan():
    return read_nifti(CT, SEG)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """What ingest makes of the scan."""
    folder = tmp_path_factory.mktemp("scan")
    for kind, file in (("images", CT), ("labels", SEG)):
        (folder / kind).mkdir()
        (folder / kind / "abdomen.nii.gz").write_bytes(file.read_bytes())
    headrace("ingest", "volumes", folder / "images", "--labels", folder / "labels", "--val-fraction", 0, "--out", folder / "ct.zarr")
    return folder / "ct.zarr"


def write_config(path, store, size="[32, 48, 64]", spacing="[3, 2.5, 2.5]", transforms=CHAIN, sampling="", extra=""):
    path.write_text(f"task: segmentation\ndata: {{store: {store}}}\npatch: {{size: {size}, spacing_mm: {spacing}}}\n"
                    f"sampling: {{seed: 7, batch: 2, batches_per_epoch: 3{sampling}}}\nmodel: {{widths: [8, 16]}}\n{transforms}{extra}")
    return path


@pytest.fixture(scope="module")
def config(store, tmp_path_factory):
    return write_config(tmp_path_factory.mktemp("config") / "run.yaml", store)


def hashes(config, *arguments):
    return [json.dumps(b, sort_keys=True) for b in json_of("batches", "--config", config, *arguments)["batches"]]


def only_tile(store, folder, spacing, size, transforms=""):
    """Images and labels of the one window that holds the whole scan."""
    config = write_config(folder / "run.yaml", store, size, spacing, transforms)
    result = json_of("batches", "--config", config, "--split", "train", "--count", 9, "--out", folder / "out")
    assert [b["samples"] for b in result["batches"]] == [1]
    return [np.load(folder / "out" / f"batch-0-0-{what}.npy")[0] for what in ("images", "labels")]


@pytest.mark.parametrize("start", [0, 1000])
def test_threads_and_instruction_sets_do_not_matter(config, start):
    one = hashes(config, "--count", 4, "--start", start, "--threads", 1)
    assert len(set(one)) == 4
    for threads in (2, 7):
        assert hashes(config, "--count", 4, "--start", start, "--threads", threads) == one, threads
    assert hashes(config, "--count", 2, "--start", start + 2) == one[2:]
    flags = open("/proc/cpuinfo").read()
    for isa, needed in (("v1", "sse2"), ("v2", "sse4_2"), ("v3", "avx2"), ("v4", "avx512_vbmi2")):
        if needed in flags:
            assert hashes(config, "--count", 4, "--start", start, "--isa", isa) == one, isa


def test_a_store_that_zarr_python_wrote_gives_the_same_batches(config, store, tmp_path):
    other = write_volume_store(tmp_path / "other.zarr", "abdomen", CT, SEG)
    for sampling, transforms in ((", foreground: 1.0", CHAIN), (", foreground: 1.0, balance: class", "transforms: [{normalize: {method: foreground}}]\n")):
        ours, theirs = (write_config(tmp_path / f"{i}.yaml", s, transforms=transforms, sampling=sampling) for i, s in enumerate((store, other)))
        assert hashes(ours, "--count", 3) == hashes(theirs, "--count", 3)


def test_what_is_written_is_what_is_hashed(config, tmp_path):
    result = json_of("batches", "--config", config, "--count", 2, "--out", tmp_path)
    assert result["image_shape"] == [1, 32, 48, 64]
    for i, batch in enumerate(result["batches"]):
        images, labels = (np.load(tmp_path / f"batch-0-{i}-{what}.npy") for what in ("images", "labels"))
        assert images.shape == (2, 1, 32, 48, 64) and images.dtype == np.float32 and np.isfinite(images).all()
        assert labels.shape == (2, 32, 48, 64) and labels.dtype == np.uint8
        assert hashlib.sha256(images.tobytes()).hexdigest() == batch["images_sha256"]
        assert hashlib.sha256(labels.tobytes()).hexdigest() == batch["labels_sha256"]


def test_a_resampled_tile_is_scipys(store, scan, tmp_path):
    hu, labels, spacing, _ = scan
    assert spacing == [3, 3, 3]
    target, size = np.array([2.5, 2.0, 2.2]), (36, 152, 168)
    image, label = only_tile(store, tmp_path, "[2.5, 2.0, 2.2]", list(size), "transforms: [{window_hu: {low: -160, high: 240}}]\n")
    at = [(np.arange(n) + 0.5) * t / 3 for n, t in zip(size, target)]
    grid = np.meshgrid(*[a - 0.5 for a in at], indexing="ij")
    model = map_coordinates(hu.astype(np.float64), grid, order=1, mode="nearest")
    model = np.clip((model + 160) / 400, 0, 1)
    # float32 coordinates: 1e-5 of a voxel where neighbours differ by a thousand HU.
    assert np.abs(image[0] - model).max() < 1e-3
    nearest = [np.floor(a).astype(int) for a in at]
    expected = np.full(size, 255, np.uint8)
    inside = [n < extent for n, extent in zip(nearest, hu.shape)]
    expected[np.ix_(*inside)] = labels[np.ix_(*[n[i] for n, i in zip(nearest, inside)])]
    # Voxels exactly between two may go either way.
    assert (label != expected).mean() < 1e-5


def test_a_coarse_tile_is_the_stored_level(store, tmp_path):
    image, label = only_tile(store, tmp_path, "[6, 6, 6]", "[16, 52, 62]")
    boxes = []
    for more in ((), ("--label", "annotation")):
        headrace("read", store, "abdomen", "--level", 1, "--origin", "0,0,0", "--size", "15,51,61", *more, "--out", tmp_path / "box.npy")
        boxes.append(np.load(tmp_path / "box.npy"))
    assert boxes[0].dtype == np.int16 and boxes[1].dtype == np.uint8
    assert np.abs(image[0, :15, :51, :61] - boxes[0]).max() < 0.01
    assert (label[:15, :51, :61] == boxes[1]).all()
    assert (label[15:] == 255).all() and (label[:, 51:] == 255).all() and (label[:, :, 61:] == 255).all()


def test_labels_stay_on_what_they_label(store, scan, tmp_path):
    hu, labels, _, _ = scan
    config = write_config(tmp_path / "run.yaml", store, "[32, 96, 96]", "[3, 3, 3]", CHAIN.split("  - window")[0], ", foreground: 1.0")
    headrace("batches", "--config", config, "--count", 12, "--out", tmp_path / "out")
    values = {}
    for file in sorted((tmp_path / "out").glob("*-images.npy")):
        image, label = np.load(file)[:, 0], np.load(str(file).replace("images", "labels"))
        for c in np.unique(label):
            values.setdefault(int(c), []).append(image[label == c])
    # Organs of one tissue: part of a lung, which thins towards its edge, has a mean of its own, and so have thin cartilages (117).
    even = [c for c in values if c not in (0, 255) and (labels == c).sum() > 2500 and hu[labels == c].std() < 50]
    assert len(even) >= 4
    for c in even:
        assert abs(np.concatenate(values[c]).mean() - hu[labels == c].mean()) < 12, c


def test_read_gives_the_stored_voxels(store, scan, tmp_path):
    hu, labels, _, _ = scan
    headrace("read", store, "abdomen", "--origin", "-2,60,90", "--size", "10,50,40", "--out", tmp_path / "box.npy")
    expected = np.full((10, 50, 40), -1024, np.int16)
    expected[2:, :41, :32] = hu[:8, 60:, 90:]
    assert (np.load(tmp_path / "box.npy") == expected).all()
    headrace("read", store, "abdomen", "--label", "annotation", "--origin", "12,0,0", "--size", "1,101,122", "--out", tmp_path / "l.npy")
    assert (np.load(tmp_path / "l.npy")[0] == labels[12]).all()
    headrace("read", store, "abdomen", "--origin", "12,0,0", "--size", "1,101,122", "--window=-160,240", "--out", tmp_path / "s.png")
    picture = np.asarray(Image.open(tmp_path / "s.png")).astype(int)
    assert picture.shape == (101, 122, 3)
    assert np.abs(picture[..., 0] - np.clip((hu[12] + 160) / 400 * 255, 0, 255)).max() <= 0.5


def test_the_montage_shows_three_planes_of_each_sample(config, tmp_path):
    headrace("sample", "--config", config, "--count", 3, "--out", tmp_path / "m.png")
    picture = np.asarray(Image.open(tmp_path / "m.png")).astype(int)
    coloured = (picture.max(2) - picture.min(2) > 60).sum()
    grey = ((picture.max(2) == picture.min(2)) & (picture[..., 0] > 40) & (picture[..., 0] < 240)).sum()
    assert coloured > 500 and grey > 20000, "outlines and tissue"
    headrace("sample", "--config", config, "--count", 3, "--out", tmp_path / "again.png")
    assert (tmp_path / "again.png").read_bytes() == (tmp_path / "m.png").read_bytes()


def test_bench_measures_what_it_says(store, config):
    read = json_of("bench", "read", "--store", store, "--image", "abdomen", "--size", 24, "--seed", 404, "--count", 8)
    assert read["bytes_per_item"] == 24**3 * 2
    for what in ("transform", "loader"):
        result = json_of("bench", what, "--config", config, "--count", 4)
        assert result["bytes_per_item"] == 32 * 48 * 64 * 4 and result["cpu_ms_per_item"] > 0


def test_what_does_not_fit_is_one_sentence(store, nuclei, config, tmp_path):
    slides = tmp_path / "slides.yaml"
    slides.write_text(f"task: segmentation\ndata: {{store: {store}}}\n")
    assert "a store of volumes, but patch.size has 2 numbers, which is for slides" in message_of(
        headrace("batches", "--config", slides, code=2))
    volumes = write_config(tmp_path / "volumes.yaml", nuclei)
    assert "a store of slides, but patch.size has 3 numbers, which is for volumes" in message_of(
        headrace("batches", "--config", volumes, code=2))
    box = ("read", store, "abdomen", "--out", tmp_path / "b.png")
    assert "three numbers, z,y,x and d,h,w, for volumes; 2 and 2 numbers were given" in message_of(
        headrace(*box, "--origin", "0,0", "--size", "9,9", code=2))
    assert "a picture shows one slice" in message_of(headrace(*box, "--origin", "0,0,0", "--size", "9,9,9", code=2))
    assert "--level 7: image abdomen has levels 0 to 1" in message_of(
        headrace(*box, "--level", 7, "--origin", "0,0,0", "--size", "1,9,9", code=2))
    assert "--size 40: level 0 of abdomen has 30 x 101 x 122 voxels" in message_of(
        headrace("bench", "read", "--store", store, "--image", "abdomen", "--size", 40, code=2))
    assert not (tmp_path / "b.png").exists()
