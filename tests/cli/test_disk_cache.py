"""Ranges of a server that are kept on disk: the same batches, and no request the second time."""
import itertools
import os
import random
import shutil
import subprocess

import pytest
from driving import PROGRAM, headrace, json_of, message_of, sentence_of
from http_server import Faults, serving
from made_once import made_once
from s3_server import NO_KEYS, radosgw
from test_http import config, hash_of, make_stores


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return made_once(tmp_path_factory, "served", make_stores)


@pytest.fixture(scope="module")
def expected(folder, tmp_path_factory):
    return hash_of(tmp_path_factory.mktemp("local"), folder / "copied.zarr")


def cached(tmp_path, more=""):
    return f"stall_s: 1, give_up_s: 30, cache: {{folder: '{tmp_path}/cache'{more}}}"


def batches(tmp_path, store, network, count=3, threads=0):
    done = json_of("batches", "--config", config(tmp_path / "c.yaml", store, extra=network), "--count", count, "--threads", threads)
    return done["sha256"], done["stall"].get("network")


def referring(folder, tmp_path, url):
    """A store here, whose slides lie on the server."""
    if not (tmp_path / "s.zarr").exists():
        shutil.copytree(folder / "referring.zarr", tmp_path / "s.zarr")
    headrace("ingest", "files", tmp_path / "s.zarr", f"{url}/slides")
    return tmp_path / "s.zarr"


def test_the_second_time_nothing_is_asked_of_the_server(folder, expected, tmp_path):
    with serving(folder) as (url, faults):
        store = referring(folder, tmp_path, url)
        network = cached(tmp_path) + f", hosts: ['{url.removeprefix('http://')}']"
        first, counts = batches(tmp_path, store, network)
        assert first == expected and counts["requests"] > 10
        faults.requests.clear()
        second, counts = batches(tmp_path, store, network)
        assert second == expected and not faults.requests
        assert counts["requests"] == 0 and counts["cache"]["ranges"] > 10 and counts["cache"]["not_kept"] == 0
    # The server may be away, then.
    assert batches(tmp_path, store, network)[0] == expected
    names = {path.name for path in (tmp_path / "cache").iterdir()}
    assert all(len(name.removesuffix(".ranges")) == 64 for name in names), "no name of a slide"
    assert not any(os.stat(tmp_path / "cache" / name).st_mode & 0o077 for name in names)


def test_a_store_on_a_server(folder, expected, tmp_path):
    """Its objects are opened by requests, since what they are now is not known here; their chunks are not asked for again."""
    with serving(folder) as (url, faults):
        assert batches(tmp_path, f"{url}/copied.zarr", cached(tmp_path))[0] == expected
        tiles = [one for one in faults.requests if "/c/" in one[0]]
        faults.requests.clear()
        assert batches(tmp_path, f"{url}/copied.zarr", cached(tmp_path), threads=1)[0] == expected
        again = [one for one in faults.requests if "/c/" in one[0]]
    assert len(again) < len(tiles) / 2 and len(again) == len({path for path, _ in again}), "one for each shard's index"


def test_verify_looks_at_the_server(folder, tmp_path):
    shutil.copytree(folder / "slides", tmp_path / "up/slides")
    with serving(tmp_path / "up") as (url, _):
        store = referring(folder, tmp_path, url)
        host = url.removeprefix("http://")
        network = cached(tmp_path) + f", hosts: ['{host}']"
        batches(tmp_path, store, network)
        slide = tmp_path / "up/slides/CMU-1-Small-Region.svs"
        raw = bytearray(slide.read_bytes())
        raw[1000] ^= 1
        slide.write_bytes(raw)
        assert "is not the file that was ingested" in headrace("--allow-host", host, "verify", store, code=4).stdout
        # What it was is still right; the rest is refused, and then nothing is kept of it.
        more = config(tmp_path / "c.yaml", store, extra=network)
        assert "was replaced since it was opened" in sentence_of(headrace("batches", "--config", more, "--count", 60, code=4))
        assert "is not the file that was ingested" in sentence_of(headrace("batches", "--config", more, "--count", 60, code=4))


