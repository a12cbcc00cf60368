"""Bad input gets one clear sentence, the documented exit code, and leaves nothing half-written."""
import re
import subprocess

import pytest
from driving import PROGRAM, SAMPLES, few_nuclei, headrace, message_of, rows_of, sentence_of, write_config, write_table

GOOD = SAMPLES / "slides/derived/cmu-lzw-pred-256.tif"


def nothing_stored(store):
    """No store, or one that says itself that it is not finished and holds no image of the failed run."""
    if not store.exists():
        return True
    left = [str(p.relative_to(store)) for p in store.rglob("*") if p.is_file()]
    return "manifest.json" not in left and not any(name.startswith("images/") for name in left)


def refused(tmp_path, *arguments, code=1, store="out.zarr"):
    text = message_of(headrace("ingest", "slides", *arguments, "--out", tmp_path / store, code=code))
    assert nothing_stored(tmp_path / store), sorted(p for p in (tmp_path / store).rglob("*"))
    return text


def truncated(tmp_path, part=0.6):
    whole = (SAMPLES / "slides/CMU-1-Small-Region.svs").read_bytes()
    path = tmp_path / "truncated.svs"
    path.write_bytes(whole[:int(len(whole) * part)])
    return path


@pytest.mark.parametrize("part", [0.0, 0.00001, 0.01, 0.3, 0.6, 0.95])
def test_a_truncated_svs_is_named(tmp_path, part):
    text = refused(tmp_path, truncated(tmp_path, part), code=4 if part else 1)  # nothing of an empty file is a slide
    assert "truncated.svs" in text


def test_a_text_file_named_svs_is_refused(tmp_path):
    path = tmp_path / "notes.svs"
    path.write_text("Dear colleague, the slide is in the other folder.\n" * 20)
    assert "notes.svs" in refused(tmp_path, path)


def test_a_good_slide_beside_a_bad_one_is_not_stored_alone(tmp_path):
    assert "truncated.svs" in refused(tmp_path, GOOD, truncated(tmp_path), code=4)


def test_a_file_that_is_not_there_is_named(tmp_path):
    assert "absent.svs" in refused(tmp_path, tmp_path / "absent.svs")


def test_a_folder_without_slides_is_refused(tmp_path):
    (tmp_path / "empty").mkdir()
    assert "empty" in refused(tmp_path, tmp_path / "empty", code=2)


def test_a_mask_of_another_size_is_named_with_both_sizes(tmp_path):
    rows = rows_of(few_nuclei(tmp_path, 1, 0))
    import imageio.v3 as iio
    mask = iio.imread(rows[0]["annotation"])
    iio.imwrite(tmp_path / "mask.png", mask[:-5])
    rows[0]["annotation"] = str(tmp_path / "mask.png")
    text = refused(tmp_path, rows[0]["file"], "--table", write_table(tmp_path / "cases.csv", rows))
    assert re.search(r"mask\.png.*251.*256|mask\.png.*256.*251", text), text


def test_a_table_with_a_missing_file_names_the_line(tmp_path):
    rows = rows_of(few_nuclei(tmp_path, 3, 0))
    rows[2]["file"] = "images/gone.png"
    text = refused(tmp_path, SAMPLES / "nuclei/images", "--table", write_table(tmp_path / "cases.csv", rows))
    assert re.search(r"cases\.csv, line 4.*gone\.png", text), text


def test_a_table_with_a_missing_annotation_names_the_line(tmp_path):
    rows = rows_of(few_nuclei(tmp_path, 2, 0))
    rows[1]["annotation"] = "masks/gone.png"
    text = refused(tmp_path, SAMPLES / "nuclei/images", "--table", write_table(tmp_path / "cases.csv", rows))
    assert re.search(r"line 3.*gone\.png", text), text


def test_a_misspelt_column_gets_the_nearest_one(tmp_path):
    table = tmp_path / "cases.csv"
    table.write_text(f"file,chort\n{GOOD},a\n")
    text = refused(tmp_path, GOOD, "--table", table, code=2)
    assert "'chort'" in text and "'cohort'" in text


def test_two_splits_for_one_patient_are_refused(tmp_path):
    rows = rows_of(few_nuclei(tmp_path, 2, 0))
    rows[0]["case"] = rows[1]["case"] = "patient-1"
    rows[1]["split"] = "val"
    text = refused(tmp_path, SAMPLES / "nuclei/images", "--table", write_table(tmp_path / "cases.csv", rows), code=2)
    assert "patient-1" in text


@pytest.mark.parametrize("name", sorted(p.name for p in (SAMPLES / "odd/tiff").iterdir()))
def test_hostile_tiffs_are_stored_or_refused_in_one_sentence(tmp_path, name):
    store = tmp_path / "out.zarr"
    done = subprocess.run(["bash", "-c", 'ulimit -v 4000000; exec "$0" "$@"', PROGRAM, "ingest",
                           "slides", SAMPLES / "odd/tiff" / name, "--out", store, "--jobs", "1"],
                          capture_output=True, text=True, timeout=300)
    if done.returncode == 0:
        headrace("verify", store)
    else:
        assert done.returncode in (1, 2, 4), done.stderr
        assert message_of(done) and nothing_stored(store)


