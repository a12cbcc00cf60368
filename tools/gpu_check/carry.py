"""What a GPU machine without a network may lack, packed small on a machine that has one.

    carry.py fetch REPO DEB...   writes REPO/.gpu-debs/libraries.tar.xz and REPO/.gpu-wheels/*.tar.xz, and says what they take
    carry.py unpack ARCHIVE TO   unpacks one of them into a folder of its own

Debian packages are unpacked and packed again without static libraries, programs and texts; wheels without all but what is run. With
the tree they stay under LIMIT: what does not fit is left out, the least needed first, and said.
"""
import lzma
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

LIMIT = 64 << 20
MARGIN = 1 << 20  # for what a transfer adds
KEPT_ARCHIVES = ("libgtest", "libgmock")  # GoogleTest has no shared libraries
PLATFORMS = [f"manylinux_2_{n}_x86_64" for n in (17, 24, 27, 28)] + ["manylinux2014_x86_64", "manylinux1_x86_64"]
# The most needed first: wheels and what of them is carried. nvidia/ is found by HEADRACE_NVCOMP and its like, the rest by PYTHONPATH.
PACKS = [
    ("nvcomp", {"nvidia-libnvcomp-cu13==6.0.0.12": ["nvidia/libnvcomp/lib64/libnvcomp.so.6"]}),
    ("nvjpeg", {"nvidia-nvjpeg==13.0.1.86": ["nvidia/cu13/lib/libnvjpeg.so.13"]}),
    ("kornia", {"kornia==0.9.0": ["kornia/"], "kornia_rs==0.2.0": ["kornia_rs/"]}),
    ("monai", {"monai==1.6.1": ["monai/"]}),
    ("tifffile", {"tifffile==2026.3.3": ["tifffile/"]}),
    ("cufile", {"nvidia-cufile==1.15.1.6": ["nvidia/cu13/lib/libcufile.so.0"]}),
    ("imagecodecs", {"imagecodecs==2026.10.10": ["imagecodecs/", "imagecodecs.libs/"]}),
]


def stop(text):
    raise SystemExit(f"gpu-check: {text}")


def pack(folder, archive):
    """The folder's files, by name, without owners and times: the same files give the same bytes."""
    def plain(info):
        info.uid = info.gid = info.mtime = 0
        info.uname = info.gname = ""
        return info

    with tarfile.open(archive, "w:xz", preset=9 | lzma.PRESET_EXTREME) as tar:
        for path in sorted(p for p in folder.rglob("*") if p.is_symlink() or not p.is_dir()):
            tar.add(path, path.relative_to(folder), filter=plain)
    return archive.stat().st_size


def fetch_debs(packages, to):
    if shutil.which("apt-get") is None:
        stop("--fetch needs apt-get: run it on Debian 12 and carry .gpu-debs/ and .gpu-wheels/ over")
    shutil.rmtree(to, ignore_errors=True)
    to.mkdir()
    with tempfile.TemporaryDirectory() as scratch:
        debs, root = Path(scratch) / "debs", Path(scratch) / "root"
        debs.mkdir()
        if subprocess.run(["apt-get", "-qq", "-o", "APT::Sandbox::User=", "download", *packages], cwd=debs).returncode != 0:
            stop(f"apt-get could not download {' '.join(packages)}; is the package list there (apt-get update)?")
        for deb in sorted(debs.glob("*.deb")):
            subprocess.run(["dpkg", "-x", deb, root], check=True)
        for unused in ("usr/share", "usr/bin", "etc"):
            shutil.rmtree(root / unused, ignore_errors=True)
        for archive in root.rglob("*.a"):
            if not archive.name.startswith(KEPT_ARCHIVES):
                archive.unlink()
        for link in [path for path in root.rglob("*") if path.is_symlink() and os.readlink(path).startswith("/")]:
            target = root / os.readlink(link).lstrip("/")
            link.unlink()  # an absolute one would name the system's file
            link.symlink_to(os.path.relpath(target, link.parent))
        return len(list(debs.glob("*.deb"))), pack(root, to / "libraries.tar.xz")


def fetch_wheels(name, wheels, to, most):
    """The size of the pack, or why there is none: what is much larger than `most` bytes is not packed to see."""
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", "--python-version", "3.12",
                   "--implementation", "cp", "-d", scratch]
        for platform in PLATFORMS:
            command += ["--platform", platform]
        run = subprocess.run([*command, *wheels], capture_output=True, text=True)
        if run.returncode != 0:
            return None, (run.stderr.strip().splitlines() or ["pip stopped"])[-1]
        size = sum(wheel.stat().st_size for wheel in Path(scratch).glob("*.whl"))
        if size > 3 * most:
            return None, f"left out: {size / 2**20:.1f} MiB as wheels would not fit"
        root = Path(scratch) / "root"
        for requirement, kept in wheels.items():
            stem = requirement.split("==")[0].replace("-", "_")
            with zipfile.ZipFile(next(Path(scratch).glob(f"{stem}-*.whl"))) as wheel:
                names = [n for n in wheel.namelist() if any(n == k or (k.endswith("/") and n.startswith(k)) for k in kept)]
                wheel.extractall(root, names)
        return pack(root, to / f"{name}.tar.xz"), ""


def tree_bytes(repo):
    """What git would carry: tracked files, and untracked ones that it does not ignore."""
    listed = subprocess.run(["git", "-C", repo, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            capture_output=True, check=True).stdout
    paths = [repo / os.fsdecode(n) for n in set(listed.split(b"\0")) if n]
    return sum(p.lstat().st_size for p in paths if p.is_symlink() or p.is_file())


def fetch(repo, packages):
    wheels = repo / ".gpu-wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    wheels.mkdir()
    total = tree_bytes(repo)
    count, size = fetch_debs(packages, repo / ".gpu-debs")
    total += size
    rows = [("the tree", tree_bytes(repo), ""), (f"libraries of {count} Debian packages", size, "")]
    for name, wanted in PACKS:
        size, problem = fetch_wheels(name, wanted, wheels, max(0, LIMIT - MARGIN - total))
        if size is not None and total + size > LIMIT - MARGIN:
            (wheels / f"{name}.tar.xz").unlink()
            problem = f"left out: {size / 2**20:.1f} MiB would not fit"
            size = None
        total += size or 0
        rows.append((", ".join(wanted), size, problem))
    for name, size, problem in rows:
        print(f"{name:<50} {f'{size / 2**20:6.1f} MiB' if size is not None else '     -'}  {problem}")
    print(f"{'together':<50} {total / 2**20:6.1f} MiB of {LIMIT / 2**20:.0f}")
    if total > LIMIT:
        stop("that is more than can be carried")


def main():
    if len(sys.argv) > 3 and sys.argv[1] == "fetch":
        fetch(Path(sys.argv[2]).resolve(), sys.argv[3:])
    elif len(sys.argv) == 4 and sys.argv[1] == "unpack":
        with tarfile.open(sys.argv[2]) as archive:
            archive.extractall(sys.argv[3], **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    else:
        stop(__doc__.split("\n\n")[1])


if __name__ == "__main__":
    main()
