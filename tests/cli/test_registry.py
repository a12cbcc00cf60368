"""A registry of promoted models: what is none, who else is at work there, how damage shows, what it does on a full or read-only disk."""
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import time

import pytest
from driving import PROGRAM, headrace, message_of
from promoted_runs import contents, log_of, promote, sha256


def test_names_and_folders_that_are_no_registry(registry, run, tmp_path):
    for name in ("models", "log.jsonl", ".hidden", "..", "a/b", "", "-x y", "n" * 101):
        done = subprocess.run([PROGRAM, "promote", run, f"--as={name}", "--registry", registry], capture_output=True, text=True, timeout=60)
        assert done.returncode == 2, (name, done.stderr)
    (tmp_path / "other").mkdir()
    (tmp_path / "other/file").write_text("")
    assert "is not empty and no registry" in message_of(promote(run, tmp_path / "other", code=2))
    (registry / "taken").mkdir()
    assert "is in the way" in message_of(promote(run, registry, name="taken", code=2))
    assert "there is no such registry" in message_of(headrace("promote", "--list", "--registry", tmp_path / "absent", code=1))


def test_a_list_while_a_promotion_goes_on(registry, tmp_path):
    """What is there in between is no damage: the log is read up to an instant, and a link of later is not held against it."""
    if shutil.which("strace") is None:
        pytest.skip("not run: Debian package strace is not installed")
    trace = tmp_path / "trace"
    slowly = ["strace", "-f", "-o", trace, "-P", registry / "log.jsonl", "-e", "trace=openat,read", "-e", "inject=read:delay_enter=3000000"]
    process = subprocess.Popen([*slowly, PROGRAM, "promote", "--list", "--registry", registry], stdout=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not (trace.exists() and "openat" in trace.read_text()):  # until it has begun to read the log
        assert time.monotonic() < deadline
        time.sleep(0.01)
    (registry / "later").symlink_to((registry / "gleason").readlink())
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 0 and "DAMAGED" not in said and "gleason" in said


def listed(registry, code=0):
    return json.loads(headrace("promote", "--list", "--registry", registry, "--json", code=code).stdout)


def test_damage_shows(registry, run):
    promote(run, registry, "--without-comparison", "none", name="other")
    assert listed(registry)["damage"] == [] and [one["name"] for one in listed(registry)["names"]] == ["gleason", "other"]
    log = (registry / "log.jsonl").read_bytes()
    assert listed(registry)["head"] == hashlib.sha256(log.splitlines()[-1]).hexdigest()
    first, second = log.splitlines(keepends=True)
    for damaged in (first.replace(b'"by":"anna"', b'"by":"otto"') + second, second, second + first, b"x" + log, first + first + second):
        (registry / "log.jsonl").write_bytes(damaged)
        assert len(listed(registry, code=4)["damage"]) == 1, damaged
        assert "Put the log back" in message_of(promote(run, registry, name="third", code=4))
    (registry / "log.jsonl").write_bytes(first)  # the last line gone: its name is left over
    assert "the log does not have" in listed(registry, code=4)["damage"][0]
    before = contents(registry)  # a promotion would take the model for a rest and remove it
    assert "the end of the log is lost" in message_of(promote(run, registry, "--without-comparison", "none", name="third", code=4))
    assert contents(registry) == before
    (registry / "log.jsonl").write_bytes(log)
    weights = registry / "gleason/final.safetensors"
    data = weights.read_bytes()
    weights.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    assert "final.safetensors is not what was promoted" in listed(registry, code=4)["damage"][0]
    weights.unlink()
    assert "final.safetensors is missing" in listed(registry, code=4)["damage"][0]
    weights.write_bytes(data)
    (registry / "gleason").unlink()
    (registry / "gleason").symlink_to("models/elsewhere")
    assert "never gave this name" in listed(registry, code=4)["damage"][0]


def test_texts_that_the_log_cannot_take(registry, run):
    before = contents(registry)
    command = [PROGRAM, "promote", run, "--as", "other", "--registry", registry, "--message", b"\xff"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "--message: the text is not UTF-8" in done.stderr and contents(registry) == before


def test_lines_that_promote_did_not_write(registry, run):
    log = registry / "log.jsonl"
    last = hashlib.sha256(log.read_bytes().splitlines()[-1]).hexdigest()
    with log.open("a") as file:
        file.write(json.dumps(log_of(registry)[0] | {"before": last, "number": 2, "model": "../../elsewhere"}) + "\n")
    assert "log.jsonl:2: not a line of a registry's log" in listed(registry, code=4)["damage"][0]
    assert "Put the log back" in message_of(promote(run, registry, name="third", code=4))


def test_files_of_others_in_models_are_left_alone(registry, run):
    (registry / "models/README").write_text("ours")
    (registry / "models/.part-0123456789abcdef").mkdir()
    promote(run, registry, name="third")
    assert sorted(path.name for path in (registry / "models").iterdir()) == sorted(["README", *{line["model"] for line in log_of(registry)}])


def test_two_at_once(promotable, registry):
    lock = os.open(registry / "log.jsonl", os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    both = [subprocess.Popen([PROGRAM, "promote", promotable / name, "--as", f"of-{name}", "--registry", registry],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE) for name in "ab"]
    with pytest.raises(subprocess.TimeoutExpired):
        both[0].wait(timeout=1)
    assert both[1].poll() is None and len(log_of(registry)) == 1
    os.close(lock)
    for process in both:
        _, said = process.communicate(timeout=60)
        assert process.returncode == 0, said
    assert sorted(line["name"] for line in log_of(registry)) == ["gleason", "of-a", "of-b"] and listed(registry)["damage"] == []


def test_a_read_only_registry(promotable, run, small_disk):
    disk = small_disk(16)
    promote(promotable / "a", disk / "registry")
    before = contents(disk / "registry")
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True, timeout=60)
    try:
        assert "ead-only file system" in message_of(promote(run, disk / "registry", "--without-comparison", "none", code=1))
        assert contents(disk / "registry") == before
        headrace("promote", "--list", "--registry", disk / "registry")
    finally:
        subprocess.run(["mount", "-o", "remount,rw", disk], check=True, timeout=60)


def test_a_full_disk(promotable, run, small_disk):
    disk = small_disk(16)
    promote(promotable / "a", disk / "registry")
    before = contents(disk / "registry")
    with open(disk / "full", "wb", buffering=0) as file, pytest.raises(OSError, match="No space left"):
        while True:
            file.write(bytes(4096))
    assert "disk full" in message_of(promote(run, disk / "registry", "--without-comparison", "none", code=1))
    assert contents(disk / "registry") == before
    (disk / "full").unlink()
    promote(run, disk / "registry", "--without-comparison", "none")