def test_slides_that_are_stored_anew_end_one_run_at_most(folder, expected, tmp_path):
    """The same bytes under new ETags: the first range that is not in the cache is refused, and then all slides are asked for anew."""
    shutil.copytree(folder / "slides", tmp_path / "up/slides")
    with serving(tmp_path / "up") as (url, faults):
        store = referring(folder, tmp_path, url)
        network = cached(tmp_path) + f", hosts: ['{url.removeprefix('http://')}']"
        assert batches(tmp_path, store, network)[0] == expected
        for slide in (tmp_path / "up/slides").iterdir():
            os.utime(slide, (1, 1))
        assert batches(tmp_path, store, network)[0] == expected, "all of it is kept"
        written = config(tmp_path / "c.yaml", store, extra=network)
        assert "was replaced" in sentence_of(headrace("batches", "--config", written, "--count", 60, code=4))
        more = batches(tmp_path, store, network, count=60)[0]
        assert more == batches(tmp_path, folder / "copied.zarr", "stall_s: 1", count=60)[0]
        faults.requests.clear()
        assert batches(tmp_path, store, network)[0] == expected


@pytest.mark.parametrize("fault", ["503", "reset in body", "short", "wrong content range"])
def test_a_server_that_fails_and_a_damaged_cache(folder, expected, tmp_path, fault):
    for round in range(3):
        with serving(folder, Faults(fault, "tile", every=3)) as (url, faults):
            store = referring(folder, tmp_path, url)
            network = cached(tmp_path) + f", hosts: ['{url.removeprefix('http://')}']"
            for _ in range(2):
                digest, counts = batches(tmp_path, store, network)
                assert digest == expected
            assert round == 0 or counts["cache"]["ranges"]
        draws = random.Random(round)
        for path in (tmp_path / "cache").iterdir():
            with open(path, "r+b") as raw:
                for _ in range(200):
                    raw.seek(draws.randrange(path.stat().st_size))
                    raw.write(draws.randbytes(1))


def test_processes_that_share_a_cache(folder, expected, tmp_path):
    with serving(folder) as (url, _):
        store = referring(folder, tmp_path, url)
        written = config(tmp_path / "c.yaml", store, extra=cached(tmp_path) + f", hosts: ['{url.removeprefix('http://')}']")
        running = [subprocess.Popen([PROGRAM, "batches", "--config", written, "--count", "3", "--json"], stdout=subprocess.PIPE, text=True) for _ in range(4)]
        for one in running:
            assert expected in one.communicate(timeout=120)[0]


def test_a_cache_that_is_full_or_can_not_be_made(folder, expected, tmp_path):
    with serving(folder) as (url, _):
        store = referring(folder, tmp_path, url)
        hosts = f", hosts: ['{url.removeprefix('http://')}']"
        whole = batches(tmp_path, folder / "copied.zarr", "stall_s: 5", count=20)[0]
        for _ in range(2):
            digest, counts = batches(tmp_path, store, cached(tmp_path, ", size_gb: 0.001") + hosts, count=20)
            assert digest == whole and counts["cache"]["not_kept"] and counts["requests"]
        assert sum(path.stat().st_blocks for path in (tmp_path / "cache").iterdir()) * 512 <= 1_000_000
        written = config(tmp_path / "c.yaml", store, extra="cache: {folder: /proc/none/cache}" + hosts)
        assert "/proc/none/cache: the folder of the cache can't be made" in message_of(headrace("batches", "--config", written, code=1))


def test_all_ways_give_the_same_batches(folder, expected, tmp_path):
    """Local, HTTP and S3, copied and by reference, with the cache and without, and any number of threads."""
    with serving(folder) as (url, _), radosgw(tmp_path / "radosgw") as server:
        server.upload(folder, "slides")
        store = referring(folder, tmp_path, url)
        s3 = f"s3: {{endpoint: '{server.endpoint}'}}, hosts: ['{url.removeprefix('http://')}']"
        for place, cache, threads in itertools.product([f"{url}/copied.zarr", "s3://slides/copied.zarr", store], ["", f", cache: {{folder: '{tmp_path}/all'}}"], [1, 4]):
            written = config(tmp_path / "c.yaml", place, extra=s3 + cache)
            assert json_of("batches", "--config", written, "--count", 3, "--threads", threads, environment=NO_KEYS | server.environment())["sha256"] == expected