def test_a_text_file_named_tiff_and_a_slide_smaller_than_its_tile(tmp_path):
    assert "broken.svs" in refused(tmp_path, SAMPLES / "odd/slides/broken.svs")
    headrace("ingest", "slides", SAMPLES / "odd/slides/smaller-than-a-tile.svs", "--out", tmp_path / "small.zarr")
    headrace("verify", tmp_path / "small.zarr")


def test_a_full_disk_is_said_and_the_next_run_goes_on(small_disk):
    disk = small_disk(3)
    slide = SAMPLES / "slides/CMU-1-Small-Region.svs"
    arguments = ("ingest", "slides", slide, "--out", disk / "out.zarr", "--codec", "blosc-zstd")
    text = message_of(headrace(*arguments, code=1))
    assert re.search(r"disk full while writing images/", text), text
    assert nothing_stored(disk / "out.zarr")
    small_disk(100)
    headrace(*arguments)
    headrace("verify", disk / "out.zarr")


@pytest.mark.parametrize("extra,expected", [
    ("sampling: {batchs: 4}\n", r"run\.yaml:2: unknown key 'batchs' in 'sampling'.*'batch'"),
    ("sampling: {batch: many}\n", r"run\.yaml:2: sampling\.batch: expected a whole number, found 'many'"),
    ("sampling: {batch: 0}\n", r"run\.yaml:2: sampling\.batch: expected 1 to \d+, found 0"),
    ("transforms:\n  - afine: {flip: true}\n", r"run\.yaml:3: .*'afine'.*'affine'"),
    ("transforms:\n  - affine: {rotate: 3}\n", r"run\.yaml:3: unknown key 'rotate'.*'rotate_deg'"),
    ("model: {name: unet3}\n", r"run\.yaml:2: model\.name: 'unet3' is none of"),
    ("patch: {size: [0, 64]}\n", r"run\.yaml:2: patch\.size"),
    ("task: gleason\n", r"run\.yaml:2: key 'task' stands twice"),
])
def test_a_wrong_config_is_named_with_its_line(tmp_path, extra, expected):
    config = tmp_path / "run.yaml"
    config.write_text("task: segmentation\n" + extra + "data: {store: nowhere.zarr}\n")
    text = message_of(headrace("batches", "--config", config, "--count", 1, "--json", code=2))
    assert re.search(expected, text), text


def test_a_store_that_is_not_there_is_named(tmp_path):
    config = write_config(tmp_path / "run.yaml", tmp_path / "absent.zarr")
    assert "absent.zarr" in message_of(headrace("batches", "--config", config, "--count", 1, "--json", code=1))
    for command in ("info", "verify"):
        assert "absent.zarr" in message_of(headrace(command, tmp_path / "absent.zarr", code=1))


def test_another_dataset_than_expected_is_refused(tmp_path, nuclei):
    config = tmp_path / "run.yaml"
    config.write_text(f"task: segmentation\ndata: {{store: {nuclei}, expect_hash: {'0' * 64}}}\n")
    assert "0" * 64 in message_of(headrace("batches", "--config", config, "--count", 1, "--json", code=2))


@pytest.mark.parametrize("command", [["info"], ["info", "--versions"], ["verify"], ["process", "sobel", "OUT"]])
def test_a_url_is_refused_in_a_sentence(tmp_path, command):
    url, words = "az://container/a store", [str(tmp_path / "out") if word == "OUT" else word for word in command]
    arguments = [*words[:2], url, *words[2:]] if "process" in words else [*words, url]
    text = message_of(headrace(*arguments, code=1))
    assert f"{url}: reading from az is not supported; copy the store to a folder" in text, text
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("words", [["ingest", "volumes", "URL/ct.nii.gz", "--out", "OUT.zarr"], ["ingest", "slides", GOOD, "--annotations", "URL/masks", "--out", "OUT.zarr"],
                                   ["ingest", "slides", "--table", "URL/cases.csv", "--out", "OUT.zarr"], ["batches", "--config", "URL/c.yaml"]])
def test_what_is_not_read_by_url_says_so(tmp_path, words):
    """Not that there is no such file."""
    for url in ("https://slides.site", "s3://bucket"):
        done = headrace(*[str(word).replace("URL", url).replace("OUT", str(tmp_path / "out")) for word in words], code=1)
        assert "URLs are not read here, so copy it to a folder" in sentence_of(done), done.stderr
    assert not list(tmp_path.iterdir())


def test_a_store_is_not_written_to_a_url(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = message_of(headrace("ingest", "slides", GOOD, "--out", "s3://bucket/store", code=1))
    assert "s3://bucket/store: is a URL" in text and not list(tmp_path.iterdir())
