"""`headrace.Loader(patches=...)`: batches of listed patches, as `headrace batches --patches` makes them."""
import hashlib

import numpy as np
import pytest
from batches import write_slides
from driving import SAMPLES, headrace, json_of, write_table
from made_once import made_once

import headrace as package

NAMES = ("CMU-1-Small-Region", "cmu-aperio-style-4level")


def make(folder):
    headrace("ingest", "slides", SAMPLES / "slides/CMU-1-Small-Region.svs", SAMPLES / "slides/derived/cmu-aperio-style-4level.svs", "--out", folder / "s.zarr")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return made_once(tmp_path_factory, "loader-patches", make) / "s.zarr"


def places(count=12):
    random = np.random.default_rng(4)
    return [package.PatchSpec(NAMES[int(random.integers(2))], int(random.integers(0, 1500)), int(random.integers(0, 1500))) for _ in range(count)]


def digest(batches):
    return hashlib.sha256(b"".join(np.ascontiguousarray(batch["image"]).tobytes() for batch in batches)).hexdigest()


@pytest.mark.parametrize("augment", [False, True])
def test_batches_are_those_of_the_command(store, tmp_path, augment):
    listed = places()
    config = write_slides(tmp_path / "run.yaml", store)
    config.write_text(config.read_text().replace("data: {", "data: {labels: null, "))
    table = write_table(tmp_path / "places.csv", [{"image": p.image, "x": p.x, "y": p.y} for p in listed])
    words = ["--augment"] if augment else []
    expected = json_of("batches", "--config", config, "--patches", table, "--count", 2 if augment else 9, *words)["sha256"]
    for given in (listed, table, {name: np.array([(p.x, p.y) for p in listed if p.image == name]) for name in NAMES}):
        if isinstance(given, dict) and augment is False:
            continue  # it has the order of the slides
        with package.Loader(config, patches=given, augment=augment, as_="numpy") as loader:
            assert loader.tiled is not augment
            batches = [batch for batch in loader]
            assert sum(len(batch["image"]) for batch in batches) == len(listed)
            if not isinstance(given, dict):
                assert digest(batches) == expected
            rows = [int(i) for batch in batches for i in batch["meta"].samples]
            assert sorted(rows) == list(range(12)) and (rows == list(range(12))) is not augment
            if not augment:
                assert [name for batch in batches for name in batch["meta"].images] == [p.image for p in listed]


def test_two_processes_make_halves_of_each_batch(store, tmp_path):
    config = write_slides(tmp_path / "run.yaml", store)
    whole = list(package.Loader(config, patches=places(), labels=False, as_="numpy"))
    halves = [list(package.Loader(config, patches=places(), labels=False, as_="numpy", rank=rank, world_size=2)) for rank in (0, 1)]
    for one, a, b in zip(whole, *halves):
        assert np.array_equal(one["image"], np.concatenate([a["image"], b["image"]]))


def test_what_is_refused(store, tmp_path):
    config = write_slides(tmp_path / "run.yaml", store)
    for keywords, said in (({"patches": places(), "split": "val"}, "leave split and tiles out"), ({"augment": True}, "augment belongs to patches"),
                           ({"patches": [("CMU-1-Small-Regoin", 1, 2)]}, "did you mean 'CMU-1-Small-Region'"), ({"patches": [(NAMES[0], 99999, 2)]}, "lies outside"),
                           ({"patches": [(NAMES[0], 1, 2, 0, 99, 99)]}, "set patch: {size: [99, 99]"), ({"patches": []}, "")):
        with pytest.raises(package.UsageError, match=".*") as error:
            package.Loader(config, **keywords)
        assert said in str(error.value)
