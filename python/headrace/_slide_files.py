"""What a slide is opened from: a path, a URL, or a file of Python's that has no path."""

from __future__ import annotations

import io
import os
import re
import sys
import threading
import weakref
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable
from urllib.parse import unquote

from ._core import CorruptError, Error, NotFoundError, StorageError, UnsupportedError, UsageError
from ._plain import path_text
from ._slide_interface import Filename, _ArgumentError


@runtime_checkable
class ReadableFile(Protocol):
    """A file that was opened in binary mode and can seek."""

    def seek(self, offset: int, whence: int = 0, /) -> int: ...
    def tell(self) -> int: ...
    def read(self, size: int = -1, /) -> bytes: ...


@runtime_checkable
class OpenFileLike(Protocol):
    """What ``fsspec.open`` gives: a file of a file system, which is opened when it is needed."""

    fs: Any
    path: str


SlideSource: TypeAlias = "Filename | ReadableFile | OpenFileLike"
StorageOptions: TypeAlias = "Mapping[str, Any] | None"

_NATIVE = ("http", "https", "s3", "file")  # "file" of another machine is refused there


class PythonFile(NamedTuple):
    """Bytes that Python reads."""

    name: str
    """For error texts; without what may be a secret in a URL."""
    size: int
    read: Callable[[int, int], bytes]
    """read(offset, count): exactly so many bytes. Safe from any thread. Errors: StorageError, CorruptError (it is shorter)."""

    def open(self) -> io.BufferedReader:
        """A file of its own on these bytes."""
        return io.BufferedReader(_Positioned(self))


class _Positioned(io.RawIOBase):
    def __init__(self, source: PythonFile) -> None:
        self._source, self._at = source, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = offset + {0: 0, 1: self._at, 2: self._source.size}[whence]
        return self._at

    def readinto(self, out: Any) -> int:
        count = max(0, min(len(out), self._source.size - self._at))
        if count:
            out[:count] = self._source.read(self._at, count)
        self._at += count
        return count


def source_of(given: SlideSource, storage_options: StorageOptions = None) -> str | PythonFile:
    """The path or URL that the library opens itself, or a file that Python reads.

    Files of this machine are paths, also where a file object or a file of fsspec is given. URLs of http, https and
    s3 are opened by the library, unless there are storage options or a query (a signature) or a user in them; these,
    and other URLs, are opened by fsspec. Errors: UsageError (none of these), NotFoundError, StorageError, UnsupportedError (no fsspec).
    """
    if isinstance(given, ReadableFile):
        return _of_file(given)
    if isinstance(given, OpenFileLike):
        if getattr(given, "compression", None):
            opened: Any = given
            return _of_file(_asked(_shown(given.path), opened.open))
        return _of_system(given.fs, given.path)
    try:
        path = path_text(given)
    except TypeError:
        raise _ArgumentError(f"a path, a URL or a file is expected, {given!r} was given") from None
    if path[:8].lower() == "file:///" and "::" not in path:
        return path_text(unquote(path[7:]))
    return _by_fsspec(path, storage_options or {}) if _needs_fsspec(path, storage_options) else path


def is_remote(path: str) -> bool:
    """Whether what source_of gave is a URL."""
    return "://" in path


def store_and_image(path: str) -> tuple[str, str]:
    """The parts of "STORE::IMAGE", where a STORE at a URL ends in .zarr; no image in the name of a file."""
    store, separator, image = path.rpartition("::")
    is_store = store.rstrip("/").endswith(".zarr") if is_remote(store) else os.path.isdir(store)
    return (store, image) if separator and is_store else (path, "")


def _needs_fsspec(path: str, storage_options: StorageOptions) -> bool:
    if "://" not in path:
        return False
    is_chain = "://" in path.partition("::")[2]  # such as simplecache::https://…
    scheme = path.partition("://")[0].lower()
    is_signed = scheme in ("http", "https") and _shown(path) != path
    return is_chain or is_signed or bool(storage_options) or scheme not in _NATIVE


def _by_fsspec(url: str, storage_options: Mapping[str, Any]) -> str | PythonFile:
    name = _shown(url)
    has_secret = name != url
    try:
        core = import_module("fsspec.core")
    except ImportError:
        raise UnsupportedError(f"{name}: this is read by fsspec, which is not installed: pip install fsspec") from None

    def opened() -> tuple[Any, str]:
        """A chain may ask servers already. What is said of a URL with a secret repeats it."""
        try:
            system, path = core.url_to_fs(url, **storage_options)
        except ImportError as error:  # of what fsspec needs for this scheme
            said = "" if has_secret else f": {error}"
            raise UnsupportedError(f"{name}: fsspec can't read it{said}") from (None if has_secret else error)
        except (TypeError, ValueError) as error:
            said = "" if has_secret else f": {error}"
            raise UsageError(f"{name}: fsspec does not take this{said}") from (None if has_secret else error)
        return system, path

    system, path = _asked(name, opened, has_secret=has_secret)
    return _of_system(system, path)


