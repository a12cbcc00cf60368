"""TensorBoard's event files: records with masked CRC-32C around protobuf messages of four kinds, so no package is needed to write them."""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any


def _crc_table() -> list[int]:
    table = []
    for value in range(256):
        for _ in range(8):
            value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


_TABLE = _crc_table()


def crc32c(data: bytes) -> int:
    """Castagnoli's, as in RFC 3720."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = (crc >> 8) ^ _TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def _masked(data: bytes) -> bytes:
    crc = crc32c(data)
    return struct.pack("<I", (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def scalar(tag: str, value: float) -> bytes:
    """A Summary.Value of one number, float32."""
    single = value if abs(value) < 3.4e38 else math.copysign(math.inf, value)
    return _bytes(1, tag.encode()) + _varint(2 << 3 | 5) + struct.pack("<f", single)


def text(tag: str, markdown: str) -> bytes:
    """A Summary.Value that the text plugin shows: a string tensor of shape [1]."""
    plugin = _bytes(9, _bytes(1, _bytes(1, b"text")))
    tensor = _number(1, 7) + _bytes(2, _bytes(2, _number(1, 1))) + _bytes(8, markdown.encode())
    return _bytes(1, tag.encode()) + _bytes(8, tensor) + plugin


def image(tag: str, png: bytes) -> bytes:
    """A Summary.Value of a PNG."""
    width, height = struct.unpack(">II", png[16:24])
    channels = {0: 1, 2: 3, 3: 3, 4: 2, 6: 4}[png[25]]
    return _bytes(1, tag.encode()) + _bytes(4, _number(1, height) + _number(2, width) + _number(3, channels) + _bytes(4, png))


class EventFile:
    """A new file, or one that is gone on with: a record that a kill cut off goes, and what is there is not written again, so a reader goes on, too. What
    is written is on disk, for readers, after flush()."""

    def __init__(self, path: Path, at: float) -> None:
        self._there: set[tuple[str, int]] = set()  # tag and step
        self._file = open(path, "r+b" if path.exists() else "xb")
        end = 0
        for end, event in _records(path.read_bytes()):
            self._there.update(_tags(event))
        self._file.truncate(end)
        self._file.seek(end)
        if end == 0:
            self._record(_varint(1 << 3 | 1) + struct.pack("<d", at) + _bytes(3, b"brain.Event:2"))
        self.flush()

    def write(self, at: float, step: int, values: Mapping[str, bytes]) -> None:
        """Values by their tag."""
        new = {tag: value for tag, value in values.items() if (tag, step) not in self._there}
        if new:
            summary = b"".join(_bytes(1, value) for value in new.values())
            self._record(_varint(1 << 3 | 1) + struct.pack("<d", at) + _number(2, step) + _bytes(5, summary))
            self._there.update((tag, step) for tag in new)

    def _record(self, event: bytes) -> None:
        length = struct.pack("<Q", len(event))
        self._file.write(length + _masked(length) + event + _masked(event))

    def flush(self) -> None:
        self._file.flush()

    def close(self) -> None:
        try:
            self._file.flush()
            os.fsync(self._file.fileno())
        finally:
            self._file.close()


def _records(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Whole records from the start on: where each ends, and its event."""
    at = 0
    while at + 16 <= len(data):
        (size,) = struct.unpack_from("<Q", data, at)
        event, end = data[at + 12:at + 12 + size], at + 16 + size
        if data[at + 8:at + 12] != _masked(data[at:at + 8]) or end > len(data) or data[end - 4:end] != _masked(event):
            return
        yield end, event
        at = end


def _tags(event: bytes) -> Iterator[tuple[str, int]]:
    """Tag and step of what a record of ours has."""
    fields = dict(_fields(event))
    for _, value in _fields(fields.get(5, b"")):
        yield dict(_fields(value))[1].decode(), fields.get(2, 0)


def _fields(message: bytes) -> Iterator[tuple[int, Any]]:
    """Number and value of each field of a message; a nested one as its bytes."""
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            value, shift, at = value | (byte & 0x7F) << shift, shift + 7, at + 1
            if byte < 0x80:
                return value

    while at < len(message):
        key = varint()
        kind = key & 7
        if kind == 0:
            yield key >> 3, varint()
            continue
        size = varint() if kind == 2 else {1: 8, 5: 4}[kind]
        yield key >> 3, message[at:at + size]
        at += size
