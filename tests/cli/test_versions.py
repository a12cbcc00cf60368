"""Labels, classes, splits and columns of a store change without its pixels: each change is a version, the ones before stay."""
import gzip
import json
import random
import shutil
import subprocess
import time

import numpy as np
import pytest
from driving import PROGRAM, SAMPLES, headrace, json_of, label_group, message_of, rows_of, version_of, write_config, write_table
from matrices import times

CLASSES = "background,tumour,stroma"
IMAGES = 12
KILLS = times(10, 4, "kills of ingest labels and of prune")


def polygons(path, *rectangles):
    """A GeoJSON as QuPath writes it; (class, x0, y0, x1, y1) covers pixels x0 <= x < x1."""
    features = [{"type": "Feature", "properties": {"objectType": "annotation", "classification": {"name": name}},
                 "geometry": {"type": "Polygon", "coordinates": [[[x0, y0], [x1, y0], [x1, y1], [x0, y1], [x0, y0]]]}}
                for name, x0, y0, x1, y1 in rectangles]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))


def names():
    return [row["image"] for row in rows_of(SAMPLES / "nuclei/cases.csv")][:IMAGES]


def annotate(folder):
    for i, name in enumerate(names()):
        polygons(folder / f"{name}.geojson", ("tumour", 20, 30, 60 + i, 90), ("stroma", 100, 40, 180, 100 + i))


def table_of(folder, **columns):
    rows = [{"file": str(SAMPLES / "nuclei/images" / f"{name}.png"), "image": name, "mpp": "0.5", "split": "val" if i < 4 else "train",
             "scanner": "A", **columns} for i, name in enumerate(names())]
    return write_table(folder / "cases.csv", rows)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("versions")
    annotate(folder / "notes")
    table = table_of(folder)
    made = json_of("ingest", "slides", "--table", table, "--annotations", folder / "notes", "--classes", CLASSES, "--out", folder / "s.zarr")
    return folder, made["dataset_hash"]


@pytest.fixture
def store(made, tmp_path):
    """A store of its own, and the folder of its annotations."""
    shutil.copytree(made[0] / "s.zarr", tmp_path / "s.zarr", copy_function=shutil.copy2)
    shutil.copytree(made[0] / "notes", tmp_path / "notes")
    return tmp_path / "s.zarr"


def pixels_of(store):
    """Hash-relevant bytes and times of everything that follows from pixels."""
    files = [p for p in store.rglob("*") if p.is_file() and p.relative_to(store).parts[0] in ("images", "index", "zarr.json")
             and "labels" not in p.relative_to(store).parts]
    assert len(files) > 5 * IMAGES
    return {str(p.relative_to(store)): (p.stat().st_mtime_ns, p.stat().st_ino, p.read_bytes()) for p in files}


def labels_at(store, image, *more):
    headrace("read", store, image, "--label", "annotation", "--origin", "0,0", "--size", "120,190", "--out", store.parent / "a.npy", *more)
    return np.load(store.parent / "a.npy")


