"""Several patches of one place: global and local crops as self-supervised training takes them."""
import json

import headrace
import numpy as np
import pytest
from driving import PROGRAM, headrace as run_program, json_of, message_of

TRANSFORMS = [{"affine": {"rotate_deg": [-180, 180], "scale": [0.7, 1.4], "translate": 0.2, "flip": True}}, {"hed_jitter": {"sigma": 0.05}}]
VIEWS = [{"name": "global", "crops": 2}, {"name": "local", "crops": 3, "size": [32, 32], "transforms": [{"affine": {"translate": 0.6}}]},
         {"name": "overview", "mpp": 1.0, "transforms": []}]


def config_of(store, views=VIEWS, **more):
    return {"task": "segmentation", "data": {"store": str(store), "labels": None}, "patch": {"size": [64, 48], "mpp": 0.5},
            "sampling": {"seed": 7, "batch": 4, "batches_per_epoch": 3, "balance": "tissue"}, "transforms": TRANSFORMS, "views": views, **more}


def batches(config, as_="numpy", **options):
    with headrace.Loader(config, as_=as_, **options) as loader:
        return [{"image": np.array(one["image"]), "views": {name: np.array(view) for name, view in one["views"].items()}} for one in loader]


def test_views_by_name(nuclei):
    made = batches(config_of(nuclei))
    assert len(made) == 3
    for batch in made:
        assert {name: view.shape for name, view in batch["views"].items()} == {"global": (4, 2, 3, 64, 48), "local": (4, 3, 3, 32, 32), "overview": (4, 1, 3, 64, 48)}
        assert np.array_equal(batch["image"], batch["views"]["global"])
        assert not np.array_equal(batch["views"]["global"][:, 0], batch["views"]["global"][:, 1])
    for threads in (1, 3):
        again = batches(config_of(nuclei), threads=threads)
        assert all(np.array_equal(a["views"][name], b["views"][name]) for a, b in zip(made, again) for name in a["views"])


def test_ranks_make_their_parts_of_all_views(nuclei):
    whole = batches(config_of(nuclei))
    for rank in range(2):
        for mine, all_of_it in zip(batches(config_of(nuclei), rank=rank, world_size=2), whole):
            assert all(np.array_equal(mine["views"][name], all_of_it["views"][name][rank * 2:rank * 2 + 2]) for name in mine["views"])


def test_the_first_crop_is_that_of_a_config_without_views(nuclei):
    plain = {key: value for key, value in config_of(nuclei).items() if key != "views"}
    with headrace.Loader(plain, as_="numpy") as loader:
        for one, batch in zip(loader, batches(config_of(nuclei))):
            assert "views" not in one and np.array_equal(one["image"][:, 0], batch["image"][:, 0])


def test_the_program_makes_the_same(nuclei, tmp_path):
    (tmp_path / "run.yaml").write_text(json.dumps(config_of(nuclei)))
    made = json_of("batches", "--config", tmp_path / "run.yaml", "--count", 2, "--out", tmp_path / "out")
    assert set(made["batches"][0]["views_sha256"]) == {"local", "overview"}
    for index, batch in enumerate(batches(config_of(nuclei))[:2]):
        stem = tmp_path / f"out/batch-0-{index}"
        assert np.array_equal(np.load(f"{stem}-images.npy"), batch["image"])
        for name in ("local", "overview"):
            assert np.array_equal(np.load(f"{stem}-view-{name}.npy"), batch["views"][name])
    for view in ("global", "local", None):
        words = [] if view is None else ["--view", view]
        run_program("sample", "--config", tmp_path / "run.yaml", "--count", 2, *words, "--out", tmp_path / f"{view}.png")
    assert (tmp_path / "None.png").read_bytes() == (tmp_path / "global.png").read_bytes() != (tmp_path / "local.png").read_bytes()
    assert "no such view" in message_of(run_program("sample", "--config", tmp_path / "run.yaml", "--view", "lokal", "--out", tmp_path / "x.png", code=2))


def test_training_says_that_it_takes_one_patch(nuclei, tmp_path):
    (tmp_path / "run.yaml").write_text(json.dumps(config_of(nuclei, [{"name": "one"}], data={"store": str(nuclei)})))
    assert "views are for training of your own" in run_program("train", "--config", tmp_path / "run.yaml", "--out", tmp_path / "run", code=2).stderr


def test_labels_are_those_of_one_patch(nuclei):
    config = config_of(nuclei, [{"name": "whole"}, *VIEWS[1:]], data={"store": str(nuclei)})
    with headrace.Loader(config, as_="numpy") as loader:
        batch = next(iter(loader))
        assert batch["label"].shape == (4, 64, 48) and list(batch["views"]) == ["whole", "local", "overview"]
    with pytest.raises(headrace.UsageError, match="labels are those of one"):
        headrace.Loader(config_of(nuclei, data={"store": str(nuclei)}))
