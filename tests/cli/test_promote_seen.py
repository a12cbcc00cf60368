"""`headrace promote` and `eval`: cases that weights were trained on are no proof, whatever the store, version or split calls them now."""
import hashlib
import json
import shutil

import pytest
from driving import headrace, json_of, message_of, rows_of, write_table
from promoted_runs import config_of, contents, log_of, promote


@pytest.fixture
def run(promotable, tmp_path):
    return shutil.copytree(promotable / "a", tmp_path / "a")


@pytest.fixture
def moved(promotable, tmp_path):
    """A store of the same slides, and what makes a version of it by other columns."""
    store = shutil.copytree(promotable / "s.zarr", tmp_path / "v2.zarr")

    def version(change):
        rows = [{"image": row["image"], **change(row)} for row in rows_of(promotable / "in/cases.csv")]
        headrace("ingest", "labels", store, "--table", write_table(tmp_path / "t.csv", rows))
        return store

    return version


def evaluated(run, store, split, code=0):
    """The evaluation's file, and what was said."""
    said = headrace("eval", "--run", run, "--store", store, "--split", split, code=code).stderr
    now = json.loads((store / "manifest.json").read_text())["dataset_hash"]
    return run / f"eval-final-{split}-{now[:12]}.json", said


def swapped(row):
    return {"split": {"train": "val", "val": "train"}.get(row["split"], row["split"])}


def test_a_run_records_its_cases_by_their_digests(promotable):
    run = json.loads((promotable / "a/run.json").read_text())
    trained = {image["case"] for image in json_of("info", promotable / "s.zarr")["images"] if image["split"] == "train"}
    assert run["trained_cases"] == sorted(hashlib.sha256(case.encode()).hexdigest()[:16] for case in trained)
    assert json.loads((promotable / "a/eval.json").read_text())["trained_cases"] == 0


def test_a_version_with_a_renamed_scanner(run, moved, tmp_path):
    store = moved(lambda row: {"scanner": "renamed"})
    seen, said = evaluated(run, store, "train")
    count = json.loads(seen.read_text())["trained_cases"]
    assert count == len(json.loads(seen.read_text())["cases"]) > 0 and f"was trained on {count} of the cases" in said
    message = message_of(promote(run, tmp_path / "registry", "--evaluation", seen, code=2))
    assert f"trained on {count} of its {count} cases" in message and not (tmp_path / "registry").exists()
    unseen, said = evaluated(run, store, "val")
    assert json.loads(unseen.read_text())["trained_cases"] == 0 and "was trained on" not in said
    promote(run, tmp_path / "registry", "--evaluation", unseen)
    assert log_of(tmp_path / "registry")[0]["evaluated"]["trained_cases"] == 0


def test_train_and_val_swapped(run, moved, tmp_path):
    store = moved(swapped)
    seen, said = evaluated(run, store, "val")
    assert "was trained on" in said and json.loads(seen.read_text())["trained_cases"] > 0
    assert "trained on" in message_of(promote(run, tmp_path / "registry", "--evaluation", seen, code=2))
    # Other patients of the same names are possible: who knows that says so, and the log keeps it.
    promote(run, tmp_path / "registry", "--evaluation", seen, "--with-trained-cases", "other patients")
    (line,) = log_of(tmp_path / "registry")
    assert line["with_trained_cases"] == "other patients" and line["evaluated"]["trained_cases"] > 0


def test_the_bar_may_not_be_what_was_trained_on(run, moved, tmp_path):
    """The new run has not seen the images, the promoted one has."""
    store = moved(swapped)
    registry = tmp_path / "registry"
    promote(run, registry)
    (tmp_path / "new.yaml").write_text(config_of(store))
    headrace("train", "--config", tmp_path / "new.yaml", "--out", tmp_path / "new")
    evaluated(registry / "gleason", store, "val")
    before = contents(registry)
    message = message_of(promote(tmp_path / "new", registry, code=2))
    assert "eval-final-val-" in message and "trained on" in message and contents(registry) == before


def test_weights_that_a_run_began_with_count(promotable, moved, tmp_path):
    store = moved(swapped)
    (tmp_path / "new.yaml").write_text(config_of(store))
    headrace("train", "--config", tmp_path / "new.yaml", "--init", promotable / "a", "--out", tmp_path / "new")
    count = json.loads((tmp_path / "new/eval.json").read_text())["trained_cases"]
    assert count == len(json.loads((tmp_path / "new/eval.json").read_text())["cases"])
    assert "trained on" in message_of(promote(tmp_path / "new", tmp_path / "registry", code=2))


def test_runs_of_before_it_was_recorded(promotable, run, moved, tmp_path):
    """What is known is counted: by the store of the training while it is there."""
    facts = json.loads((run / "run.json").read_text())
    del facts["trained_cases"]
    (run / "run.json").write_text(json.dumps(facts))
    promote(run, tmp_path / "own")  # on its own dataset the split tells
    store = moved(lambda row: {"scanner": "renamed"})
    unseen, said = evaluated(run, store, "val")
    assert json.loads(unseen.read_text())["trained_cases"] == 0 and "not known" not in said
    (run / "run.json").write_text(json.dumps(facts | {"store": str(tmp_path / "gone.zarr")}))
    # The versions that a store had stay in it; another store has none of them.
    assert json.loads(evaluated(run, store, "val")[0].read_text())["trained_cases"] == 0
    headrace("ingest", "slides", promotable / "in/slides", "--table", promotable / "in/cases.csv", "--mpp", "2", "--out", tmp_path / "other.zarr")
    unknown, said = evaluated(run, tmp_path / "other.zarr", "val")
    assert json.loads(unknown.read_text())["trained_cases"] is None and "is not known" in said
    message = message_of(promote(run, tmp_path / "registry", "--evaluation", unknown, code=2))
    assert "is not recorded" in message and "--with-trained-cases" in message
    promote(run, tmp_path / "registry", "--evaluation", unknown, "--with-trained-cases", "same split as then")
