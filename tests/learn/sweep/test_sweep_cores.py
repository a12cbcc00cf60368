"""Two sweeps at once on one machine: no core is lent to two trainings at any time, also when one sweep is killed and goes on."""
import os
import signal
import subprocess
import tempfile
import time

import pytest
from driving import PROGRAM
from headrace.sweep import _leases
from headrace.sweep._cpu_quota import quota_cores
from headrace.sweep._leases import lease, locked, shared_folder, usable_cores, usable_gpus
from sweeps import SEARCH, leases, outcome, processes_of, sweep, trainings, write_sweep


def cores_of(process):
    """Of Cpus_allowed_list; None where the process has ended."""
    try:
        lines = open(f"/proc/{process}/status").read().splitlines()
    except (OSError, ProcessLookupError):
        return None
    state = next(line.split()[1] for line in lines if line.startswith("State:"))
    if state in "ZX":
        return None
    text = next(line.split()[1] for line in lines if line.startswith("Cpus_allowed_list:"))
    found = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return found


def test_two_sweeps_share_two_cores(nuclei, tmp_path):
    cores = sorted(os.sched_getaffinity(0))[:2]
    text = SEARCH + "method: random\ntrials: 3\nprocesses_at_once: 2\n"
    paths = [write_sweep(tmp_path / name, nuclei, text, batches=2, epochs=5) for name in "ab"]
    environment = os.environ | leases(tmp_path / "leases")

    def start(path):
        return subprocess.Popen([PROGRAM, "sweep", path, "--out", path.parent / "out"], env=environment, stdout=subprocess.DEVNULL,
                                stderr=open(path.parent / "said", "a"), preexec_fn=lambda: os.sched_setaffinity(0, cores))
    sweeps = [start(path) for path in paths]
    began, kill_after, most, seen = time.time(), 2.0, 0, set()
    while any(one.poll() is None for one in sweeps):
        assert time.time() - began < 120
        if kill_after and time.time() - began > kill_after:
            kill_after = 0
            sweeps[0].kill()
            sweeps[0].wait()
            sweeps[0] = start(paths[0])
        held = [(process, cores_of(process)) for process in trainings(tmp_path)]
        held = [(process, own) for process, own in held if own is not None]
        seen |= {process for process, _ in held}
        most = max(most, len(held))
        together = [core for _, own in held for core in own]
        if len(together) != len(set(together)):  # one may have ended, and its core been lent again, while we looked
            held = [(process, own) for process, own in held if cores_of(process) is not None]
            together = [core for _, own in held for core in own]
        assert len(together) == len(set(together)) and set(together) <= set(cores), held
        time.sleep(0.02)
    assert kill_after == 0, "it was done before it was killed"
    assert [one.returncode for one in sweeps] == [0, 0], (tmp_path / "a/said").read_text() + (tmp_path / "b/said").read_text()
    assert most == len(cores) and len(seen) >= 6
    a, b = (outcome(path.parent / "out")["trials"] for path in paths)
    assert [trial["value"] for trial in a] == [trial["value"] for trial in b] and len(a) == 3


def test_leases_are_disjoint_and_all_or_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("HEADRACE_LEASES", str(tmp_path / "leases"))
    first = lease([0, 1, 2], 2, ["GPU-a"], 1)
    assert first.cores == [0, 1] and first.gpus == ["GPU-a"]
    assert lease([0, 1, 2], 2) is None, "one is left, two are asked for"
    assert lease([0, 1, 2], 1, ["GPU-a"], 1) is None, "the GPU is lent"
    second = lease([0, 1, 2], 1)
    assert second.cores == [2], "what was refused before held nothing"
    first.close()
    assert lease([0, 1, 2], 2, ["GPU-a"], 1).cores == [0, 1]


def test_who_inherits_a_lease_holds_it(tmp_path, monkeypatch):
    monkeypatch.setenv("HEADRACE_LEASES", str(tmp_path / "leases"))
    own = lease([5], 1)
    child = subprocess.Popen(["sleep", "60"], pass_fds=own.descriptors)
    own.close()
    assert lease([5], 1) is None
    child.kill()
    child.wait()
    assert lease([5], 1).cores == [5]


