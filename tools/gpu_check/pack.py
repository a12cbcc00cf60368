"""Packs what a machine with a GPU runs, into one folder that needs nothing of the checkout, no compiler and no network.

    pack.py --program FILE --out FOLDER [--alone] [--own]

--alone  the folder may take LIMIT by itself, and holds samples; without it, folder and checkout together stay within LIMIT, and the samples
         are those of the checkout
--own    only what is here: no library of NVIDIA's, no package of a peer (no network)
What does not fit is left out, the least needed first, and said.
"""
import argparse
import json
import lzma
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

from older_glibc import FLOOR
from parts import Absent, parts, torch_version

LIMIT = 64 << 20
MARGIN = 256 << 10  # for what a transfer adds
REPO = Path(__file__).resolve().parents[2]
SCRIPTS = {"run": "tools/gpu_check/run.py", "items.py": "tools/gpu_check/items.py", "report.py": "tools/gpu_check/report.py",
           **{f"peers/{name}.py": f"bench/device/{name}.py" for name in ("process_peer", "torch_peer", "loader_peer", "peer_models")}}


def compress(folder, archive):
    """The folder's files, by name, without owners and times: the same files give the same bytes."""
    def plain(info):
        info.uid = info.gid = info.mtime = 0
        info.uname = info.gname = ""
        return info

    filters = [{"id": lzma.FILTER_X86}, {"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME}]
    with lzma.open(archive, "w", filters=filters) as file, tarfile.open(fileobj=file, mode="w") as tar:
        for path in sorted(p for p in folder.rglob("*") if not p.is_dir()):
            tar.add(path, path.relative_to(folder), filter=plain)
    return archive.stat().st_size


def checkout_bytes():
    """Tracked files, and untracked ones that git does not ignore."""
    listed = subprocess.run(["git", "-C", REPO, "ls-files", "-z", "--cached", "--others", "--exclude-standard"], capture_output=True, check=True)
    paths = [REPO / os.fsdecode(name) for name in set(listed.stdout.split(b"\0")) if name]
    return sum(path.lstat().st_size for path in paths if path.is_symlink() or path.is_file())


def said(*command, pattern=".+"):
    try:
        found = re.search(pattern, subprocess.run([str(c) for c in command], capture_output=True, text=True).stdout)
    except OSError:
        return ""
    return found[0] if found else ""


def built_with(program):
    cache = (program.parent / "CMakeCache.txt").read_text() if (program.parent / "CMakeCache.txt").exists() else ""
    nvcc = re.search(r"^HR_NVCC:FILEPATH=(.+)$", cache, re.MULTILINE)
    return {"commit": said("git", "-C", REPO, "describe", "--always", "--dirty", "--abbrev=10", "--exclude=*") or "unknown",
            "nvcc": said(nvcc[1], "--version", pattern=r"(?<=release )[\d.]+") if nvcc else "",
            "torch": torch_version(program), "g++": said("g++", "-dumpfullversion"), "glibc": f"{FLOOR[0]}.{FLOOR[1]}"}


def fill(folder, program, alone, own):
    """Writes the bundle; rows (what, bytes or None, why not)."""
    scripts = 0
    for name, source in SCRIPTS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPO / source, folder / name)
        scripts += (folder / name).stat().st_size
    (folder / "run").chmod(0o755)
    beside = 0 if alone else checkout_bytes()
    total = beside + scripts
    rows = [("the checkout beside it", beside, ""), ("scripts", scripts, "")] if not alone else [("scripts", scripts, "")]
    left_out = {}
    for name, what, make in parts(REPO, program):
        archive = folder / f"{name}.tar.xz"
        try:
            if own and name not in ("program", "samples"):
                raise Absent("--own")
            if name == "samples" and not alone:
                raise Absent("the checkout has them")
            with tempfile.TemporaryDirectory() as scratch:
                part = Path(scratch) / "part"
                part.mkdir()
                make(part)
                size = compress(part, archive)
            if total + size > LIMIT - MARGIN:
                archive.unlink()
                raise Absent(f"{size / 2**20:.1f} MiB more would not fit")
            total += size
            rows.append((what, size, ""))
        except Absent as reason:
            if name == "program":
                raise SystemExit(f"gpu-check: the program does not fit: {reason}") from None
            left_out[name] = str(reason)
            rows.append((what, None, f"left out: {reason}"))
    (folder / "bundle.json").write_text(json.dumps({**built_with(program), "left_out": left_out}, indent=1) + "\n")
    rows.append(("together", total, f"of {LIMIT >> 20} MiB"))
    return rows


def main():
    parser = argparse.ArgumentParser(prog="tools/gpu-check pack")
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--own", action="store_true")
    arguments = parser.parse_args()
    out = arguments.out.resolve()
    if out.exists() and not (out / "bundle.json").exists() and any(out.iterdir()):
        raise SystemExit(f"gpu-check: {out} is there and is no bundle; name another folder with --out")
    new = out.with_name(out.name + ".new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    try:
        rows = fill(new, arguments.program.resolve(), arguments.alone, arguments.own)
        shutil.rmtree(out, ignore_errors=True)
        new.rename(out)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    for what, size, note in rows:
        print(f"{what:<34} {f'{size / 2**20:6.1f} MiB' if size is not None else '     -    '}  {note}".rstrip())


if __name__ == "__main__":
    main()
