"""Whether the file of an offline run of W&B holds what was logged: its package writes in a process of its own, and does not tell what found no room.

LevelDB's log: after 7 bytes blocks of 32 KiB of records, each CRC-32 of kind and bytes, their number, its kind: whole (1), first, middle, last (4).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

from .. import _command

HEAD, BLOCK = 7, 32768


def rows_in(file: Path) -> int:
    """Rows of the history, up to the first damage."""
    messages = _command.needed("wandb.proto.wandb_internal_pb2", "track")
    return sum(messages.Record.FromString(record).HasField("history") for record in _records(file.read_bytes()))


def _records(data: bytes) -> Iterator[bytes]:
    at, part = HEAD, b""
    while at + HEAD <= len(data):
        left = BLOCK - at % BLOCK
        if left < HEAD:
            at += left
            continue
        checksum, size, kind = struct.unpack_from("<IHB", data, at)
        body = data[at + HEAD:at + HEAD + size]
        if len(body) < size or checksum != zlib.crc32(body, zlib.crc32(bytes([kind]))):
            return
        at += HEAD + size
        part += body
        if kind in (1, 4):
            yield part
            part = b""
