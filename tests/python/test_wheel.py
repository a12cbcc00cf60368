"""An existing wheel, named by HEADRACE_WHEEL, in an empty environment: it needs nothing else, names its licences, and works (`make wheel`)."""
import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from driving import ROOT, SAMPLES, few_nuclei

WHEEL = os.environ.get("HEADRACE_WHEEL", "")
pytestmark = pytest.mark.skipif(not WHEEL, reason="not run: HEADRACE_WHEEL names no wheel (`make wheel` makes one in wheel-out/)")
CT = [SAMPLES / "ct/liver-3slice" / f"0{slice}.dcm" for slice in (1, 2, 3)]
GIVEN = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libstdc++.so.6", "libgcc_s.so.1", "libz.so.1",
         "ld-linux-x86-64.so.2"}  # every Linux of the wheel's tag has these


def run(*command, code=0, timeout=300, **options):
    """In an environment without this one's Python path."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "LD_", "HEADRACE"))}
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=timeout, env=environment, **options)
    assert done.returncode == code, f"{command}: exit code {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-3000:]}"
    return done


@pytest.fixture(scope="module")
def venv(tmp_path_factory):
    """An environment with the wheel and its requirements alone."""
    folder = tmp_path_factory.mktemp("wheel") / "venv"
    run(sys.executable, "-m", "venv", folder)
    run(folder / "bin/pip", "install", "--quiet", Path(WHEEL).resolve(), timeout=600)
    return folder


@pytest.fixture(scope="module")
def contents():
    with zipfile.ZipFile(WHEEL) as file:
        return {name: file.read(name) for name in file.namelist()}


def libraries(contents):
    """The file names of what auditwheel copied, as they were before it."""
    return {re.sub(r"-[0-9a-f]{8}(?=\.so)", "", Path(name).name) for name in contents if name.startswith("headrace.libs/") and ".so" in name}


def test_its_name_states_platform_and_version(contents):
    version = re.search(r"project\(headrace VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    name, wheel_version, python, abi, platform = Path(WHEEL).stem.split("-")
    assert (name, wheel_version, python) == ("headrace", version, abi)
    lowest = min(int(found) for found in re.findall(r"manylinux_2_(\d+)_", platform))
    assert lowest <= 34, "needs a glibc newer than that of RHEL 9"


def test_it_brings_no_large_or_gpl_library(contents):
    assert not {name for name in libraries(contents) if re.match(r"libicu|libkrb5|libcurl|libgnutls|libtorch", name)}
    for name in ("libxml2.so.2", "libwrap.so.0", "libjbig.so.0"):
        found = [data for path, data in contents.items() if re.sub(r"-[0-9a-f]{8}(?=\.so)", "", Path(path).name) == name]
        assert len(found) <= 1 and all(b"is not part of this package" in data for data in found), name
    assert Path(WHEEL).stat().st_size < 20e6


def test_every_library_has_a_licence(contents):
    folder = "licenses/bundled/"
    bundled = {name.split(folder)[1]: data.decode() for name, data in contents.items() if folder in name and not name.endswith("/")}
    listed = dict(re.findall(r"^(\S+): (.*)$", bundled.pop("LIBRARIES.txt"), re.MULTILINE))
    assert libraries(contents) <= set(listed)
    texts = {line.rsplit(", ", 1)[1] for line in listed.values() if line.endswith(".txt")}
    assert texts <= set(bundled) and all(len(text) > 200 for text in bundled.values())
    assert any(name.endswith("dist-info/licenses/LICENSE") for name in contents)


def test_it_names_no_folder_of_the_machine_that_built_it(contents):
    home, root = os.path.expanduser("~").encode() + b"/", str(ROOT).encode() + b"/"
    ours = {name: data for name, data in contents.items() if name.startswith(("headrace/", "headrace_program/"))}
    assert {name for name, data in ours.items() if home in data or root in data} == set()


def test_every_file_of_the_package_is_there(contents):
    here = {f"headrace/{path.name}" for path in (ROOT / "python/headrace").iterdir() if path.suffix in (".py", ".typed")}
    there = {name for name in contents if re.fullmatch(r"headrace/[^/]+\.(py|typed)", name)}
    assert here == there and "headrace/_core.pyi" in contents


READ_DICOM = """
import os, sys
import headrace, headrace_program
headrace.ingest_volumes(sys.argv[2:], sys.argv[1])  # DCMDICTPATH names nothing: the wheel's dictionary is read
del os.environ["DCMDICTPATH"]
os.execv = lambda program, arguments: print(*[os.path.getsize(file) for file in os.environ["DCMDICTPATH"].split(os.pathsep)])
headrace_program.main()
"""


def test_it_reads_dicom_without_a_dcmtk_of_the_system(venv, tmp_path):
    done = subprocess.run([venv / "bin/python", "-c", READ_DICOM, tmp_path / "s.zarr", *CT], capture_output=True, text=True, timeout=300,
                          env={"PATH": os.environ["PATH"], "DCMDICTPATH": str(tmp_path / "none")})
    assert done.returncode == 0, done.stderr
    assert all(int(size) > 100_000 for size in done.stdout.split()) and len(done.stdout.split()) == 2


def test_it_needs_no_other_library(venv):
    site = next(venv.glob("lib/python3*/site-packages"))
    for program in (next((site / "headrace").glob("_core*.so")), site / "headrace_program/headrace"):
        rows = re.findall(r"^\s*(\S+) => (.*?)(?: \(|$)", run("ldd", program).stdout, re.MULTILINE)
        assert len(rows) > 10
        assert [row for row in rows if row[0] not in GIVEN and not Path(row[1]).resolve().is_relative_to(site.resolve())] == []


USED = """
import json, sys
import numpy as np
import headrace
table, images, store, config = sys.argv[1:]
report = headrace.ingest_slides(images, store, table=table, codec="blosc-zstd")
cohort = headrace.open(store)
assert cohort.dataset_hash == report["dataset_hash"] and headrace.verify(store)["ok"]
image = next(iter(cohort))
pixels = np.asarray(image.level(0)[:64, :64])
assert pixels.dtype == np.uint8 and pixels.shape == (64, 64, 3) and pixels.std() > 1
with headrace.Loader(config, as_="numpy") as loader:
    shapes = [batch["image"].shape for batch in loader]