def test_one_polygon_leaves_pixels_alone_and_costs_what_the_label_costs(made, store):
    before, image = pixels_of(store), names()[3]
    polygons(store.parent / f"notes/{image}.geojson", ("tumour", 20, 30, 60 + 3, 95), ("stroma", 100, 40, 180, 100 + 3))
    done = json_of("ingest", "labels", store, "--annotations", store.parent / "notes", "--message", "round 2")
    assert (done["added"], done["replaced"], done["withdrawn"], done["unchanged"]) == (0, 1, 0, IMAGES - 1)
    assert done["before"] == made[1] != done["dataset_hash"] and done["changed"]
    assert pixels_of(store) == before
    stored = sum(p.stat().st_size for p in (store / label_group(store, image)).rglob("*") if p.is_file())
    listed = (store / f"manifests/{image}/{label_group(store, image).split('/')[-1]}.json").stat().st_size
    assert done["label_bytes"] == stored + listed
    assert done["version_bytes"] < 2000 * IMAGES and 0 < done["seconds"] < 60
    expected = np.zeros((120, 190), np.uint8)
    expected[30:95, 20:63], expected[40:103, 100:180] = 1, 2
    np.testing.assert_array_equal(labels_at(store, image), expected)
    expected[90:95, 20:63] = 0
    np.testing.assert_array_equal(labels_at(store, image, "--version", made[1][:10]), expected)

    words = headrace("diff", store, made[1][:8], done["dataset_hash"][:8]).stdout
    assert words == f"image {image}: labels 'annotation' replaced, 215 pixels changed: 215 from background to tumour\n"
    assert json_of("diff", store, made[1], done["dataset_hash"])["labels"][0]["changed"] == 5 * 43
    assert headrace("diff", store, made[1], made[1]).stdout == "the same version\n"
    log = json_of("info", store, "--versions")
    assert [(v["version"], v["parent"], v["current"], v["message"]) for v in log] == [
        (made[1], None, False, ""), (done["dataset_hash"], made[1], True, "round 2")]
    lines = headrace("info", store, "--versions").stdout.splitlines()
    assert len(lines) == 2 and lines[1].startswith(f"* {done['dataset_hash']} 12 images, 12 with labels 'annotation'")
    assert json_of("info", store, "--version", made[1][:8])["dataset_hash"] == made[1]
    result = json_of("verify", store)
    assert result["ok"] and result["versions"] == [made[1], done["dataset_hash"]] and result["unreferenced"] == []


def test_the_same_content_is_not_stored_again(made, store):
    notes = store.parent / "notes"
    for path in notes.iterdir():
        path.write_text(json.dumps(json.loads(path.read_text()), indent=2))
    times = {p: p.stat().st_mtime_ns for p in store.rglob("*") if p.is_file() and p.parts[-2] != "sources"}
    done = json_of("ingest", "labels", store, "--annotations", notes)
    assert done["unchanged"] == IMAGES and not done["changed"] and done["label_bytes"] == 0
    assert times == {p: p.stat().st_mtime_ns for p in store.rglob("*") if p.is_file() and p.parts[-2] != "sources"}
    # What was read once is not read again, so that it need not even be sound.
    assert json_of("ingest", "labels", store, "--annotations", notes)["version_bytes"] == 0
    headrace("verify", store)


def test_one_go_and_two_steps_are_the_same_version(made, tmp_path):
    store = tmp_path / "s.zarr"
    json_of("ingest", "slides", "--table", table_of(tmp_path, split="train"), "--out", store)
    done = json_of("ingest", "labels", store, "--table", made[0] / "cases.csv", "--annotations", made[0] / "notes", "--classes", CLASSES)
    assert done["added"] == IMAGES and done["columns"] == 4 and done["classes_added"] == 3
    assert done["dataset_hash"] == made[1]
    headrace("verify", store)


