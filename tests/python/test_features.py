"""Features of slides: those of a plain loop of openslide-python and torch, at every pixel size, in one stream over the slides."""
import _thread
import signal
import threading

import numpy as np
import pytest
import tifffile
import torch
from driving import SAMPLES, headrace
from feature_networks import MEAN, STD, Pixels, all_places, as_bytes, level0, padded, plain_loop, read_h5, small_network, tissue_places
from scipy.ndimage import map_coordinates
from slides import CMU, PYRAMID

import headrace as hr

TCGA = SAMPLES / "slides/TCGA-CR-7395-01A-01-TS1.svs"  # states no pixel size
JPEG = SAMPLES / "slides/derived/tcga-jpeg420-256.tif"
PLAIN = dict(mean=(0, 0, 0), std=(1, 1, 1), name="pixels")


@pytest.fixture(scope="session")
def store(tmp_path_factory):
    """A store of three slides; nothing may write into it."""
    path = tmp_path_factory.mktemp("features") / "s.zarr"
    headrace("ingest", "slides", CMU, PYRAMID, JPEG, "--out", path)
    return path


def level_by_tifffile(level):
    """A level of the pyramid, (y, x, 3) uint8."""
    with tifffile.TiffFile(PYRAMID) as tiff:
        return [page for page in tiff.pages if page.is_tiled][level].asarray()


def one(path, network, out, **options):
    report = hr.features(path, network, out, **options)
    assert report["skipped"] == [] and len(report["files"]) == 1
    return read_h5(*report["files"].values())


@pytest.mark.parametrize(("slide", "edge"), [(CMU, 256), (CMU, 200), (JPEG, 224)])
def test_every_patch_is_that_of_openslide_and_torch(slide, edge, tmp_path):
    network = small_network()
    features, coords, _ = one(slide, network, tmp_path, patch=edge, mpp=0.5, tissue=None, batch=5)
    places = all_places(*level0(slide).shape[1::-1], edge)
    assert coords.tolist() == [list(place) for place in places]
    assert features.dtype == np.float32
    np.testing.assert_allclose(features, plain_loop(slide, network, places, edge), rtol=0, atol=1e-6)


def test_the_input_has_the_bits_of_totensor_and_normalize(tmp_path):
    """By the operations of torchvision's two transforms: div, sub, div of float32."""
    features, coords, _ = one(CMU, Pixels(), tmp_path, patch=64, step=512)
    whole = level0(CMU)
    assert len(coords)
    for (x, y), seen in zip(coords, features, strict=True):
        values = torch.from_numpy(whole[y:y + 64, x:x + 64].transpose(2, 0, 1).copy()).to(torch.float32).div(255)
        expected = values.sub_(torch.tensor(MEAN)[:, None, None]).div_(torch.tensor(STD)[:, None, None])
        assert torch.equal(torch.from_numpy(seen).reshape(3, 64, 64), expected)


@pytest.mark.parametrize("least", [0.0, 0.1, 0.9])
def test_patches_of_tissue_are_those_of_the_mask_of_ingest(store, least, tmp_path):
    """The mask is that of the store; here its pixels are counted one by one."""
    mask, downsample = hr.open(store)[CMU.stem].tissue_mask()
    network = small_network()
    features, coords, _ = one(CMU, network, tmp_path, patch=192, step=130, tissue=least)
    width, height = level0(CMU).shape[1::-1]
    places = tissue_places(all_places(width, height, 130), mask, downsample, 192, least)
    assert 0 < len(places) < len(all_places(width, height, 130))
    assert coords.tolist() == [list(place) for place in places]
    np.testing.assert_allclose(features, plain_loop(CMU, network, places, 192), rtol=0, atol=1e-6)


