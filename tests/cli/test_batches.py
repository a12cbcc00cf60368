"""The same batches whatever the threads, the start, the instruction set, and the place of the store."""
import json
import shutil

import numpy as np
import pytest
from driving import headrace, json_of, message_of, write_config


@pytest.fixture(scope="module")
def config(nuclei, tmp_path_factory):
    return write_config(tmp_path_factory.mktemp("config") / "run.yaml", nuclei)


def hashes(config, *arguments, environment=None):
    result = json_of("batches", "--config", config, *arguments, environment=environment)
    return [json.dumps(b, sort_keys=True) for b in result["batches"]]


def test_threads_do_not_matter(config):
    one = hashes(config, "--count", 5, "--threads", 1)
    assert len(set(one)) == 5
    for threads in (2, 7):
        assert hashes(config, "--count", 5, "--threads", threads) == one, threads


def test_batches_from_the_middle_are_those_of_the_whole(config):
    whole = hashes(config, "--count", 8)
    assert hashes(config, "--count", 3, "--start", 5, "--threads", 7) == whole[5:]


def test_far_batches_do_not_need_those_before(config):
    far = hashes(config, "--count", 2, "--start", 1000, "--threads", 1)
    assert hashes(config, "--count", 2, "--start", 1000, "--threads", 7) == far
    assert hashes(config, "--count", 1, "--start", 1001) == far[1:]


def test_instruction_sets_do_not_matter(config):
    best = hashes(config, "--count", 3)
    flags = open("/proc/cpuinfo").read()
    for isa, needed in (("v1", "sse2"), ("v2", "sse4_2"), ("v3", "avx2"), ("v4", "avx512_vbmi2")):
        if needed in flags:
            assert hashes(config, "--count", 3, "--isa", isa) == best, isa
            assert hashes(config, "--count", 3, environment={"HEADRACE_ISA": isa}) == best, isa


def test_another_seed_gives_other_batches(config, nuclei, tmp_path):
    other = tmp_path / "run.yaml"
    other.write_text(config.read_text().replace("seed: 7", "seed: 8"))
    assert not set(hashes(other, "--count", 3)) & set(hashes(config, "--count", 3))


def test_a_moved_store_gives_the_same_batches(config, nuclei, tmp_path):
    moved = tmp_path / "elsewhere.zarr"
    shutil.copytree(nuclei, moved)
    other = tmp_path / "run.yaml"
    other.write_text(config.read_text().replace(str(nuclei), str(moved)))
    assert hashes(other, "--count", 3) == hashes(config, "--count", 3)


def test_what_is_written_is_what_is_hashed(config, tmp_path):
    result = json_of("batches", "--config", config, "--count", 2, "--out", tmp_path / "out")
    arrays = {p.name: np.load(p) for p in sorted((tmp_path / "out").glob("*.npy"))}
    images = [a for a in arrays.values() if a.dtype == np.float32]
    labels = [a for a in arrays.values() if a.dtype == np.uint8]
    assert len(images) == len(labels) == 2
    for image, label in zip(images, labels):
        assert image.shape[0] == 4 and image.shape[-3:] == (3, 64, 64)
        assert label.shape == (4, 64, 64) and set(np.unique(label)) <= {0, 1, 255}
        assert np.isfinite(image).all()
    import hashlib
    found = json.dumps(result)
    for array in arrays.values():
        assert hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest() in found


def test_a_rotated_patch_inside_the_slide_has_no_padding(tmp_path, slide):
    """Outside of a slide reads as white; this slide has no pure white inside, so no white pixel may come out of its middle."""
    rotate = "transforms:\n  - affine: {rotate_deg: [-180, 180]}\n"
    config = tmp_path / "run.yaml"
    config.write_text(f"task: segmentation\ndata: {{store: {slide}, labels: null}}\npatch: {{size: [128, 128], mpp: 0.5}}\n"
                      f"sampling: {{seed: 3, batch: 16, foreground: 1.0, balance: tissue}}\n{rotate}")
    headrace("batches", "--config", config, "--count", 2, "--out", tmp_path / "out", "--json")
    images = np.concatenate([np.load(p) for p in (tmp_path / "out").glob("*image*.npy")]).reshape(-1, 3, 128 * 128)
    assert len(images) == 32
    padded = [(image.min(0) >= 1.0).mean() for image in images]
    # A patch at the slide's very edge may have some; nearly all of them lie inside.
    assert sum(p > 0.002 for p in padded) <= 3, padded


def test_it_says_what_decodes_and_what_only_a_gpu_could(config, nuclei, tmp_path):
    result = json_of("batches", "--config", config, "--count", 1)
    assert (result["decoded_by"], result["left_to_cpu"], result["read_by"]) == ("CPU", "", "the host")
    assert result["stall"]["device_decode_s"] == 0
    for key, value in (("decode", "gpu"), ("gpudirect", "on")):
        insisting = write_config(tmp_path / "run.yaml", nuclei, extra=f"loader: {{{key}: {value}}}\n")
        message = message_of(headrace("batches", "--config", insisting, "--device", "cpu", code=2))
        assert f"loader.{key} is '{value}', which is for batches made on a GPU" in message