def test_splits_columns_classes_and_label_sets(made, store):
    notes, (a, b, *_) = store.parent / "notes", names()
    rows = [{"image": a, "split": "test", "gleason": "4+3", "scanner": ""}, {"image": b, "split": "", "gleason": "", "scanner": "B"}]
    done = json_of("ingest", "labels", store, "--table", write_table(store.parent / "t.csv", rows))
    assert done["columns"] == 5 and done["label_bytes"] == 0
    assert version_of(store)["images"][a]["columns"] == {"case": a, "cohort": "default", "scanner": "A", "split": "test", "primary": 4,
                                                         "secondary": 3, "grade_group": 3, "negative": None}
    assert set(version_of(store)["facts"]["scanners"]) == {"A", "B"} and set(version_of(store, made[1])["facts"]["scanners"]) == {"A"}
    words = headrace("diff", store, made[1][:8], done["dataset_hash"][:8]).stdout.splitlines()
    assert f"image {a}: split was val, is test" in words and f"image {b}: scanner was A, is B" in words
    assert f"image {a}: grade_group was unknown, is 3" in words and len(words) == 5
    cleared = json_of("ingest", "labels", store, "--table", write_table(store.parent / "t.csv", [{"image": a, "gleason": "-"}]))
    assert cleared["columns"] == 3 and version_of(store)["images"][a]["columns"]["primary"] is None

    polygons(store.parent / f"second/{a}.geojson", ("necrosis", 0, 0, 10, 10))
    second = ["ingest", "labels", store, "--annotations", store.parent / "second", "--set", "reader2"]
    assert "necrosis" in message_of(headrace(*second, code=2))
    done = json_of(*second, "--classes", CLASSES + ",necrosis")
    assert done["added"] == 1 and done["classes_added"] == 1
    assert sorted(version_of(store)["images"][a]["labels"]) == ["annotation", "reader2"]
    assert json_of("info", store)["classes"] == [*CLASSES.split(","), "necrosis"]
    ome = json.loads((store / f"images/{a}/labels/zarr.json").read_text())["attributes"]["ome"]["labels"]
    assert ome == sorted(l["group"] for l in version_of(store)["images"][a]["labels"].values())
    config = write_config(store.parent / "run.yaml", store)
    config.write_text(config.read_text().replace("data: {", "data: {labels: reader2, train: test, "))
    assert json_of("batches", "--config", config, "--count", 2)["batches"]

    done = json_of("ingest", "labels", store, "--withdraw", f"{a},{b}")
    assert done["withdrawn"] == 2 and json_of("info", store, "--versions")[-1]["labels"] == {"annotation": IMAGES - 2, "reader2": 1}
    lost = json_of("diff", store, done["before"], done["dataset_hash"])["labels"]
    assert [(one["image"], one["change"]) for one in lost] == [(a, "withdrawn"), (b, "withdrawn")]
    # What was withdrawn comes back by what is stored still.
    back = json_of("ingest", "labels", store, "--annotations", notes)
    assert back["dataset_hash"] == done["before"] and back["added"] == 2 and back["label_bytes"] == 0
    headrace("verify", store)


def test_what_can_not_be_is_refused_before_anything_is_written(made, store):
    before = sorted(str(p) for p in store.rglob("*"))
    a, b = names()[:2]
    table = lambda *rows: write_table(store.parent / "t.csv", list(rows))
    refused = lambda *arguments: message_of(headrace("ingest", "labels", store, *arguments, code=2))
    assert f"did you mean '{a}'" in refused("--table", table({"image": a[:-1], "split": "val"}))
    assert "case 'x' would be in split" in refused("--table", table({"image": a, "case": "x", "split": "val"}, {"image": b, "case": "x", "split": "test"}))
    assert "must begin with the store's classes" in refused("--classes", "background,stroma,tumour")
    assert "can't be empty" in refused("--table", table({"image": a, "split": "-"}))
    assert "has no labels 'reader2'" in refused("--withdraw", a, "--set", "reader2")
    assert "looks like" in refused("--withdraw", a, "--message", "of 2019-03-04")
    assert "nothing to change" in refused()
    assert "sex" in refused("--table", table({"image": a, "sex": "f"}))
    (store.parent / "other").mkdir()
    assert "no annotation that is named as an image" in refused("--annotations", store.parent / "other")
    bad = store.parent / f"other/{a}.geojson"
    bad.write_text("{")
    headrace("ingest", "labels", store, "--annotations", store.parent / "other", code=1)
    assert "there is no such store" in message_of(headrace("ingest", "labels", store.parent / "none.zarr", "--withdraw", a, code=1))
    assert sorted(str(p) for p in store.rglob("*")) == before
    assert json_of("verify", store)["dataset_hash"] == made[1]
    # The command that made the store points here.
    polygons(store.parent / f"notes/{a}.geojson", ("tumour", 1, 1, 5, 5))
    again = ["ingest", "slides", "--table", made[0] / "cases.csv", "--annotations", store.parent / "notes", "--classes", CLASSES, "--out", store]
    assert "headrace ingest labels" in message_of(headrace(*again, code=2))


