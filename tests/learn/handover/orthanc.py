"""A PACS for tests: Orthanc with its DICOMweb and whole-slide plugins, on free ports of 127.0.0.1."""
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

import pytest
from local_servers import UNPACKED, free_port, installed

PLUGINS = ["libOrthancDicomWeb.so", "libOrthancWSI.so"]


def environment():
    """Debian's Orthanc reads DCMTK's dictionary from a fixed place; unpacked it has another."""
    if shutil.which("Orthanc"):
        return dict(os.environ)
    return os.environ | {"DCMDICTPATH": ":".join(map(str, sorted(UNPACKED.glob("usr/share/libdcmtk*/*.dic"))))}


class Orthanc:
    """A server in a folder and session of its own. `settings` are those of orthanc.json; what is sent to it lies in `folder`."""

    def __init__(self, folder, plugins=(), **settings):
        self.folder, self.http, self.dicom, self.report = folder, free_port(), free_port(), free_port()
        self.settings = {
            "Name": "test", "HttpPort": self.http, "HttpBindAddresses": ["127.0.0.1"], "RemoteAccessAllowed": False,
            "AuthenticationEnabled": False, "DicomPort": self.dicom, "DicomAet": "ORTHANC", "DicomCheckCalledAet": True,
            "DicomAlwaysAllowStore": True, "StorageDirectory": str(folder / "db"), "IndexDirectory": str(folder / "db"),
            "Plugins": [self.plugin(name) for name in plugins], "DicomModalities": {"us": ["HEADRACE", "127.0.0.1", self.report]}, **settings}
        self.start()

    @staticmethod
    def plugin(name):
        root = Path("/") if shutil.which("Orthanc") else UNPACKED
        return str(root / "usr/share/orthanc/plugins" / name)

    @property
    def to(self):
        return f"ORTHANC@127.0.0.1:{self.dicom}"

    @property
    def web(self):
        return f"http://127.0.0.1:{self.http}/dicom-web"

    def start(self):
        (self.folder / "orthanc.json").write_text(json.dumps(self.settings))
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen([*installed("Orthanc"), self.folder / "orthanc.json"], start_new_session=True, env=environment(),
                                            stdout=log, stderr=subprocess.STDOUT)
        end = time.monotonic() + 60
        while not self.answers():
            assert self.process.poll() is None and time.monotonic() < end, (self.folder / "log").read_text()[-2000:]
            time.sleep(0.1)

    def answers(self):
        """Whether it listens at both ports; so also with TLS or a password. The one for DICOM opens last."""
        with contextlib.suppress(OSError):
            for port in (self.http, self.dicom):
                socket.create_connection(("127.0.0.1", port), 5).close()
            return True
        return False

    def get(self, path, binary=False):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.http}/{path}", timeout=30) as answer:
            content = answer.read()
        return content if binary else json.loads(content)

    def count(self):
        return self.get("statistics")["CountInstances"]

    def delete_all(self):
        for study in self.get("studies"):
            address = urllib.request.Request(f"http://127.0.0.1:{self.http}/studies/{study}", method="DELETE")
            urllib.request.urlopen(address, timeout=30).close()

    def kill(self):
        listed = subprocess.run(["ps", "-o", "pid=", "-s", str(self.process.pid)], capture_output=True, text=True, timeout=60).stdout
        for pid in listed.split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        self.process.wait(10)

    def stop(self):
        self.process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(10)
        self.kill()


def servers(tmp_path_factory):
    """For a fixture: starts servers, each in a folder of its own, and stops all of them in the end."""
    if installed("Orthanc") is None:
        pytest.skip("not run: Orthanc is neither installed (Debian package orthanc) nor unpacked (tools/deps/install.sh test)")
    started = []

    def start(plugins=(), **settings):
        started.append(Orthanc(tmp_path_factory.mktemp("orthanc"), plugins, **settings))
        return started[-1]

    yield start
    for server in started:
        server.stop()