def test_a_tracker_does_not_keep_the_cores(nuclei, tmp_path, monkeypatch):
    """It goes on after its training where the server does not answer; the next trial does not wait for it."""
    path = write_sweep(tmp_path, nuclei, "config: run.yaml\nsearch: {train.lr: [0.001]}\nmethod: grid\nthreads_per_trial: 1\n")
    with open(tmp_path / "run.yaml", "a") as config:
        config.write('tracking: [{to: mlflow, url: "http://127.0.0.1:9", wait_s: 60}]\n')
    sweep(path, tmp_path / "out")
    followers = processes_of("track", tmp_path / "out")
    try:
        assert followers, "it ended before it was looked at"
        monkeypatch.setenv("HEADRACE_LEASES", str(tmp_path / "leases"))
        cores = sorted(os.sched_getaffinity(0))
        assert lease(cores, len(cores)) is not None
        assert locked(tmp_path / "out/trials/0000/.lock") is not None
    finally:
        for process in followers:
            os.kill(process, signal.SIGKILL)


def test_gpus_are_those_that_cuda_would_see(tmp_path, monkeypatch):
    """As CUDA's documentation of CUDA_VISIBLE_DEVICES: numbers or beginnings of UUIDs, none from the first wrong one on."""
    driver = tmp_path / "nvidia-smi"
    driver.write_text("#!/bin/sh\necho '0, GPU-aa'\necho '1, GPU-bb'\n")
    driver.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert usable_gpus() == ["GPU-aa", "GPU-bb"]
    for visible, expected in [("-1", []), ("", []), ("1", ["GPU-bb"]), ("1,0", ["GPU-bb", "GPU-aa"]), ("0,7,1", ["GPU-aa"]), ("GPU-b", ["GPU-bb"])]:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
        assert usable_gpus() == expected


@pytest.mark.skipif(os.geteuid() != 0, reason="not run: acting as another user takes root")
def test_another_users_sweeps_are_seen(monkeypatch):
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        monkeypatch.setenv("HEADRACE_LEASES", f"{folder}/leases")
        before = os.umask(0o077)
        own = lease([0], 1)
        os.umask(before)
        child = os.fork()
        if child == 0:
            os.setuid(65534)
            os._exit(0 if locked(shared_folder() / "core-0.lock") is None and lease([0, 1], 1).cores == [1] else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        own.close()


@pytest.mark.parametrize("files, own, expected", [
    ({"cpu.max": "250000 100000"}, "0::/", 2),
    ({"cpu.max": "max 100000"}, "0::/", None),
    ({"cpu.max": "50000 100000"}, "0::/", 1),
    ({"pod/cpu.max": "max 100000", "pod/a/cpu.max": "400000 100000", "cpu.max": "300000 100000"}, "0::/pod/a", 3),
    ({"cpu.max": "200000 100000"}, "0::/kubepods/of/the/host", 2),
    ({"cpu,cpuacct/job/cpu.cfs_quota_us": "600000", "cpu,cpuacct/job/cpu.cfs_period_us": "100000"}, "4:cpu,cpuacct:/job", 6),
    ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, "1:cpu:/\n0::/", None),
    ({}, "0::/", None),
])
def test_quotas_of_control_groups(tmp_path, files, own, expected):
    """Files as the kernel's documentation has them (cgroup-v2: cpu.max; v1, sched-bwc: cpu.cfs_quota_us)."""
    for name, text in files.items():
        (tmp_path / "cgroup" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "cgroup" / name).write_text(text + "\n")
    (tmp_path / "own").write_text(own + "\n")
    assert quota_cores(tmp_path / "cgroup", tmp_path / "own") == expected
    assert quota_cores(tmp_path / "cgroup", tmp_path / "absent") is None


def test_a_quota_leaves_fewer_cores(monkeypatch):
    monkeypatch.setattr(_leases, "quota_cores", lambda: 3)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {2, 4, 6, 8, 10})
    cores = usable_cores()
    assert len(cores) == 3 and cores == sorted(cores) and {*cores} <= {2, 4, 6, 8, 10}
    monkeypatch.setattr(_leases, "quota_cores", lambda: 64)
    assert usable_cores() == [2, 4, 6, 8, 10]
