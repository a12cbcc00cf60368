"""The index of a version takes the place of the small objects that opening a store and planning its samples read."""
import shutil

import pytest
from driving import SAMPLES, headrace, json_of, message_of, write_config


@pytest.fixture()
def store(nuclei, tmp_path):
    shutil.copytree(nuclei, tmp_path / "s.zarr")
    return tmp_path / "s.zarr"


def index_of(store):
    [index] = (store / "versions").glob("*.index")
    return index


def indexed(store):
    """What the index has, and nothing else needs."""
    tables = [path for path in store.glob("index/*/**/*") if path.is_file()]
    sites = [path for path in store.glob("images/*/labels/*/sites/**/*") if path.is_file()]
    groups = list(store.glob("images/*/*/zarr.json")) + list(store.glob("images/*/zarr.json")) + list(store.glob("images/*/*/*/zarr.json"))
    groups += list(store.glob("images/*/labels/*/*/zarr.json"))
    assert tables and sites and len(groups) > 30
    return sorted({*tables, *sites, *groups})


def batches(store, tmp_path):
    config = write_config(tmp_path / "run.yaml", store)
    both = [json_of("batches", "--config", config, "--count", "2"), json_of("batches", "--config", config, "--split", "val")]
    return [[batch["images_sha256"] for batch in one["batches"]] for one in both]


def test_batches_are_the_same_with_the_index_alone_and_without_it(store, tmp_path):
    whole = batches(store, tmp_path)
    info = json_of("info", store)
    for path in indexed(store):
        path.rename(path.with_name("." + path.name))
    assert batches(store, tmp_path) == whole
    assert json_of("info", store) == info
    for path in store.glob("**/.*"):
        path.rename(path.with_name(path.name[1:]))
    index_of(store).unlink()
    assert batches(store, tmp_path) == whole  # a store of a version that wrote none
    assert json_of("info", store) == info
    headrace("verify", store)


def test_an_index_of_a_wrong_kind_is_found_and_refused(store):
    index = index_of(store)
    good = index.read_bytes()
    index.write_bytes(good[:-1])
    assert "Remove it, and the store is read without it" in message_of(headrace("info", store, code=4))
    assert index.name in headrace("verify", store, code=4).stdout
    index.write_bytes(good)
    headrace("verify", store)


def test_the_index_of_another_version_is_found(store, nuclei, tmp_path):
    """Each index is whole, but states another version than its name does."""
    json_of("ingest", "slides", SAMPLES / "nuclei/images/dsb_00ae65c1c663.png", "--mpp", "0.5", "--out", tmp_path / "other.zarr")
    shutil.copy(index_of(tmp_path / "other.zarr"), index_of(store))
    assert "is that of another version" in headrace("verify", store, code=4).stdout


def test_new_labels_and_pruning_keep_an_index_for_each_version(store, tmp_path):
    table = tmp_path / "t.csv"
    first = next(image["id"] for image in json_of("info", store)["images"] if image["split"] == "train")
    table.write_text(f"image,split\n{first},val\n")
    json_of("ingest", "labels", store, "--table", table)
    versions = {path.name.split(".")[0] for path in (store / "versions").glob("*.json")}
    assert len(versions) == 2 and versions == {path.name.split(".")[0] for path in (store / "versions").glob("*.index")}
    headrace("verify", store)
    headrace("prune", store, "--keep-last", "1")
    assert index_of(store).name.split(".")[0] == json_of("info", store)["dataset_hash"]
    headrace("verify", store)