def test_gzipped_geojson_of_a_folder_is_found(made, store):
    image = names()[3]
    plain = store.parent / f"notes/{image}.geojson"
    polygons(plain, ("tumour", 20, 30, 60 + 3, 95), ("stroma", 100, 40, 180, 100 + 3))
    plain.with_name(f"{image}.geojson.gz").write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()
    done = json_of("ingest", "labels", store, "--annotations", store.parent / "notes")
    assert (done["replaced"], done["unchanged"], done["notes"]) == (1, IMAGES - 1, [])


def test_class_sets_of_a_later_ingest_are_a_version(made, store):
    folder = made[0]
    again = ("ingest", "slides", "--table", folder / "cases.csv", "--annotations", folder / "notes", "--classes", CLASSES, "--out", store)
    done = json_of(*again, "--class-sets", "tissue=tumour+stroma")
    assert done["dataset_hash"] != made[1] and json_of("info", store)["class_sets"] == {"tissue": ["tumour", "stroma"]}
    headrace("verify", store)
    assert json_of(*again, "--class-sets", "tissue=tumour+stroma")["dataset_hash"] == done["dataset_hash"]
    assert json_of(*again)["dataset_hash"] == done["dataset_hash"]
    assert "class sets" in message_of(headrace(*again, "--class-sets", "other=background+stroma", code=2))


def test_images_that_are_added_are_a_version_too(made, store, tmp_path):
    row = rows_of(SAMPLES / "nuclei/cases.csv")[IMAGES]
    more = json_of("ingest", "slides", SAMPLES / "nuclei" / row["file"], "--out", store)
    assert more["images"] == 1 and more["dataset_hash"] != made[1]
    assert len(version_of(store)["images"]) == IMAGES + 1 and version_of(store)["classes"] == CLASSES.split(",")
    assert headrace("diff", store, made[1], more["dataset_hash"]).stdout == f"image {row['image']}: added\n"
    headrace("verify", store)


