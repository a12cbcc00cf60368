"""The bundle of tools/gpu-check, packed from what was built and run in a clean folder without its checkout, a network or a GPU; and with the
host in a GPU's place, so that what a GPU runs of the benches runs here. What it may ask of a machine is read by binutils."""
import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("HEADRACE", ROOT / "build/headrace")).resolve().parent
sys.path.insert(0, str(ROOT / "tools/gpu_check"))
import items  # noqa: E402
import report  # noqa: E402
import run as runner  # noqa: E402

pytestmark = [
    pytest.mark.skipif(not (BUILD / "gpu_check").exists(), reason="not run: build/gpu_check is not there (a build with nvcc, target test_tools)"),
    pytest.mark.skipif(os.path.exists("/dev/nvidia0"), reason="not run: this machine has a GPU; gpu-bundle/run is the test there"),
]
NOT_HERE = "not measured: no GPU"


def pack(program, out, *options):
    return subprocess.run([ROOT / "tools/gpu-check", "pack", "--own", "--alone", "--program", program, "--out", out, *options],
                          capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    out = tmp_path_factory.mktemp("carried") / "gpu-bundle"
    done = pack(BUILD / "gpu_check", out)
    assert done.returncode == 0, done.stderr
    assert sum(path.stat().st_size for path in out.rglob("*") if path.is_file()) < 16 << 20
    return out


def run(bundle, folder, *arguments, code=0, environment=None):
    """As on another machine: nothing of this environment, and no network where the kernel lets us do without."""
    alone = ["unshare", "-n"] if subprocess.run(["unshare", "-n", "true"], capture_output=True).returncode == 0 else []
    done = subprocess.run([*alone, sys.executable, "-I", bundle / "run", "--out", folder / "out", "--work", folder / "work", *arguments], cwd=folder,
                          capture_output=True, text=True, timeout=300, env={"PATH": "/usr/bin:/bin", **(environment or {})})
    assert done.returncode == code, f"exit code {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
    return done, json.loads((folder / "out/gpu-check.json").read_text())


def test_all_of_it_runs_without_a_gpu(bundle, tmp_path):
    _, found = run(bundle, tmp_path)
    results = found["items"]
    assert found["no_gpu"].startswith("no GPU: ")
    assert {key: result["status"] for key, result in results.items()} == dict.fromkeys(results, 0)
    assert list(results)[:len(items.FIRST)] == list(items.FIRST) and list(results)[-1] == "sanitizer"
    for key in ("slides", "volumes", "decode", "direct", "statistics"):
        assert results[key]["text"].startswith(NOT_HERE), key
    for key in ("feed-slides", "feed-volumes"):
        assert [(row["step, ms"], row["patches/s"]) for row in report.rows(results[key]["text"])] == [("0", "ran"), ("50", "ran")]
    assert {row["device"] for row in report.rows(results["process"]["text"]) if row["mode"] in ("tilewise", "global")} == {"CPU"}
    for key in ("bits", "train-bits"):
        assert re.search(r"\[  PASSED  \] [1-9]\d* test", results[key]["text"]) and "SKIPPED" in results[key]["text"], key
    for key in ("training-slides", "training-volumes"):
        assert [row["patches/s"] for row in report.rows(results[key]["text"])] == ["ran"], results[key]["text"]
    for key in ("evaluating-slides", "evaluating-volumes"):
        assert "The figures of both are the same." in results[key]["text"], results[key]["text"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["gpu-check-logs.tar.gz", "gpu-check.json", "gpu-check.md"]
    assert "no figure counts" in (tmp_path / "out/gpu-check.md").read_text()
    with tarfile.open(tmp_path / "out/gpu-check-logs.tar.gz") as logs:
        assert "gpu-check-logs/bits.log" in logs.getnames()
    assert list((tmp_path / "work").iterdir()) == []


def test_the_benches_run_as_on_a_gpu_with_the_host_in_its_place(tmp_path):
    assert pack(BUILD / "gpu_check_on_host", tmp_path / "b").returncode == 0
    driver = BUILD / "fake_driver"
    library = lambda name: str(next(BUILD.rglob(f"libfake_{name}.so")))  # noqa: E731
    _, found = run(tmp_path / "b", tmp_path, "--small", "--only", "feed-slides,feed-volumes,decode,direct",
                   environment={"LD_LIBRARY_PATH": str(driver), "HEADRACE_CUFILE": str(driver / "libcuda.so.1"),
                                "HEADRACE_NVCOMP": library("nvcomp"), "HEADRACE_NVJPEG": library("nvjpeg")})
    results = found["items"]
    assert {key: result["status"] for key, result in results.items()} == dict.fromkeys(("feed-slides", "feed-volumes", "decode", "direct"), 0)
    fed = [row for row in report.rows(results["feed-volumes"]["text"])]
    assert [(row["step, ms"], row["read by"]) for row in fed] == [(ms, by) for by in ("the host", "the host", "cuFile") for ms in ("0", "50")]
    assert all(report.number(row["patches/s"]) > 0 and 0 <= report.number(row["its stream idle"]) <= 100 for row in fed)
    assert "- goal: volumes: a step of 50 ms" in results["feed-volumes"]["text"]
    assert [row["read by"] for row in report.rows(results["direct"]["text"])][2:] == ["cuFile", "cuFile"]
    assert "differs" not in results["decode"]["text"] and "nvCOMP" in results["decode"]["text"]


def test_a_second_run_goes_on_with_what_is_missing(bundle, tmp_path):
    _, first = run(bundle, tmp_path, "--only", "statistics")
    done, second = run(bundle, tmp_path, "--only", "statistics,direct")
    assert "[1/1] " in done.stdout and list(second["items"]) == ["statistics", "direct"]
    assert second["items"]["statistics"] == first["items"]["statistics"]
    _, cut = run(bundle, tmp_path, "--only", "slides", "--seconds", "1", code=3)
    assert cut["items"]["slides"]["status"] == "skipped" and len(cut["items"]) == 3
    assert "there is no other" in run(bundle, tmp_path, "--only", "other", code=2)[0].stderr


def test_one_that_does_not_end_when_it_is_killed_is_left_behind(tmp_path, monkeypatch):
    """As a process in a driver's call: here `wait` does not see its end."""
    class Held(subprocess.Popen):
        def wait(self, timeout=None):
            time.sleep(1)
            raise subprocess.TimeoutExpired(self.args, timeout)

    monkeypatch.setattr(runner.subprocess, "Popen", Held)
    item = items.Item("held", "held", [sys.executable, "-c", "print('a row', flush=True); import time; time.sleep(60)"], 1, 0)
    result = runner.run(item, tmp_path / "held.log", tmp_path, 1)
    assert result["status"] == "stopped, but does not end" and "a row" in result["text"]
    assert "STOPPED after 1 s, but does not end" in result["text"]


def every_item():
    return items.items(Path("/bundle"), Path("/work"), Path("/samples"), {"HEADRACE_NVCOMP": "/n"}, Path("/site"), False)


def test_limits_fit_into_the_time_and_the_first_items_into_four_minutes():
    limits = {item.key: item.limit_s for item in every_item()}
    wanted = list(limits)[:list(limits).index(items.LAST_WANTED) + 1]
    assert items.UNPACK_S + sum(limits[key] for key in wanted) <= items.TOTAL_S < 600
    assert 2 * items.UNPACK_S + sum(limits.values()) <= 2 * items.TOTAL_S
    assert items.UNPACK_S + sum(limits[key] for key in items.FIRST) <= items.FIRST_S == 240
    assert all(item.least_s < item.limit_s for item in every_item())


def test_no_item_is_given_a_library_path_and_peers_nothing_of_ours():
    for item in every_item():
        assert not any(name.startswith("LD_") for name in item.environment), item.key
        assert set(item.environment) == ({"PYTHONPATH"} if item.key.endswith("-peer") else {"HEADRACE_NVCOMP", "HEADRACE_SAMPLES"}), item.key


def listed_tests(*command):
    listed = subprocess.run([*command, "--gtest_list_tests"], capture_output=True, text=True, timeout=60, check=True).stdout
    suite, names = "", []
    for line in listed.splitlines():
        if line.startswith("  "):
            names.append(suite + line.split("#")[0].strip())
        elif line.split("#")[0].strip().endswith("."):
            suite = line.split("#")[0].strip()
    return names


def test_every_filter_of_the_program_with_libtorch_finds_tests():
    names = {name for program in ("model", "inference", "train", "predict") for name in listed_tests(BUILD / f"test_{program}")}
    for pattern in f"{items.TORCH_TESTS}:{items.TRAININGS}".split(":"):
        assert any(fnmatch.fnmatchcase(name, pattern) for name in names), pattern


def test_every_test_of_the_program_belongs_to_one_item():
    names = listed_tests(BUILD / "gpu_check", "tests")
    assert len(names) > 50
    for name in names:
        assert sum(any(fnmatch.fnmatchcase(name, p) for p in filters.split(":")) for filters in items.TESTS.values()) == 1, name


def test_it_asks_for_no_newer_c_library_than_it_says(bundle, tmp_path):
    """By objdump: a version that is needed, and not weak (flag 2), is at most GLIBC_2.35; each library is carried, or is the C library's."""
    with tarfile.open(bundle / "program.tar.xz") as tar:
        tar.extractall(tmp_path)
    programs = [tmp_path / "gpu_check", tmp_path / "gpu_check_torch"]
    files = [*programs, *(tmp_path / "lib").iterdir()]
    carried, loosened = {file.name for file in files}, []
    for file in files:
        said = subprocess.run(["objdump", "-p", file], capture_output=True, text=True, check=True).stdout
        for flags, minor in re.findall(r"0x[0-9a-f]+ (0x[0-9a-f]+) \d+ GLIBC_2\.(\d+)", said):
            if int(minor) > 35:
                assert int(flags, 16) & 2, f"{file.name} needs GLIBC_2.{minor}"
                loosened.append((file.name, minor))
        for needed in re.findall(r"NEEDED\s+(\S+)", said):
            of_torch = file == programs[1] and needed in ("libtorch.so", "libtorch_cpu.so", "libc10.so")
            assert of_torch or needed in carried or re.match(r"(libc|libm|libdl|librt|libpthread|ld-linux-x86-64)\.so\.", needed), \
                f"{file.name}: {needed}"
    assert set(loosened) <= {("libstdc++.so.6", "36"), ("libexpat.so.1", "36")}
    for program, path in zip(programs, (r"\$ORIGIN/lib", r"\$ORIGIN/lib:\$ORIGIN/torch")):
        assert re.search(rf"RPATH\s+{path}\n", subprocess.run(["objdump", "-p", program], capture_output=True, text=True).stdout)
        exported = subprocess.run(["objdump", "-T", program], capture_output=True, text=True).stdout
        assert " arc4random\n" in exported and " arc4random_buf\n" in exported


def test_another_torch_or_none_is_said_and_costs_nothing_else(bundle, tmp_path):
    """As in the Python of another machine: this one without its packages, and with a torch of another version."""
    def trial(name, *lines):
        folder = tmp_path / name
        (folder / "torch").mkdir(parents=True)
        for file, text in lines:
            (folder / "torch" / file).write_text(text)
        done = subprocess.run([sys.executable, "-S", bundle / "run", "--out", folder / "out", "--only", "train-bits,training-slides,statistics"],
                              capture_output=True, text=True, timeout=120, env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(folder) if lines else ""})
        assert done.returncode == 0, done.stderr
        return {key: item["text"] for key, item in json.loads((folder / "out/gpu-check.json").read_text())["items"].items()}

    built_with = json.loads((bundle / "bundle.json").read_text())["torch"]
    none = trial("none")
    assert none["train-bits"] == none["training-slides"] == "not measured: there is no torch in this Python; this needs torch=={}, of PyPI, for {}".format(
        *built_with.split("+"))
    assert none["statistics"].startswith(NOT_HERE)
    other = trial("other", ("__init__.py", ""), ("version.py", "__version__ = '1.0'\n"))
    assert other["train-bits"] == f"not measured: this Python has torch 1.0; this was built with {built_with}"


def test_a_program_for_a_newer_c_library_is_not_packed(tmp_path):
    source = tmp_path / "newer.c"
    source.write_text("#include <stdlib.h>\nint main(void) { return arc4random() == 0; }\n")  # of glibc 2.36, says its manual
    if subprocess.run(["gcc", source, "-o", tmp_path / "newer"], capture_output=True).returncode != 0:
        pytest.skip("not run: the C library here is older than 2.36")
    done = pack(tmp_path / "newer", tmp_path / "out")
    assert done.returncode == 1
    assert "gpu_check needs GLIBC_2.36 of libc.so.6" in done.stderr and not (tmp_path / "out").exists() and not (tmp_path / "out.new").exists()


def test_what_is_no_bundle_is_not_replaced(tmp_path):
    (tmp_path / "mine").mkdir()
    shutil.copy(__file__, tmp_path / "mine")
    done = pack(BUILD / "gpu_check", tmp_path / "mine")
    assert done.returncode == 1 and "is no bundle" in done.stderr and len(os.listdir(tmp_path / "mine")) == 1
