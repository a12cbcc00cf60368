"""Slides and stores that lie on nginx and in buckets, opened from Python: the pixels of local files."""
import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
from driving import headrace
from http_server import nginx
from made_once import made_once
from s3_server import radosgw
from slides import CMU, PYRAMID

import headrace as hr

SPECS = [((x, y), level, (200, 130)) for level in (0, 1) for x, y in ((0, 0), (150, 301), (-20, 900), (1100, 1290))]


def make_files(folder):
    for path in (PYRAMID, CMU):
        shutil.copy(path, folder)
    (folder / "letter.svs").write_text("no slide")
    headrace("ingest", "slides", folder / PYRAMID.name, "--out", folder / "s.zarr")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return made_once(tmp_path_factory, "slides-on-servers", make_files)


@pytest.fixture
def url(folder, tmp_path):
    with nginx(folder, tmp_path) as url:
        yield url


def test_slides_at_urls_are_those_of_this_machine(url, folder):
    with hr.OpenSlide(f"{url}/{PYRAMID.name}") as there, hr.OpenSlide(PYRAMID) as here, hr.open_slide(f"{url}/{CMU.name}") as other:
        assert there.level_dimensions == here.level_dimensions and dict(there.properties) == dict(here.properties)
        assert np.array_equal(there.read_regions(SPECS), here.read_regions(SPECS))
        assert np.array_equal(np.asarray(there.read_region((300, 200), 0, (333, 222))), np.asarray(here.read_region((300, 200), 0, (333, 222))))
        specs = [((there, here, other)[k % 3], (37 * k, 23 * k), 0, (64, 48)) for k in range(30)]
        for (slide, *spec), region in zip(specs, hr.read_regions(specs), strict=True):
            assert np.array_equal(region, slide.read(*spec))
    assert hr.OpenSlide.detect_format(f"{url}/{PYRAMID.name}") == "aperio"
    assert hr.OpenSlide.detect_format(f"{url}/letter.svs") is None


def test_stores_and_their_images_at_urls(url, folder):
    assert hr.open(f"{url}/s.zarr").dataset_hash == hr.open(folder / "s.zarr").dataset_hash
    with hr.OpenSlide(f"{url}/s.zarr::{PYRAMID.stem}") as there, hr.OpenSlide(f"{folder / 's.zarr'}::{PYRAMID.stem}") as here:
        assert np.array_equal(there.read_regions(SPECS), here.read_regions(SPECS))
    assert hr.OpenSlide.detect_format(f"{url}/s.zarr::{PYRAMID.stem}") == "headrace"


def test_a_signed_url_is_read_by_fsspec(url, tmp_path):
    with hr.OpenSlide(f"{url}/{PYRAMID.name}?signature=secret") as there, hr.OpenSlide(PYRAMID) as here:
        assert np.array_equal(there.read_regions(SPECS), here.read_regions(SPECS))
        assert repr(there) == f"OpenSlide('{url}/{PYRAMID.name}')"
    assert "?signature=secret" in (tmp_path / "access.log").read_text()


def test_what_is_not_there_is_said(url):
    for name, kind in (("none.svs", hr.NotFoundError), ("letter.svs", hr.OpenSlideUnsupportedFormatError)):
        for open_it in (hr.OpenSlide, hr.open_slide):
            with pytest.raises(kind, match=f"{url}/{name}"):
                open_it(f"{url}/{name}")
    with pytest.raises(hr.UsageError, match="files of this machine"):
        hr.OpenSlide(f"{url}/{PYRAMID.name}", private=True)


def test_storage_options_are_fsspecs(url, tmp_path):
    with hr.OpenSlide(f"{url}/{PYRAMID.name}", storage_options={"headers": {"User-Agent": "ward-7"}}) as there, hr.OpenSlide(PYRAMID) as here:
        assert np.array_equal(there.read_regions(SPECS), here.read_regions(SPECS))
    asked = [line for line in (tmp_path / "access.log").read_text().splitlines() if '"ward-7"' in line]
    assert asked and any(" 206 " in line for line in asked)
    with pytest.raises(hr.NotFoundError, match="none.svs"):
        hr.OpenSlide(f"{url}/none.svs", storage_options={"headers": {"User-Agent": "ward-7"}})


IN_BUCKET = """
import json, sys
import headrace, numpy as np
endpoint, name, local, keys, specs = json.loads(sys.argv[1])
here = headrace.OpenSlide(local).read_regions(specs)
there = headrace.OpenSlide(f"s3://slides/{name}", storage_options={**keys, "client_kwargs": {"endpoint_url": endpoint}})
assert np.array_equal(there.read_regions(specs), here), "by s3fs"
try: headrace.OpenSlide(f"s3://slides/{name}")
except headrace.OpenSlideError as error: assert "amazonaws" in str(error), error
else: raise SystemExit("a bucket without an endpoint")
headrace.use_s3(endpoint)
assert np.array_equal(headrace.OpenSlide(f"s3://slides/{name}").read_regions(specs), here), "by Headrace"
assert headrace.open("s3://slides/s.zarr")[0].level(0).shape
assert np.array_equal(headrace.OpenSlide(f"s3://slides/s.zarr::{name[:-4]}").read_regions(specs[:4]), here[:4])
import headrace.tiffslide
assert headrace.tiffslide.TiffSlide(f"s3://slides/{name}").get_thumbnail((200, 200)).size[1] == 200
"""


def test_slides_in_buckets(folder, tmp_path):
    """In a program of its own: what use_s3 says holds for a whole process."""
    with radosgw(tmp_path / "server") as server:
        server.upload(folder, "slides")
        given = [server.endpoint, PYRAMID.name, str(PYRAMID), {"key": server.access_key, "secret": server.secret_key}, SPECS]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")} | server.environment() | {"HOME": str(tmp_path)}
        done = subprocess.run([sys.executable, "-c", IN_BUCKET, json.dumps(given)], capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == 0, done.stderr