def test_killed_at_any_moment_there_is_either_version(made, store):
    notes, other, rng = store.parent / "notes", store.parent / "other", random.Random(11)
    annotate(other)
    for name in names():
        polygons(other / f"{name}.geojson", ("stroma", 5, 5, 90, 70))
    command = ["ingest", "labels", store, "--annotations", other]
    probe = store.parent / "probe.zarr"
    shutil.copytree(store, probe)
    start = time.monotonic()
    after = json_of("ingest", "labels", probe, "--annotations", other)["dataset_hash"]
    seconds, seen = time.monotonic() - start, set()
    for _ in range(KILLS):
        running = subprocess.Popen([PROGRAM, *map(str, command), "--jobs", "1"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(rng.uniform(0, 1.2) * seconds)
        running.kill()
        running.wait(timeout=300)
        now = json_of("verify", store)
        assert now["ok"] and json_of("info", store)["dataset_hash"] in (made[1], after)
        seen.add(json_of("info", store)["dataset_hash"])
        assert json_of(*command)["dataset_hash"] == after
        assert json_of("verify", store)["ok"]
        assert not (store / ".ingest").exists()
        # Back, and without what the next attempt would find written already.
        assert json_of("ingest", "labels", store, "--annotations", notes)["dataset_hash"] == made[1]
        headrace("prune", store, "--drop", after)
    assert made[1] in seen
    headrace("prune", store)
    assert json_of("verify", store)["unreferenced"] == []


def test_prune_and_verify_of_one_version(made, store):
    image = names()[0]
    polygons(store.parent / f"notes/{image}.geojson", ("tumour", 1, 1, 50, 50))
    old = label_group(store, image)
    done = json_of("ingest", "labels", store, "--annotations", store.parent / "notes")
    assert json_of("prune", store)["removed"] == [], "versions go only when they are named"
    path = store / old / "0/c/0/0"
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert old in headrace("verify", store, code=4).stdout
    headrace("verify", store, "--version", made[1][:8], code=4)
    assert json_of("verify", store, "--version", done["dataset_hash"][:8])["ok"]
    assert "is the current version" in message_of(headrace("prune", store, "--drop", done["dataset_hash"][:8], code=2))
    tried = json_of("prune", store, "--keep-last", 1, "--dry-run")
    assert tried["dropped"] == [made[1]] and path.exists()
    pruned = json_of("prune", store, "--keep-last", 1)
    assert pruned["removed"] == tried["removed"] and not (store / old).exists()
    assert json_of("verify", store)["versions"] == [done["dataset_hash"]]
    assert "it has " + done["dataset_hash"][:12] in message_of(headrace("info", store, "--version", made[1][:8], code=2))


def test_a_reader_of_a_version_sees_nothing_of_a_commit(made, store):
    config = write_config(store.parent / "run.yaml", store)
    pinned = store.parent / "pinned.yaml"
    pinned.write_text(config.read_text().replace("data: {", f"data: {{version: {made[1][:12]}, "))
    expected = json_of("batches", "--config", config, "--count", 40)["batches"]
    polygons(store.parent / f"notes/{names()[5]}.geojson", ("stroma", 0, 0, 200, 200))
    reading = subprocess.Popen([PROGRAM, "batches", "--config", config, "--count", "40", "--json"], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True)
    time.sleep(0.05)
    done = json_of("ingest", "labels", store, "--annotations", store.parent / "notes")
    found = json.loads(reading.communicate(timeout=120)[0])["batches"]
    assert reading.returncode == 0 and done["changed"]
    assert found == expected == json_of("batches", "--config", pinned, "--count", 40)["batches"]
    assert json_of("batches", "--config", config, "--count", 40)["batches"] != expected, "the commit changes what an unpinned run sees"


TRAIN = "model: {name: unet2d, widths: [8, 16]}\ntrain: {epochs: 2, lr: 1.0e-3, checkpoint_every: 2, threads: 1, log_every: 1}\n"


def test_the_run_of_before_resumes_and_evaluates_on_its_version(made, store):
    config = write_config(store.parent / "run.yaml", store, extra=TRAIN, batches=6)
    whole, broken = store.parent / "whole", store.parent / "broken"
    headrace("train", "--config", config, "--out", whole)
    expected = json.loads((whole / "eval.json").read_text())
    running = subprocess.Popen([PROGRAM, "train", "--config", config, "--out", broken], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not list(broken.glob("checkpoints/*")) and running.poll() is None:
        time.sleep(0.01)
    running.kill()
    running.wait(timeout=300)
    annotate(store.parent / "notes")
    for name in names():
        polygons(store.parent / f"notes/{name}.geojson", ("stroma", 0, 0, 200, 200))
    newer = json_of("ingest", "labels", store, "--annotations", store.parent / "notes")["dataset_hash"]
    headrace("train", "--config", config, "--out", broken, "--resume")
    assert json.loads((broken / "run.json").read_text())["dataset_hash"] == made[1]
    assert (broken / "final.safetensors").read_bytes() == (whole / "final.safetensors").read_bytes()
    again = json_of("eval", "--run", broken)
    assert again["dataset_hash"] == made[1] and again["overall"] == expected["overall"]
    other = json_of("eval", "--run", broken, "--store", store)
    assert other["dataset_hash"] == newer and other["overall"] != expected["overall"]
    # A resume that finds the store elsewhere leaves the way to it, for `eval` without --store.
    moved = store.rename(store.parent / "moved.zarr")
    headrace("train", "--config", write_config(store.parent / "moved.yaml", moved, extra=TRAIN, batches=6), "--out", broken, "--resume")
    assert json_of("eval", "--run", broken)["overall"] == expected["overall"]


def test_a_preprocessing_that_is_not_the_runs_is_not_taken(made, store):
    config = write_config(store.parent / "run.yaml", store, extra=TRAIN, batches=1)
    run = store.parent / "run"
    headrace("train", "--config", config, "--out", run)
    headrace("batches", "--config", config, "--run", run)
    own = json.loads((run / "preprocessing.json").read_text())
    own["classes"][1] = "tumor"
    (run / "preprocessing.json").write_text(json.dumps(own))
    for command in (("batches", "--config", config, "--run", run), ("eval", "--run", run)):
        assert "not the preprocessing that the run was trained with" in message_of(headrace(*command, code=4))
    (run / "run.json").unlink()
    assert "headrace train" in message_of(headrace("batches", "--config", config, "--run", run, code=1))


def columns_after(store, image, **row):
    json_of("ingest", "labels", store, "--table", write_table(store.parent / "t.csv", [{"image": image, **row}]))
    columns = version_of(store)["images"][image]["columns"]
    return [columns[name] for name in ("primary", "secondary", "grade_group")]


def test_a_grade_that_is_stated_alone_is_joined_with_those_that_are_stored(store):
    image = names()[0]
    assert columns_after(store, image, primary="3", secondary="3") == [3, 3, 1]
    assert columns_after(store, image, primary="4") == [4, 3, 3]
    assert columns_after(store, image, secondary="5") == [4, 5, 5]
    wrong = headrace("ingest", "labels", store, "--table", write_table(store.parent / "t.csv", [{"image": image, "isup_grade": "2"}]), code=2)
    assert "grade group 2 does not fit the patterns 4+5, which are group 5" in message_of(wrong)
    assert columns_after(store, image, gleason="-", isup_grade="2") == [None, None, 2]


def test_a_derived_class_is_painted_anew_when_it_becomes_a_class(store):
    image, notes = names()[3], store.parent / "notes"
    polygons(notes / f"{image}.geojson", ("tumour: Positive", 0, 0, 9, 9))
    json_of("ingest", "labels", store, "--annotations", notes)
    assert labels_at(store, image).max() == CLASSES.split(",").index("tumour")
    done = json_of("ingest", "labels", store, "--annotations", notes, "--classes", CLASSES + ",tumour: Positive")
    assert done["replaced"] == 1 and labels_at(store, image).max() == 3


def test_one_of_two_annotations_is_not_chosen_in_silence(store):
    image, notes = names()[0], store.parent / "notes"
    shutil.copy(notes / f"{image}.geojson", notes / f"{image}.json")
    table = write_table(store.parent / "t.csv", [{"image": image, "split": "val"}])
    refused = headrace("ingest", "labels", store, "--table", table, "--annotations", notes, code=2)
    assert f"image '{image}': has more than one annotation" in message_of(refused)
    named = write_table(store.parent / "t.csv", [{"image": image, "annotation": f"{image}.json"}])
    assert json_of("ingest", "labels", store, "--table", named, "--annotations", notes)["unchanged"] == IMAGES


def test_a_column_that_a_table_does_not_state_stays_as_it_was_given_later(made, store):
    a = names()[0]
    json_of("ingest", "labels", store, "--table", write_table(store.parent / "t.csv", [{"image": a, "cohort": "A"}]))
    again = json_of("ingest", "slides", "--table", made[0] / "cases.csv", "--annotations", store.parent / "notes", "--classes", CLASSES, "--out", store)
    assert again["reused"] == IMAGES and version_of(store)["images"][a]["columns"]["cohort"] == "A"


def test_a_folder_that_is_no_store_is_not_called_unfinished(tmp_path):
    (tmp_path / "papers").mkdir()
    assert "no store lies here" in message_of(headrace("diff", tmp_path / "papers", "ab12", "cd34", code=1))


def test_a_prune_that_was_killed_promises_nothing_that_is_gone(made, store):
    notes, rng = store.parent / "notes", random.Random(12)
    other = store.parent / "other"
    for name in names():
        polygons(other / f"{name}.geojson", ("stroma", 5, 5, 90, 70))
    for _ in range(KILLS):
        json_of("ingest", "labels", store, "--annotations", other)
        running = subprocess.Popen([PROGRAM, "prune", str(store), "--keep-last", "1"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(rng.uniform(0, 0.06))
        running.kill()
        running.wait(timeout=300)
        # What the prune was to remove is asked for again.
        assert json_of("ingest", "labels", store, "--annotations", notes)["dataset_hash"] == made[1]
        assert json_of("verify", store)["ok"]