assert len(shapes) == 3 and set(shapes) == {(4, 1, 3, 64, 64)}, shapes
assert not {"torch", "zarr", "openslide"} & set(sys.modules)
print(headrace.__version__)
"""


def test_it_ingests_reads_and_makes_batches(venv, tmp_path):
    table, store, config = few_nuclei(tmp_path), tmp_path / "s.zarr", tmp_path / "run.yaml"
    config.write_text(f"task: segmentation\ndata: {{store: {store}}}\npatch: {{size: [64, 64], mpp: 0.5}}\n"
                      "sampling: {seed: 7, batch: 4, batches_per_epoch: 3}\n")
    done = run(venv / "bin/python", "-c", USED, table, SAMPLES / "nuclei/images", store, config, cwd=tmp_path)
    assert done.stdout.strip() == Path(WHEEL).name.split("-")[1]


def test_the_program_is_there(venv, tmp_path):
    program = venv / "bin/headrace"
    assert run(program, "--version").stdout.startswith(Path(WHEEL).name.split("-")[1])
    run(program, "ingest", "volumes", *CT, "--out", tmp_path / "s.zarr")
    assert json.loads(run(program, "verify", tmp_path / "s.zarr", "--json").stdout)["ok"]
    assert run(program, "inffo", code=2).stderr.startswith("headrace: 'inffo' is not a command; did you mean 'info'?")
    for command in (["train", "--config", "c", "--out", "o"], ["eval", "--run", "r"], ["predict", "--run", "r", "i.svs", "--out", "o"]):
        assert "this build has no LibTorch" in run(program, *command, code=1, cwd=tmp_path).stderr
