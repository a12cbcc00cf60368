"""`headrace ingest --device`: the same store wherever statistics are computed, and one sentence where there is no GPU."""
import os
import subprocess

import pytest

from driving import PROGRAM, SAMPLES, headrace, json_of, message_of

SLIDE = SAMPLES / "slides/derived/cmu-aperio-style-4level.svs"
GPU = os.path.exists("/dev/nvidia0")


def arguments(kind, folder):
    if kind == "slides":
        return ["ingest", "slides", SLIDE]
    labels = folder / "labels"
    labels.mkdir(exist_ok=True)
    return ["ingest", "volumes", SAMPLES / "ct/totalseg-abdomen/ct.nii.gz", "--labels", labels]


@pytest.mark.skipif(GPU, reason="not run: there is a GPU")
@pytest.mark.parametrize("kind", ["slides", "volumes"])
def test_without_a_gpu_cuda_is_refused_in_one_sentence(tmp_path, kind):
    out = tmp_path / "a.zarr"
    run = subprocess.run([PROGRAM, *map(str, arguments(kind, tmp_path)), "--out", out, "--device", "cuda"], capture_output=True, text=True,
                         timeout=300)
    assert run.returncode == 1
    text = message_of(run)
    assert "--device cuda: " in text and ("no GPU" in text or "this build has no CUDA" in text)
    assert text.endswith("--device cpu gives the same bytes")
    assert not out.exists()


@pytest.mark.parametrize("kind", ["slides", "volumes"])
def test_the_store_does_not_depend_on_the_device(tmp_path, kind):
    cpu = json_of(*arguments(kind, tmp_path), "--out", tmp_path / "cpu.zarr")
    auto = json_of(*arguments(kind, tmp_path), "--out", tmp_path / "auto.zarr", "--device", "auto")
    assert cpu["device"] == "cpu"
    if not GPU:
        assert auto["device"] == "cpu"
    assert auto["dataset_hash"] == cpu["dataset_hash"]
    again = json_of(*arguments(kind, tmp_path), "--out", tmp_path / "cpu.zarr", "--device", "auto")
    assert again["reused"] == again["images"] == 1, "a run may be taken up with another device"


def test_another_device_is_a_usage_error(tmp_path):
    done = headrace("ingest", "slides", SLIDE, "--out", tmp_path / "a.zarr", "--device", "gpu", code=2)
    assert "--device" in done.stderr and "cuda" in done.stderr
