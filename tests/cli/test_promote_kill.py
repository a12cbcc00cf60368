"""A promotion that is killed, or whose disk fails, at every system call that changes something: what is promoted is the old model or the new one,
whole, and the next call makes good."""
import json
import os
import random
import shutil
import subprocess

import pytest
from driving import PROGRAM, headrace
from matrices import ALL, some, times
from promoted_runs import contents, log_of, promote, sha256

CALLS = "write,fsync,rename,symlink,unlink,mkdir,ftruncate"


@pytest.fixture(scope="module")
def strace():
    path = shutil.which("strace")
    if path is None or subprocess.run([path, "-o", "/dev/null", "true"], capture_output=True).returncode != 0:
        pytest.skip("not run: strace is not there, or may not trace")
    return path


@pytest.fixture(scope="module")
def small(promotable, tmp_path_factory):
    """The runs without their page and with two of their 43 pictures. A file more is five calls more (folder, write, sync, rename, sync) that are
    those of the file before it: so every kind of call stays, also those of a subfolder, and a quarter of the number."""
    folder = tmp_path_factory.mktemp("small")
    for name in "ab":
        run = shutil.copytree(promotable / name, folder / name, ignore=shutil.ignore_patterns("report.html", "checkpoints"))
        for picture in sorted((run / "montage").iterdir())[2:]:
            picture.unlink()
    return folder


@pytest.fixture(scope="module")
def beginnings(small, tmp_path_factory):
    """By name, a registry as it was before the promotion of run b, or none."""
    folder = tmp_path_factory.mktemp("before")
    promote(small / "a", folder / "second")
    return {"first": None, "second": folder / "second"}


def whole(model, files):
    return {str(path.relative_to(model)): sha256(path) for path in model.rglob("*") if path.is_file()} == files


def run_with(strace, inject, run, registry, log):
    """A promotion under strace, and the calls that it made, each by its name and its number among those of that name."""
    done = subprocess.run([strace, "-f", "-qq", "-o", log, "-e", f"trace={CALLS}", *inject, PROGRAM, "promote", run, "--as", "gleason",
                           "--registry", registry, "--without-comparison", "a test", "--json"],
                          capture_output=True, text=True, timeout=120)
    names = [line.split()[1].split("(")[0] for line in log.read_text().splitlines() if "(" in line]
    return done, [(name, names[: i + 1].count(name)) for i, name in enumerate(names)]


def state(registry):
    """The models that the log and the link name; each is whole, and nothing is damaged."""
    if not (registry / "log.jsonl").exists():
        assert not (registry / "gleason").is_symlink()
        return None, None
    found = json.loads(headrace("promote", "--list", "--registry", registry, "--json").stdout)
    assert found["damage"] == []
    lines = [json.loads(line) for line in (registry / "log.jsonl").read_bytes().split(b"\n")[:-1]]
    files = {line["model"]: line["files"] for line in lines}
    link = (registry / "gleason").readlink().name if (registry / "gleason").is_symlink() else None
    for model in {link, *files} - {None}:
        assert whole(registry / "models" / model, files[model])
    return (lines[-1]["model"] if lines else None), link


@pytest.mark.parametrize("which", ["first", "second"])
def test_killed_at_every_call(strace, beginnings, small, tmp_path, which):
    run, before = small / "b", beginnings[which]
    registry, log = tmp_path / "registry", tmp_path / "trace"

    def begin():
        shutil.rmtree(registry, ignore_errors=True)
        if before is not None:
            shutil.copytree(before, registry, symlinks=True)

    begin()
    done, calls = run_with(strace, [], run, registry, log)
    assert done.returncode == 0 and len(calls) > 40
    old, new = (log_of(before)[-1]["model"] if before else None), log_of(registry)[-1]["model"]
    finished = {name: data for name, data in contents(registry).items() if name != "log.jsonl"}
    seen = set()
    for call in some(calls if before else calls[::2], f"kills of the {which} promotion", kind=lambda call: call[0]):
        begin()
        done, _ = run_with(strace, ["-e", f"inject={call[0]}:signal=KILL:when={call[1]}"], run, registry, log)
        assert done.returncode != 0, call
        logged, link = state(registry)
        assert logged in (old, new) and link in (old, new), call
        assert not (link == new and logged == old), "a link may lag behind the log, never lead"
        seen.add((logged == new, link == new))
        headrace("promote", run, "--as", "gleason", "--registry", registry, "--without-comparison", "a test")
        assert {name: data for name, data in contents(registry).items() if name != "log.jsonl"} == finished, call
        assert [line["model"] for line in log_of(registry)] == [model for model in (old, new) if model]
    assert (False, False) in seen and (True, True) in seen
    assert before is None or (True, False) in seen


@pytest.mark.parametrize("error", ["ENOSPC", "EIO"])
def test_a_disk_that_fails_at_every_call(strace, beginnings, small, tmp_path, error):
    run, before = small / "b", beginnings["second"]
    registry, log = tmp_path / "registry", tmp_path / "trace"
    shutil.copytree(before, registry, symlinks=True)
    unchanged = contents(registry)
    _, calls = run_with(strace, [], run, registry, log)
    done, before_commit, after = 0, 0, 0
    for call in some(calls[::2], f"promotions with {error}", kind=lambda call: call[0]):
        shutil.rmtree(registry)
        shutil.copytree(before, registry, symlinks=True)
        outcome, _ = run_with(strace, ["-e", f"inject={call[0]}:error={error}:when={call[1]}"], run, registry, log)
        logged, _ = state(registry)
        if outcome.returncode == 0:  # what failed did not matter: the removal of what is not there, or what is printed
            done += 1
            assert logged == log_of(registry)[1]["model"]
        elif len(log_of(registry)) == 1:
            before_commit += 1
            assert outcome.returncode == 1 and outcome.stderr.startswith("headrace: ")
            assert contents(registry) == unchanged, call
        else:
            after += 1  # the log has it: the next call lets the link follow
            promote(run, registry)
            assert (registry / "gleason").resolve().name == log_of(registry)[1]["model"]
    assert before_commit > (10 if ALL else 3), (done, before_commit, after)


def test_random_moments(small, beginnings, tmp_path):
    """Killed after a time, without strace: moments within calls, too."""
    chosen, run = random.Random(7), small / "b"
    registry = tmp_path / "registry"
    old = log_of(beginnings["second"])[-1]["model"]
    for _ in range(times(20, 5, "kills of a promotion by time")):
        shutil.rmtree(registry, ignore_errors=True)
        shutil.copytree(beginnings["second"], registry, symlinks=True)
        process = subprocess.Popen([PROGRAM, "promote", run, "--as", "gleason", "--registry", registry, "--without-comparison", "a test"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(timeout=chosen.uniform(0.005, 0.12))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(timeout=60)
        logged, link = state(registry)
        assert link in (old, logged)
        promote(run, registry, "--without-comparison", "a test")
        assert state(registry)[0] == state(registry)[1] != old
        assert len(log_of(registry)) == 2 and not [name for name in os.listdir(registry / "models") if name.startswith(".")]
