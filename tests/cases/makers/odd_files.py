"""What lies among inputs and is no file: links to nothing, FIFOs, sockets."""
import csv
import os
import socket
import struct
from pathlib import Path

import nibabel
import numpy as np
import tifffile
from makers.reports import body, masks_of, tissue, write_png


def put_odd(path, kind):
    """A link to a share that is not mounted, a link to itself, a FIFO or a socket."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "loop":
        path.symlink_to(path.name)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "socket":
        here = os.open(path.parent, os.O_RDONLY)  # a socket's path may have 107 bytes
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(f"/proc/self/fd/{here}/{path.name}")
        os.close(here)
    else:
        path.symlink_to(f"/not/mounted/{path.name}")


def slides(folder, odd):
    """Images a and b with masks; odd: paths and what lies there instead."""
    for number, name in enumerate("ab"):
        write_png(folder / f"slides/{name}.png", tissue(seed=number))
        write_png(folder / f"masks/{name}.png", masks_of(128)["a"])
    put_all(folder, odd)


def volumes(folder, odd):
    """The same of volumes."""
    for part in ("ct", "masks"):
        (folder / part).mkdir()
    lesion = np.zeros((32, 32, 8), np.uint8)
    lesion[10:14, 10:15, 2:5] = 1
    for number, name in enumerate("ab"):
        nibabel.save(nibabel.Nifti1Image(body(seed=number), np.diag([1., 1., 2., 1.])), folder / f"ct/{name}.nii.gz")
        nibabel.save(nibabel.Nifti1Image(lesion, np.diag([1., 1., 2., 1.])), folder / f"masks/{name}.nii.gz")
    put_all(folder, odd)


def put_all(folder, odd):
    for path, kind in odd.items():
        (folder / path).unlink(missing_ok=True)
        put_odd(folder / path, kind)


def named(folder, rows):
    """Images a and b, and a table of them as stated: names are what somebody else chose."""
    slides(folder, {})
    with open(folder / "cases.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


SVS = Path(__file__).parents[3] / "samples/slides/derived/cmu-aperio-style-4level.svs"


def changed_svs(folder, changes):
    """A slide with some of its bytes changed: place, value."""
    raw = bytearray(SVS.read_bytes())
    for place, value in changes:
        raw[place] = value
    (folder / "in.svs").write_bytes(bytes(raw))


def chatty_svs(folder):
    """A slide whose first tile has a comment, EXIF and bytes behind its end: put at the file's end, where the directory then points."""
    with tifffile.TiffFile(SVS) as file:
        page = file.pages[0]
        at, size = page.dataoffsets[0], page.databytecounts[0]
        offsets, counts = page.tags["TileOffsets"], page.tags["TileByteCounts"]
        order = file.byteorder
    raw = bytearray(SVS.read_bytes())
    tile = bytes(raw[at: at + size])
    segments = b"".join(b"\xff" + bytes([marker]) + (len(text) + 2).to_bytes(2, "big") + text
                        for marker, text in ((0xFE, b"COMMENT Jane Doe"), (0xE1, b"Exif\0\0Jane Doe")))
    told = tile[:2] + segments + tile[2:] + b"BEHIND Jane Doe"
    for tag, value in ((offsets, len(raw)), (counts, len(told))):
        kind = {3: "H", 4: "I", 16: "Q"}[int(tag.dtype)]
        raw[tag.valueoffset: tag.valueoffset + struct.calcsize(kind)] = struct.pack(order + kind, value)
    (folder / "in.svs").write_bytes(bytes(raw) + told)
