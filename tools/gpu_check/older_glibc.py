"""What carried programs and libraries ask of the C library of the machine that runs them.

    older_glibc.py FILE...    says what asks for a newer glibc than FLOOR, and exits with 1

Symbols have versions: a file lists, for each library, those that it needs (.gnu.version_r), and does not start where one is missing, unless
it is marked as weak.
"""
import re
import struct
import sys
from pathlib import Path

FLOOR = (2, 35)  # Ubuntu 22.04
VERSION_NEEDS = 0x6FFFFFFE  # a section's type
WEAK = 2
# All that libraries of Debian 12 need of a newer one; the program has these functions itself (random_numbers.cpp).
PROVIDED = {("libstdc++.so.6", "GLIBC_2.36"): "arc4random", ("libexpat.so.1", "GLIBC_2.36"): "arc4random_buf"}


def version_needs(data):
    """(library, version, flags, offset of the flags in the file) of an ELF file of 64 bits, little-endian."""
    if data[:6] != b"\x7fELF\x02\x01":
        raise ValueError("no ELF file of 64 bits, little-endian")
    sections_at, = struct.unpack_from("<Q", data, 0x28)
    size, count = struct.unpack_from("<HH", data, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, sections_at + i * size) for i in range(count)]
    out = []
    for _, kind, _, _, at, _, link, entries, _, _ in sections:
        if kind != VERSION_NEEDS:
            continue
        strings = sections[link][4]
        text = lambda offset, base=strings: data[base + offset:data.index(b"\0", base + offset)].decode()  # noqa: E731
        for _ in range(entries):
            _, versions, file, first, following = struct.unpack_from("<HHIII", data, at)
            need = at + first
            for _ in range(versions):
                _, flags, _, name, next_need = struct.unpack_from("<IHHII", data, need)
                out.append((text(file), text(name), flags, need + 4))
                need += next_need
            at += following
    return out


def glibc(version):
    """(2, 35) of GLIBC_2.35; None for anything else."""
    found = re.fullmatch(r"GLIBC_(\d+)\.(\d+)(?:\.\d+)?", version)
    return (int(found[1]), int(found[2])) if found else None


def too_new(path):
    """What keeps a file from starting on a machine with glibc FLOOR, in sentences."""
    return [f"{Path(path).name} needs {version} of {library}" for library, version, flags, _ in version_needs(Path(path).read_bytes())
            if (glibc(version) or (0,)) > FLOOR and not flags & WEAK]


def loosen(path):
    """Marks what the program provides as weak, in a copy of a library: the loader then takes the program's function."""
    data = bytearray(path.read_bytes())
    for _, version, flags, at in version_needs(bytes(data)):
        if (path.name, version) in PROVIDED:
            struct.pack_into("<H", data, at, flags | WEAK)
    path.write_bytes(data)


if __name__ == "__main__":
    problems = [problem for name in sys.argv[1:] for problem in too_new(name)]
    print("\n".join(problems))
    sys.exit(1 if problems else 0)