def _of_system(system: Any, path: str) -> str | PythonFile:
    local = _loaded("fsspec.implementations.local", "LocalFileSystem")
    if local is not None and isinstance(system, local):
        return path_text(path)
    whole = str(system.unstrip_protocol(path))
    name = _shown(whole)

    def asked(ask: Callable[[], Any]) -> Any:
        return _asked(name, ask, has_secret=name != whole)

    if not _reads_ranges(system):
        return _of_file(asked(lambda: system.open(path, "rb")))
    size = asked(lambda: system.size(path))
    if size is None:
        raise UnsupportedError(f"{name}: its server does not state its size; download it")

    def read(offset: int, count: int) -> bytes:
        return _exactly(name, count, asked(lambda: system.cat_file(path, start=offset, end=offset + count)))

    return PythonFile(name, int(size), read)


def _reads_ranges(system: Any) -> bool:
    """Whether it gives a part of a file for one request, for several threads at once; the default opens the file anew each time."""
    kind: Any = type(system)
    by_tasks: Any = import_module("fsspec.asyn").AsyncFileSystem
    if isinstance(system, by_tasks):
        return kind._cat_file is not by_tasks._cat_file
    return kind.cat_file is not import_module("fsspec").AbstractFileSystem.cat_file


def _of_file(file: Any) -> str | PythonFile:
    path = _path_behind(file)
    if path is not None:
        return path
    stated = getattr(file, "name", None) or getattr(file, "path", None)
    name = _shown(stated) if isinstance(stated, str) else f"<{type(file).__name__}>"
    if isinstance(file, io.TextIOBase):
        raise UsageError(f"{name}: is opened as text; open it in binary mode, 'rb'")
    lock, has_secret = _lock_of(file), isinstance(stated, str) and name != stated

    def asked(ask: Callable[[], Any]) -> Any:
        with lock:
            return _asked(name, ask, has_secret=has_secret)

    size = asked(lambda: (file.seek(0, 2), file.tell())[1])

    def read(offset: int, count: int) -> bytes:
        return _exactly(name, count, asked(lambda: _read_at(file, offset, count)))

    return PythonFile(name, size, read)


def _read_at(file: Any, offset: int, count: int) -> bytes:
    file.seek(offset)
    parts = []
    while count > 0 and (part := file.read(count)):
        parts.append(part)
        count -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _exactly(name: str, count: int, data: bytes) -> bytes:
    if len(data) != count:
        raise CorruptError(f"{name}: gave {len(data)} bytes where {count} were asked for; it has changed, or can't be read in parts")
    return bytes(data)


def _asked(name: str, ask: Callable[[], Any], *, has_secret: bool = False) -> Any:
    """What a file or file system answers; its exceptions as ours, which keep them as their cause.

    has_secret: the exceptions may repeat a URL with a signature, and are left out.
    """
    try:
        return ask()
    except Error:
        raise
    except FileNotFoundError as error:
        raise NotFoundError(f"{name}: there is no such file") from (None if has_secret else error)
    except Exception as error:
        said = type(error).__name__ if has_secret else f"{type(error).__name__}: {error}"
        raise StorageError(f"{name}: can't be read: {said}") from (None if has_secret else error)


def _path_behind(file: Any) -> str | None:
    """The path of a file of this machine, where it still leads to it; other files change what they give (gzip) or have none."""
    opener = _loaded("fsspec.implementations.local", "LocalFileOpener")
    if opener is not None and isinstance(file, opener):
        file = file.f
    raw = file.raw if type(file) is io.BufferedReader else file
    if type(raw) is not io.FileIO or not isinstance(raw.name, (str, bytes)):
        return None
    try:
        if not os.path.samestat(os.fstat(raw.fileno()), os.stat(raw.name)):
            return None
        return path_text(os.path.abspath(raw.name))
    except (OSError, ValueError):  # removed, closed, or with a name that the library does not open
        return None


def _loaded(module: str, name: str) -> Any:
    """A class of a module, where that is imported already: else nothing can be of it."""
    return getattr(sys.modules.get(module), name, None)


def _shown(place: str) -> str:
    """A URL, or each of a chain ("zip://a.svs::https://…"), without user, password, query and fragment."""
    if "::" in place:
        return "::".join(map(_shown, place.split("::")))
    scheme, separator, rest = place.partition("://")
    if not separator:
        return place
    host, slash, path = re.split(r"[?#]", rest, maxsplit=1)[0].partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"


_locks: weakref.WeakKeyDictionary[Any, threading.RLock] = weakref.WeakKeyDictionary()
_locks_lock = threading.Lock()


def _lock_of(file: Any) -> Any:
    """One lock for each file, since two slides may be opened from one: a seek and its read belong together."""
    with _locks_lock:
        try:
            return _locks.setdefault(file, threading.RLock())
        except TypeError:  # it can't be referred to weakly
            return threading.RLock()
