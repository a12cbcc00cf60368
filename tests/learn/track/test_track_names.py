"""Names and free mappings: what may tell a patient is refused before anything is sent, what nobody vouches for stays."""
import json

import pytest
from driving import sentence_of
from headrace.track import allowed
from trackers import copied, params_of, track


def where(url, *more):
    return ["--to", "mlflow", "--url", url, "--wait", 0, *more]


def changed(run, file, **keys):
    path = run / file
    path.write_text(json.dumps({**json.loads(path.read_text()), **keys}))


@pytest.mark.parametrize("name, looks_like", [
    ("SMITH^JOHN_1985-03-12", "a person's name"), ("scan-1985-03-12", "a date"), ("1.2.840.10008", "a DICOM UID")])
def test_a_folder_whose_name_may_tell_a_patient(trained_run, liar, tmp_path, name, looks_like):
    handler, url = liar
    run = copied(trained_run, tmp_path / name)
    said = sentence_of(track(run, *where(url), code=2))
    assert looks_like in said and "--name" in said and "Rename the folder" in said
    assert sentence_of(track(run, *where(url, "--name", "1985-03-12"), code=2))
    group = tmp_path / name / "folds"
    copied(trained_run, group / "fold-0")
    named = tmp_path / f"{name}-folds"
    group.rename(named)
    assert looks_like in sentence_of(track(named, *where(url), code=2))
    assert looks_like in sentence_of(track(run, "--to", "tensorboard", "--folder", tmp_path / "logs", code=2))
    assert handler.seen == [] and not (tmp_path / "logs").exists()
    track(run, "--to", "tensorboard")  # in the run folder, where the name goes nowhere


def test_another_name_is_sent_in_its_place(trained_run, mlflow, tmp_path):
    run = copied(trained_run, tmp_path / "SMITH^JOHN_1985-03-12")
    track(run, *where(mlflow.url, "--experiment", "renamed", "--name", "first"))
    stored = mlflow.run("renamed")
    assert stored["info"]["run_name"] == "first" and "SMITH" not in json.dumps(stored) and "1985" not in json.dumps(stored)


def test_an_experiment_a_class_a_split_and_a_cohort(trained_run, liar, tmp_path):
    handler, url = liar
    run = copied(trained_run, tmp_path / "run")
    assert "experiment 'liver 12.03.1985' looks like a date" in sentence_of(track(run, *where(url, "--experiment", "liver 12.03.1985"), code=2))
    changed(run, "run.json", cohorts=["SMITH^JOHN", "a"])
    said = sentence_of(track(run, *where(url, "--fields", "cohorts"), code=2))
    assert "the cohort 'SMITH^JOHN' looks like a person's name" in said and "leave cohorts out of fields" in said
    data = json.loads((run / "config.json").read_text())["data"]
    changed(run, "config.json", data={**data, "val": "SMITH^JOHN"})
    assert "the split 'SMITH^JOHN'" in sentence_of(track(run, *where(url), code=2))
    changed(run, "config.json", data=data)
    changed(run, "run.json", classes=["background", "SMITH^JOHN"])
    assert "the class 'SMITH^JOHN'" in sentence_of(track(run, *where(url), code=2))
    assert handler.seen == []


def test_what_one_gives_to_functions_of_ones_own_stays(trained_run, mlflow, tmp_path):
    """Arguments are free, and so are their names, whatever kind the values have."""
    run = copied(trained_run, tmp_path / "run")
    config = json.loads((run / "config.json").read_text())
    free = {"site_number": 4711, "my_classes": ["smith", "jones"], "deep": {"patients_per_site": [4712, 4713]}, "train.lr": 4714, "0": 4715}
    config["model"] |= {"module": "nets:build", "arguments": free}
    config["train"] |= {"loss": {"module": "losses:build", "arguments": free}, "optimizer": {"module": "optimizers:build", "arguments": free}}
    config["sampling"]["cohort_weights"] = {"SMITH": 4716}
    config["unknown"] = {"number": 4717, "other_classes": ["smith"]}
    (run / "config.json").write_text(json.dumps(config))
    track(run, *where(mlflow.url, "--experiment", "free"))
    sent = params_of(mlflow.run("free"))
    assert sent["train.lr"] == "0.001" and sent["model.widths"] == "8, 16" and sent["transforms.0.affine.flip"] == "true"
    assert not [key for key, value in sent.items() if "471" in value or "smith" in value.lower() or "arguments" in key or "unknown" in key]


def test_keys_of_a_sweep():
    """As paths: places in lists too, and nothing of what is free."""
    sent = {"train.lr": 0.1, "train.class_weights.1": 3, "transforms.0.affine.rotate_deg.1": 90, "eval.lesion_classes": ["lesion"]}
    free = {"model.arguments.depth": 3, "model.arguments.0": 3, "train.loss.arguments": {"a": 1}, "sampling.cohort_weights.SMITH": 1,
            "transforms.0.affine.nonsense": 1, "data.store": "/somewhere", "train.freeze": ["encoder"]}
    assert allowed.parameters({**sent, **free}).keys() == sent.keys()
    assert [key for key in free if allowed.is_sent(key)] == ["data.store", "train.freeze"]  # keys of a table, whose texts stay
