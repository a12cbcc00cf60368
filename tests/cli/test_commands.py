"""The command line itself: help, versions, usage errors, and the keys that scripts rely on."""
import numpy as np
import pytest
from driving import SAMPLES, headrace, json_of, message_of

COMMANDS = ["ingest", "info", "ls", "verify", "diff", "prune", "read", "batches", "sample", "phantom", "plan", "train", "eval", "predict", "suggest", "view", "export", "send",
            "report", "process", "bench", "sweep", "track"]


def test_help_lists_every_command():
    text = headrace("--help").stdout
    assert all(f"\n  {c} " in text for c in COMMANDS), text


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command):
    text = headrace(command, "--help").stdout
    assert "Usage" in text or "usage" in text


def test_train_lists_the_keys_of_its_config():
    lines = headrace("train", "--keys").stdout.splitlines()
    keys = {line.split()[0]: line for line in lines if line.startswith("  ")}
    assert "16; volumes: 2" in keys["sampling.batch"] and "cosine, poly, constant" in keys["train.schedule"]
    assert "-360 to 360" in keys["affine.rotate_deg"] and "window_hu.low" in keys


def test_an_unknown_command_gets_the_nearest():
    assert "'ingest'" in message_of(headrace("ingets", code=2))


def test_a_missing_option_is_a_usage_error(tmp_path):
    for arguments in (["info"], ["batches"], ["ingest", "slides"], ["train"], ["read"]):
        assert message_of(headrace(*arguments, code=2))


def test_an_unknown_isa_is_a_usage_error(nuclei):
    assert "v1, v2, v3 or v4" in message_of(headrace("info", nuclei, "--isa", "v9", code=2))


def test_info_has_the_keys_that_scripts_rely_on(nuclei):
    info = json_of("info", nuclei)
    assert {"dataset_hash", "images", "bytes", "source_bytes"} <= set(info)
    assert len(info["images"]) == 6
    for image in info["images"]:
        assert {"id", "case", "cohort", "kind", "shape", "spacing", "levels", "classes"} <= set(image)
        assert image["shape"] == [3, 256, 320]


def test_read_gives_the_file_s_own_pixels(tmp_path, slide):
    import openslide
    source = openslide.OpenSlide(SAMPLES / "slides/derived/cmu-aperio-style-4level.svs")
    headrace("read", slide, "cmu-aperio-style-4level", "--level", 0, "--origin", "500,700", "--size", "300,400", "--out", tmp_path / "a.npy")
    expected = np.asarray(source.read_region((700, 500), 0, (400, 300)).convert("RGB"))
    found = np.load(tmp_path / "a.npy")
    assert np.array_equal(found if found.shape[-1] == 3 else found.transpose(1, 2, 0), expected)


def test_bench_says_what_it_measured(nuclei, tmp_path):
    from driving import write_config
    config = write_config(tmp_path / "run.yaml", nuclei)
    for what in ("read", "transform", "loader"):
        result = json_of("bench", what, "--config", config, "--count", 8, "--threads", 1)
        assert {"items", "cpu_ms_per_item", "wall_ms_per_item", "bytes_per_item", "peak_rss_mb"} <= set(result)
        assert result["items"] == 8 and result["cpu_ms_per_item"] > 0
