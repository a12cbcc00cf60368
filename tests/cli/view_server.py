"""A running `headrace view`, asked as a browser or a program asks it."""
import contextlib
import http.client
import io
import json
import signal
import socket
import subprocess
import urllib.parse

import imageio.v3 as iio
import numpy as np
from driving import PROGRAM

LIMIT = 120  # seconds for any one thing that is waited for


class Answer:
    def __init__(self, response):
        self.status, self.headers, self.body = response.status, dict(response.getheaders()), response.read()

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def picture(self):
        return iio.imread(io.BytesIO(self.body))


class Server:
    """One running `headrace view`."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen([PROGRAM, "view", *map(str, arguments), "--no-open"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True)
        self.url = self.process.stdout.readline().strip()
        assert self.url.startswith("http://127.0.0.1:"), self.process.communicate(timeout=LIMIT)[1]
        parts = urllib.parse.urlsplit(self.url)
        self.base, self.port, self.token = f"http://{parts.netloc}", parts.port, parts.query.removeprefix("token=")

    def ask(self, path, method="GET", body=None, token=True, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if token:
            sent["Authorization"] = "Bearer " + self.token
        with contextlib.closing(connection):
            connection.request(method, path, body=body, headers=sent)
            return Answer(connection.getresponse())

    def get(self, path):
        """What is there, which must be there."""
        answer = self.ask(path)
        assert answer.status == 200, (path, answer.status, answer.body[:500])
        return answer.json

    def put(self, path, value, method="PUT"):
        return self.ask(path, method, json.dumps(value), X_Headrace="1")

    def raw(self, text):
        """The first line that comes back for these bytes; empty where the server hangs up."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=LIMIT) as link:
            with contextlib.suppress(ConnectionError):
                link.sendall(text.encode())
            try:
                return link.makefile("rb").readline().decode().strip()
            except ConnectionError:
                return ""

    def items(self):
        return {item["id"]: item for item in self.get("/api/items")["items"]}

    def verdict(self, item, at=0):
        return self.get(f"/api/items/{item}/findings")["findings"][at]["verdict"]

    def stop(self, how=signal.SIGINT):
        self.process.send_signal(how)
        output = self.process.communicate(timeout=LIMIT)
        return self.process.returncode, output


@contextlib.contextmanager
def serving(*arguments):
    server = Server(*arguments)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.process.kill()
            server.process.communicate(timeout=LIMIT)


def tiles_of(server, item, layer, level, size):
    """A level of a slide put together from its tiles."""
    height, width = size
    kind = "jpg" if layer == "image" else "png"
    name = urllib.parse.quote(layer, safe="")
    rows = []
    for y in range(-(-height // 256)):
        rows.append(np.concatenate([server.ask(f"/slides/{item}/{name}/{level}/{x}_{y}.{kind}").picture for x in range(-(-width // 256))], 1))
    return np.concatenate(rows, 0)


def volume_of(server, item, layer):
    """Of a volume, what is said of it, and all voxels of the first scale, (z, y, x), put together from the chunks."""
    name = urllib.parse.quote(layer, safe="")
    info = server.get(f"/volumes/{item}/{name}/info")
    scale = info["scales"][0]
    (x, y, z), dtype = scale["size"], info["data_type"]
    out = np.zeros((z, y, x), dtype)
    for z0 in range(0, z, 64):
        for y0 in range(0, y, 64):
            for x0 in range(0, x, 64):
                z1, y1, x1 = min(z0 + 64, z), min(y0 + 64, y), min(x0 + 64, x)
                chunk = server.ask(f"/volumes/{item}/{name}/{scale['key']}/{x0}-{x1}_{y0}-{y1}_{z0}-{z1}").body
                out[z0:z1, y0:y1, x0:x1] = np.frombuffer(chunk, dtype).reshape(z1 - z0, y1 - y0, x1 - x0)
    return info, out
