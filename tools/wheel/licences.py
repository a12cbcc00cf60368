"""Writes what a repaired wheel brings along, and under which licences, into it: licences.py WHEEL

For each library that auditwheel copied, and for those that are headers and so compiled in, the Debian package that it came from, its
version, and the package's copyright file, below <name>.dist-info/licenses/bundled/. A library of no package is an error, unless
stand_ins.py made it.
"""
import importlib.metadata
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from stand_ins import USERS

COMPILED_IN = ["libcli11-dev", "libspdlog-dev", "nlohmann-json3-dev"]
HEADER = ("Libraries that this wheel brings along, as Debian builds them. Beside this file lies the copyright file of each package.\n"
          "Their sources: https://snapshot.debian.org, by package and version.\n\n")


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


def soname_of(copied):
    """libtiff-3f2a1b0c.so.6.0.0 was libtiff.so.6.0.0."""
    return re.sub(r"-[0-9a-f]{8}(?=\.so)", "", copied.name)


def package_of(name):
    """The installed package that has a shared library of this file name."""
    for folder in ("/usr/lib", "/lib"):
        owners = subprocess.run(["dpkg", "-S", f"{folder}/*/{name}"], capture_output=True, text=True, timeout=60).stdout
        packages = sorted({line.split(": ")[0].split(":")[0] for line in owners.splitlines() if line.endswith(f"/{name}")})
        if packages:
            return packages[0]
    raise SystemExit(f"{name}: no Debian package has it, so its licence is not known; leave it out of the wheel")


def write_package(package, folder):
    """Puts its copyright file into the folder; returns "name version, file"."""
    version = run("dpkg-query", "-W", "-f", "${Version}", package)
    (folder / f"{package}.txt").write_bytes(Path(f"/usr/share/doc/{package}/copyright").read_bytes())
    return f"{package} {version}, {package}.txt"


def write_nanobind(folder):
    """Of PyPI; the map that it has inside states its licence (MIT) in its own header."""
    nanobind = importlib.metadata.distribution("nanobind")
    root = Path(nanobind.locate_file("nanobind"))
    header = (root / "ext/robin_map/include/tsl/robin_map.h").read_text()
    licence = nanobind.read_text("licenses/LICENSE")
    (folder / "nanobind.txt").write_text(f"{licence}\n\nrobin_map, a part of nanobind:\n{header[:header.index('*/')]}*/\n")
    return f"compiled in: nanobind {nanobind.version}, nanobind.txt"


def write_bundled(unpacked):
    """The licences of the libraries of an unpacked wheel; returns the list as text."""
    folder = next(unpacked.glob("*.dist-info")) / "licenses/bundled"
    folder.mkdir(parents=True)
    lines = []
    for library in sorted(unpacked.glob("*.libs/*")):
        name = soname_of(library)
        if name in USERS:
            lines.append(f"{name}: a stand-in of Headrace's own, without code of that library")
            continue
        lines.append(f"{name}: {write_package(package_of(name), folder)}")
    lines += [f"compiled in: {write_package(package, folder)}" for package in COMPILED_IN]
    lines += [write_nanobind(folder), "compiled in: DLPack 1.3, Apache License 2.0, as ../LICENSE"]
    text = HEADER + "\n".join(lines) + "\n"
    (folder / "LIBRARIES.txt").write_text(text)
    return text


def main():
    wheel = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as scratch:
        run(sys.executable, "-m", "wheel", "unpack", "-d", scratch, str(wheel))
        unpacked = next(Path(scratch).iterdir())
        print(write_bundled(unpacked))
        wheel.unlink()
        run(sys.executable, "-m", "wheel", "pack", "-d", str(wheel.parent), str(unpacked))


if __name__ == "__main__":
    main()
