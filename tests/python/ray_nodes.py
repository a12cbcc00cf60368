"""Nodes of a Ray cluster on this machine, each with an address of its own, started as a user starts them and ended by their processes."""
import contextlib
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from batches import child_environment, in_session, python
from local_servers import free_port

LIMIT = 120  # seconds until a node is there, on a busy machine
# A driver connects by the address in RAY_ADDRESS, from the head's machine. What it says is all of its standard output: Ray prints there, too.
CONNECT = """
import json, os, sys, time, ray
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
def say(value):
    print(json.dumps(value), file=answers, flush=True)
ray.init(_node_ip_address=os.environ["RAY_TEST_HEAD"], log_to_driver=False, logging_level="error")
import headrace
from batches import fact
"""


@contextlib.contextmanager
def own_ray():
    """(folder, environment) of a Ray for one test alone: without its token nobody else on this machine may use it, and it speaks to no other machine.

    A head tells Ray's makers that it tells them nothing, unless it is given another address for that; and it asks for the cloud that it is in,
    unless its home has a config of a cluster.
    """
    folder = Path(tempfile.mkdtemp(prefix="hr-ray-", dir="/tmp"))  # Ray's sockets lie in it, whose paths must be short
    (folder / "token").write_text(secrets.token_hex(32))
    (folder / "ray_bootstrap_config.yaml").write_text("{}")
    try:
        yield folder, {"HOME": str(folder), "RAY_USAGE_STATS_ENABLED": "0", "RAY_USAGE_STATS_REPORT_URL": "http://127.0.0.1:9", "RAY_AUTH_MODE": "token",
                       "RAY_AUTH_TOKEN_PATH": str(folder / "token"), "RAY_TMPDIR": str(folder / "t"), "RAY_DISABLE_MEMORY_MONITOR": "1",
                       "OMP_NUM_THREADS": "1"}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Cluster:
    """A head that does no work and further nodes, on 127.0.1.1 and following."""

    def __init__(self, folder, environment):
        self.folder, self.nodes, self.last, self.port = folder, {}, 0, free_port()
        self.environment = environment | {"RAY_ADDRESS": f"127.0.1.1:{self.port}", "RAY_TEST_HEAD": "127.0.1.1"}

    def add(self, cpus, *options, **environment):
        """Starts a node; its address. The first one is the head."""
        self.last += 1
        address = f"127.0.1.{self.last}"
        place = ["--head", "--port", self.port, "--temp-dir", self.folder / "t", "--include-dashboard=false"] if self.last == 1 else ["--address", f"127.0.1.1:{self.port}"]
        command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--block", *place, "--node-ip-address", address, "--num-cpus", cpus,
                   "--object-store-memory", 200_000_000, "--disable-usage-stats", *options]
        with open(self.folder / f"{address}.log", "wb") as log:
            self.nodes[address] = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *map(str, command)], start_new_session=True, cwd=self.folder,
                                                   stdout=log, stderr=subprocess.STDOUT, env=child_environment(self.environment | environment))
        end = time.monotonic() + LIMIT
        while "Ray runtime started" not in (said := (self.folder / f"{address}.log").read_text()):
            assert self.nodes[address].poll() is None and time.monotonic() < end, said[-3000:]
            time.sleep(0.2)
        return address

    def remove(self, address):
        """All of a node's processes at once, as a machine goes that loses its power."""
        node = self.nodes.pop(address)
        for pid in in_session(node.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        node.wait(timeout=30)

    def run(self, program, *arguments, environment=None, **options):
        """All that a driver says."""
        said = python(CONNECT + program, *arguments, environment=self.environment | (environment or {}), **options)
        return [json.loads(line) for line in said.splitlines()]

    def close(self):
        for address in reversed(list(self.nodes)):
            self.remove(address)

    @contextlib.contextmanager
    def driver(self, program, *arguments):
        """A driver that waits for its input."""
        driver = Driver(subprocess.Popen([sys.executable, "-c", CONNECT + program, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         text=True, env=child_environment(self.environment)))
        try:
            yield driver
        finally:
            driver.process.kill()
            driver.process.wait(timeout=30)


class Driver:
    def __init__(self, process):
        self.process = process

    def answer(self, seconds=LIMIT):
        """The next thing that it says."""
        late = threading.Timer(seconds, self.process.kill)
        late.start()
        try:
            return json.loads(self.process.stdout.readline())
        finally:
            late.cancel()

    def go_on(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
