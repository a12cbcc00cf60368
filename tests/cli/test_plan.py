"""What a config leads to, before anything is opened."""
import json
import shutil

import pytest
from driving import headrace, message_of
from http_server import serving
from made_once import made_once
from s3_server import NO_KEYS
from test_http import config, make_stores


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return made_once(tmp_path_factory, "served", make_stores)


def planned(tmp_path, store, network, code=0, more="", environment=None):
    written = config(tmp_path / "c.yaml", store, extra=network)
    written.write_text(written.read_text() + more)
    done = headrace("plan", "--network", "--config", written, "--json", code=code, environment=NO_KEYS | (environment or {}))
    return [(one["host"], one["named_by"], one["allowed"]) for one in json.loads(done.stdout)["connections"]]


def test_hosts_of_a_config(folder, tmp_path):
    assert planned(tmp_path, folder / "copied.zarr", "stall_s: 5") == []
    assert headrace("plan", "--network", "--config", tmp_path / "c.yaml").stdout == "no connection is opened\n"
    # Nothing is there, and nothing is asked.
    assert planned(tmp_path, "https://nowhere.invalid/s.zarr", "stall_s: 5") == [("nowhere.invalid:443", "data.store", True)]
    named = "data.store, network.s3"
    assert planned(tmp_path, "s3://slides/s.zarr", "s3: {endpoint: 'http://s3.site:9000'}") == [("s3.site:9000", named, True)]
    assert planned(tmp_path, "s3://slides/s.zarr", "s3: {endpoint: 'http://s3.site:9000', addressing: host}") == [("slides.s3.site:9000", named, True)]
    assert planned(tmp_path, "s3://slides/s.zarr", "stall_s: 5", 2, environment={"AWS_REGION": "eu-west-1"}) == [("slides.s3.eu-west-1.amazonaws.com:443", named, False)]
    tracking = "tracking:\n  - {to: mlflow, url: 'https://mlflow.site/x'}\n  - {to: tensorboard}\n"
    assert planned(tmp_path, folder / "copied.zarr", "hosts: [spare.site]", more=tracking) == [("mlflow.site:443", "tracking", True), ("spare.site", "network.hosts", True)]


def test_nothing_is_made_for_it(folder, tmp_path):
    tracking = "tracking:\n  - {to: mlflow, url: 'https://mlflow.site/x'}\n"
    assert planned(tmp_path, folder / "copied.zarr", f"hosts: [MLflow.Site], cache: {{folder: '{tmp_path}/cache'}}", more=tracking) == [("mlflow.site:443", "tracking", True)]
    assert not (tmp_path / "cache").exists()


def test_slides_of_a_store_by_reference(folder, tmp_path):
    shutil.copytree(folder / "referring.zarr", tmp_path / "s.zarr")
    with serving(folder) as (url, faults):
        headrace("ingest", "files", tmp_path / "s.zarr", f"{url}/slides")
        faults.requests.clear()
        host = url.removeprefix("http://")
        by = f"references.json of {tmp_path}/s.zarr"
        assert planned(tmp_path, tmp_path / "s.zarr", f"hosts: ['{host}']") == [(host, by, True)]
        assert planned(tmp_path, tmp_path / "s.zarr", "stall_s: 5", 2) == [(host, by, False)]
        said = headrace("plan", "--network", "--config", tmp_path / "c.yaml", code=2).stdout
        assert "2 slides" in said and "refused, since the config does not name this host" in said
        assert not faults.requests


def test_what_is_not_said(folder, tmp_path):
    assert "--network" in message_of(headrace("plan", "--config", config(tmp_path / "c.yaml", folder / "copied.zarr"), code=2))
    assert "there is no such store" in message_of(headrace("plan", "--network", "--config", config(tmp_path / "c.yaml", tmp_path / "none.zarr"), code=1))
