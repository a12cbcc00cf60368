"""Servers that tests start on 127.0.0.1: where their programs are, and ports for them."""
import contextlib
import itertools
import os
import shutil
import socket
from pathlib import Path

# Where tools/deps/install.sh unpacks the packages that are not installed.
UNPACKED = Path(os.environ.get("HEADRACE_PACS", Path.home() / ".cache/headrace/pacs"))


def installed(name):
    """How to start a server: the system's, or the unpacked one with its own libraries. None where there is neither."""
    if shutil.which(name):
        return [shutil.which(name)]
    for folder in ("usr/sbin", "usr/bin"):
        if (UNPACKED / folder / name).exists():
            libraries = ":".join(str(UNPACKED / path / "x86_64-linux-gnu") for path in ("usr/lib", "lib"))
            return [str(UNPACKED / "lib64/ld-linux-x86-64.so.2"), "--library-path", libraries, str(UNPACKED / folder / name)]
    return None


# Below the ports that the system gives to connections, and other ones in each worker of pytest-xdist: nobody takes one that was found free.
_PORTS = itertools.count(20_000 + 500 * (int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % 20))


def free_port():
    """A port of 127.0.0.1 that nobody has, and that no later call gives again."""
    while True:
        port = next(_PORTS)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as servers do: a connection that ended a moment ago is nobody
            probe.bind(("127.0.0.1", port))
            return port