@pytest.mark.parametrize(("mpp", "level"), [(1.0, 1), (2.0, 2), (4.0, 3)])
def test_pixels_of_a_level_are_taken_as_they_are(mpp, level, tmp_path):
    """The level by tifffile: 0.499 µm times 2, 4, 8 is within 1 % of what is asked for."""
    edge, factor = 96, 2**level
    pixels = padded(level_by_tifffile(level), edge)
    features, coords, _ = one(PYRAMID, Pixels(), tmp_path, patch=edge, mpp=mpp, tissue=None, batch=16, **PLAIN)
    seen = as_bytes(features, edge)
    height, width = level0(PYRAMID).shape[:2]
    assert coords.tolist() == [list(place) for place in all_places(width, height, edge * factor)]
    for (x, y), patch in zip(coords, seen, strict=True):
        expected = pixels[edge + y // factor:, edge + x // factor:][:edge, :edge]
        assert np.abs(patch - expected).max() < 1e-3, (x, y)


def area_means(pixels, origin, scale, edge):
    """Means of squares of this size, by sums up to each corner; linear between them. origin: x, y, not negative."""
    first = np.floor(origin).astype(int)
    size = int(np.ceil(scale * edge)) + 2
    part = pixels[first[1]:, first[0]:][:size, :size].astype(np.float64)
    sums = np.zeros((part.shape[0] + 1, part.shape[1] + 1, 3))
    sums[1:, 1:] = part.cumsum(0).cumsum(1)
    y, x = (origin[axis] - first[axis] + scale * np.arange(edge + 1) for axis in (1, 0))
    at = linear(sums, y, x)
    return (at[1:, 1:] - at[1:, :-1] - at[:-1, 1:] + at[:-1, :-1]) / scale**2


def linear(values, y, x):
    """Values (v, u, 3) at the crossings of these rows and columns, by SciPy."""
    crossings = np.meshgrid(y, x, indexing="ij")
    return np.stack([map_coordinates(values[..., c].astype(np.float64), crossings, order=1) for c in range(3)], -1)


@pytest.mark.parametrize(("mpp", "level"), [(0.7, 0), (1.3, 1), (0.503 * 3, 1), (6.1, 3)])
def test_between_two_levels_pixels_are_averaged_by_area(mpp, level, tmp_path):
    edge, factor = 64, 2**level
    pixels = np.pad(level_by_tifffile(level), ((0, 3 * edge), (0, 3 * edge), (0, 0)), constant_values=255)
    step = 300 // factor
    features, coords, attributes = one(PYRAMID, Pixels(), tmp_path, patch=edge, step=step, mpp=mpp, tissue=None, **PLAIN)
    scale = mpp / 0.499 / factor
    assert attributes["mpp"] == pytest.approx(mpp) and "patch_level" not in attributes
    x = [round(i * step * mpp / 0.499) for i in range(1 + int(2220 / (step * mpp / 0.499)))]
    assert sorted(set(coords[:, 0])) == x
    for place, patch in zip(coords, as_bytes(features, edge), strict=True):
        expected = area_means(pixels, place / factor, scale, edge)
        assert np.abs(patch - expected).max() < 0.51, place  # rounded to whole values


def test_finer_pixels_than_the_slides_are_linear(tmp_path):
    edge, scale = 64, 0.3 / 0.499
    pixels = padded(level0(CMU), edge)
    features, coords, _ = one(CMU, Pixels(), tmp_path, patch=edge, mpp=0.3, step=400, tissue=None, **PLAIN)
    centres = edge - 0.5 + scale * (np.arange(edge) + 0.5)
    for (x, y), patch in zip(coords, as_bytes(features, edge), strict=True):
        near = pixels[y:y + 3 * edge, x:x + 3 * edge]
        expected = linear(near, centres, centres)
        assert np.abs(patch - expected).max() < 0.51, (x, y)


def test_a_store_and_its_slides_give_the_same(store, tmp_path):
    for number, options in enumerate(({"mpp": 0.5}, {"mpp": 0.5, "step": 100, "patch": 128}, {"mpp": 0.8})):
        files = hr.features([CMU, PYRAMID, JPEG], small_network(), tmp_path / f"files{number}", **options)
        stored = hr.features(hr.open(store), small_network(), tmp_path / f"store{number}", **options)
        again = hr.features(f"{store}::{CMU.stem}", small_network(), tmp_path / f"image{number}", **options)
        assert files["patches"] == stored["patches"] > 0 and set(files["files"]) == set(stored["files"])
        for made in (stored, again):
            for name, path in made["files"].items():
                expected, got = read_h5(files["files"][name]), read_h5(path)
                assert np.array_equal(got[1], expected[1])
                np.testing.assert_allclose(got[0], expected[0], rtol=0, atol=1e-6)


def test_batches_go_on_over_the_borders_of_slides(tmp_path):
    shapes, starts = [], []

    def encoder(patches):
        shapes.append(tuple(patches.shape))
        starts.append(patches[:, :, 0, 0].clone())
        return patches.mean((2, 3))

    options = dict(tissue=None, batch=17, patch=256, slide_mpp=0.5, name="means")
    report = hr.features([JPEG, CMU, TCGA, PYRAMID], encoder, tmp_path / "together", **options)
    counts = [len(all_places(*level0(path).shape[1::-1], 256)) for path in (JPEG, CMU, TCGA, PYRAMID)]
    assert report["patches"] == sum(counts) and report["slides"] == 4
    assert shapes == [(17, 3, 256, 256)] * -(-sum(counts) // 17)  # full ones; the last is filled up
    assert torch.all(starts[-1][sum(counts) % 17:] == 0)
    assert counts[0] < 17  # so the first batch has patches of two slides
    for path in (JPEG, CMU, TCGA, PYRAMID):
        alone = hr.features(path, encoder, tmp_path / path.stem, **options)
        for got, expected in zip(read_h5(report["files"][path.stem])[:2], read_h5(alone["files"][path.stem])[:2]):
            assert np.array_equal(got, expected)


def test_neither_threads_nor_batch_nor_order_change_pixels(tmp_path):
    options = dict(patch=80, step=300, mpp=0.8, tissue=None, slide_mpp=0.3)
    expected = hr.features([CMU, JPEG, TCGA], Pixels(), tmp_path / "a", threads=1, batch=7, **options)["files"]
    others = [dict(threads=3, batch=7), dict(threads=1, batch=1), dict(threads=2, batch=64)]
    for number, other in enumerate(others):
        files = hr.features([TCGA, CMU, JPEG], Pixels(), tmp_path / str(number), **options, **other)["files"]
        for name, path in files.items():
            with open(path, "rb") as got, open(expected[name], "rb") as first:
                assert got.read() == first.read(), (name, other)


def test_a_module_stays_as_it_was_and_learns_nothing(tmp_path):
    network = small_network().train()
    network[1].eval()
    before = {name: value.clone() for name, value in network.state_dict().items()}
    features, coords, _ = one(CMU, network, tmp_path)
    assert [part.training for part in network] == [True, False, True, True, True, True] and network.training
    assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())
    assert all(value.requires_grad and value.grad is None for value in network.parameters())
    np.testing.assert_allclose(features, plain_loop(CMU, network, coords.tolist(), 256), rtol=0, atol=1e-6)  # no dropout


def test_a_transform_of_ones_own_makes_the_input(tmp_path):
    """By torch's own arithmetic: float32 patches of half the size."""
    def transform(patches):
        assert patches.dtype == torch.uint8 and tuple(patches.shape) == (64, 3, 128, 128)
        values = (patches.float() / 255 - torch.tensor(MEAN)[:, None, None]) / torch.tensor(STD)[:, None, None]
        return torch.nn.functional.avg_pool2d(values, 2)

    own, coords, _ = one(CMU, small_network(), tmp_path / "own", patch=128, transform=transform)
    whole, _, _ = one(CMU, Pixels(), tmp_path / "whole", patch=128)
    halves = torch.nn.functional.avg_pool2d(torch.from_numpy(whole).reshape(-1, 3, 128, 128), 2)
    with torch.no_grad():
        np.testing.assert_allclose(own, small_network().eval()(halves).numpy(), rtol=0, atol=1e-6)


def test_an_encoder_may_give_the_same_memory_each_time(tmp_path):
    """As runtimes with bound outputs do."""
    memory = torch.empty(7, 3)

    def encoder(patches):
        return torch.mean(patches, (2, 3), out=memory)

    options = dict(patch=64, tissue=None, batch=7, name="means")
    same, _, _ = one(JPEG, encoder, tmp_path / "same", **options)
    torch.set_default_device("meta")  # a caller's own, which is not that of features
    try:
        fresh, _, _ = one(JPEG, lambda patches: patches.mean((2, 3)), tmp_path / "fresh", **options)
    finally:
        torch.set_default_device(None)
    assert np.array_equal(same, fresh) and len(np.unique(fresh, axis=0)) > 7


def test_large_windows_are_read_in_parts(tmp_path, monkeypatch):
    """A slide without a pyramid: 16 windows of 1025² pixels, 50 MB, of which two are held at a time."""
    from headrace import _patch_reader

    slide = tmp_path / "one-level.tif"
    tifffile.imwrite(slide, level0(JPEG), tile=(256, 256), photometric="rgb", compression="zlib")
    options = dict(patch=64, mpp=8, step=14, tissue=None, slide_mpp=0.5, threads=1)
    expected, _, _ = one(slide, Pixels(), tmp_path / "whole", **options)
    sizes, new_patches = [], _patch_reader._core.new_patches

    def measured(count, height, width):
        sizes.append(count * height * width * 3)
        return new_patches(count, height, width)

    monkeypatch.setattr(_patch_reader, "_WINDOW_BYTES", 7_000_000)
    monkeypatch.setattr(_patch_reader._core, "new_patches", measured)
    got, _, _ = one(slide, Pixels(), tmp_path / "parts", **options)
    assert len(got) == 16 and np.array_equal(got, expected)
    assert len(sizes) == 1 + 8 and max(sizes) <= 7_000_000


def test_autocast_rounds_the_network_and_not_the_files(tmp_path):
    exact, _, _ = one(CMU, small_network(), tmp_path / "a")
    rounded, _, _ = one(CMU, small_network(), tmp_path / "b", autocast="bfloat16")
    assert rounded.dtype == np.float32 and not np.array_equal(exact, rounded)
    np.testing.assert_allclose(rounded, exact, atol=0.02)


def test_the_report_adds_up(tmp_path):
    shown = []
    report = hr.features([CMU, JPEG], small_network(), tmp_path, progress=lambda *state: shown.append(state))
    assert shown[0][1:] == shown[-1][1:] == (2, "features", "slide") and shown[-1][0] == 2
    assert (report["slides"], report["kept"]) == (2, 0)
    assert report["patches"] == sum(len(read_h5(path)[1]) for path in report["files"].values())
    seconds = report["seconds"]
    assert seconds["network"] + seconds["stalled"] + seconds["write"] <= seconds["total"]
    assert 0 <= report["stalled_share"] <= 1


def test_ctrl_c_does_not_wait_for_the_windows_of_a_whole_batch(tmp_path, monkeypatch):
    """It comes while the first of 16 windows is read, and is through before the second."""
    from headrace import _patch_reader

    asked, reads, read_patches = threading.Event(), [], _patch_reader._core.read_patches

    class Request:
        def ask(self):
            asked.set()

    def interrupted(*arguments):
        reads.append(arguments)
        _thread.interrupt_main()
        assert asked.wait(60)
        read_patches(*arguments)

    slide = tmp_path / "one-level.tif"
    tifffile.imwrite(slide, level0(JPEG), tile=(256, 256), photometric="rgb", compression="zlib")
    monkeypatch.setattr(_patch_reader, "_WINDOW_BYTES", 1)
    monkeypatch.setattr(_patch_reader._core, "CancelRequest", Request)
    monkeypatch.setattr(_patch_reader._core, "read_patches", interrupted)
    heard = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored, where a script runs the tests in its background
    try:
        with pytest.raises(KeyboardInterrupt):
            hr.features(slide, Pixels(), tmp_path / "out", patch=64, mpp=8, step=14, tissue=None, slide_mpp=0.5)
    finally:
        signal.signal(signal.SIGINT, heard)
    assert len(reads) == 1


def of_the_stream():
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("headrace-")]


@pytest.mark.parametrize("at", ["headrace-plan", "headrace-read"])
def test_no_thread_is_left_where_the_start_is_interrupted(tmp_path, monkeypatch, at):
    start = threading.Thread.start

    def interrupted(thread):
        start(thread)
        if thread.name == at:
            raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        hr.features([CMU, PYRAMID], lambda patches: patches.mean((2, 3)), tmp_path, batch=2, name="means")
    assert of_the_stream() == [] and list(tmp_path.iterdir()) == []


def test_no_thread_is_left_after_an_interruption(tmp_path):
    def interrupted(patches):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hr.features([CMU, PYRAMID], interrupted, tmp_path, batch=2, name="means")
    assert of_the_stream() == []
    assert list(tmp_path.iterdir()) == []
    assert hr.features([CMU, PYRAMID], lambda patches: patches.mean((2, 3)), tmp_path, batch=2, name="means")["slides"] == 2
