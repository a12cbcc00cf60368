"""`headrace verify` finds one flipped bit, a missing and a truncated object, whichever it is, names it, and ends with 4."""
import re
import shutil

import pytest
from driving import SAMPLES, headrace, json_of, message_of
from matrices import some


def objects(store):
    return sorted(str(p.relative_to(store)) for p in store.rglob("*") if p.is_file() and not p.relative_to(store).parts[0].startswith("."))


@pytest.fixture()
def copy(nuclei, tmp_path):
    shutil.copytree(nuclei, tmp_path / "copy.zarr")
    return tmp_path / "copy.zarr"


def named(store, key):
    done = headrace("verify", store, code=4)
    return key in done.stdout + done.stderr


def test_a_sound_store_is_said_to_be_sound(nuclei):
    result = json_of("verify", nuclei)
    info = json_of("info", nuclei)
    assert result["dataset_hash"] == info["dataset_hash"] and len(info["dataset_hash"]) == 64


def kind(numbered):
    """What an object is: chunks of one array, or a file of its name, at whatever image."""
    return re.sub(r"^images/[^/]+|/c/.*$|[0-9a-f]{16,}", "", numbered[1])


def test_one_flipped_bit_in_any_object_is_found(copy):
    keys = objects(copy)
    assert len(keys) > 20
    for i, key in some(enumerate(keys), "flipped bits", kind=kind):
        path = copy / key
        good = path.read_bytes()
        at = (len(good) * (i + 1)) // (len(keys) + 1)
        path.write_bytes(good[:at] + bytes([good[at] ^ (1 << i % 8)]) + good[at + 1:])
        assert named(copy, key), key
        path.write_bytes(good)
    headrace("verify", copy)


def test_missing_truncated_and_lengthened_objects_are_found(copy):
    for key in objects(copy)[::3]:
        path = copy / key
        good = path.read_bytes()
        for bad in (None, b"", good[:-1], good + b"\0"):
            if bad is None and (key.startswith("sources/") or key.endswith(".index")):  # a memory, which no version has; what a store may lack
                continue
            path.unlink() if bad is None else path.write_bytes(bad)
            if key == "manifest.json" and bad is None:  # then nothing says what should be there: not a finished store
                headrace("verify", copy, code=4)
            else:
                assert named(copy, key), (key, bad and len(bad))
            path.write_bytes(good)
    headrace("verify", copy)


def test_a_foreign_object_is_found(copy):
    (copy / "images/stray.bin").write_bytes(b"x")
    assert named(copy, "images/stray.bin")


def test_every_damaged_object_is_listed(copy):
    keys = [k for k in objects(copy) if "/c/" in k][:5]
    assert len(keys) == 5
    for key in keys:
        (copy / key).write_bytes(b"damaged")
    done = headrace("verify", copy, code=4)
    assert all(k in done.stdout + done.stderr for k in keys)


@pytest.mark.parametrize("codec", ["jpeg", "blosc-zstd", "zstd"])
def test_a_flipped_bit_of_a_slides_chunk_is_no_pixel_but_an_error(tmp_path, codec):
    store = tmp_path / "slide.zarr"
    slide = SAMPLES / "slides/derived/cmu-aperio-style-4level.svs"
    headrace("ingest", "slides", slide, "--out", store, "--codec", codec)
    path = store / "images/cmu-aperio-style-4level/0/c/0/0/0"
    good = path.read_bytes()
    read = ["read", store, "cmu-aperio-style-4level", "--level", 0, "--origin", "0,0", "--size", "512,512", "--out", tmp_path / "a.npy"]
    for at in (1000, 5001, 9002):  # inside of the first chunks, which are the region's
        path.write_bytes(good[:at] + bytes([good[at] ^ 1]) + good[at + 1:])
        text = message_of(headrace(*read, code=4))
        assert "images/cmu-aperio-style-4level/0, inner chunk" in text and "crc32c" in text
    path.write_bytes(good)
    headrace(*read)
