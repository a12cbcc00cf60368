"""A server of a folder by HTTP ranges that misbehaves as it is told, and nginx."""
import contextlib
import os
import re
import socket
import struct
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

import pytest
from local_servers import free_port, installed


def kind_of(path, first):
    """What a request is for: the head of an object, the index at the end of a shard, or tiles."""
    return "index" if first is None else "header" if first == 0 and "/c/" not in path else "tile"


class Faults:
    """Which requests go wrong, and how. `every`: one of so many of the kind, the repetition of it not; 1: all, always."""

    def __init__(self, fault=None, kind="tile", every=1):
        self.fault, self.kind, self.every = fault, kind, every
        self.seen, self.spoiled, self.lock, self.requests = 0, set(), threading.Lock(), []

    version = None  # what the server calls each object's

    def date(self):
        """What it says of the time; None: nothing."""

    def fields(self):
        """Of the head of a refusal."""
        return {}

    def refusal(self, path, lines):
        """(status, code) of a request that is refused before anything is looked at; None: it is not."""

    def of(self, path, span, kind):
        with self.lock:
            self.requests.append((path, span))
            if self.fault is None or kind != self.kind:
                return None
            self.seen += 1
            if self.every == 1:
                return self.fault
            if self.seen % self.every or (path, span) in self.spoiled:
                return None
            self.spoiled.add((path, span))
            return self.fault


def reset(connection):
    """RST instead of FIN."""
    with contextlib.suppress(OSError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    root, faults = None, Faults()

    def log_message(self, *_):
        pass

    def answer(self, status, fields, body=b"", sent=None):
        self.send_response_only(status)
        if date := self.faults.date():
            self.send_header("Date", date)
        for name, value in {"Content-Length": len(body), **fields}.items():
            if value is not None:
                self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(body if sent is None else body[:sent])
        self.wfile.flush()

    def do_GET(self):
        try:
            self.get()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def get(self):
        span = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        assert span, "every request asks for a range"
        if refusal := self.faults.refusal(self.path, {name.lower(): value for name, value in self.headers.items()}):
            status, code = refusal
            return self.answer(status, self.faults.fields(), f"<?xml version=\"1.0\"?><Error><Code>{code}</Code></Error>".encode())
        file = self.root / unquote(self.path.partition("?")[0]).lstrip("/")
        if not file.is_file():
            return self.answer(404, {})
        size = file.stat().st_size
        first, last = span.group(1), span.group(2)
        kind = kind_of(self.path, int(first) if first else None)
        first, last = (int(first), min(int(last), size - 1)) if first else (max(0, size - int(last)), size - 1)
        fault = self.faults.of(self.path, (first, last), kind)
        etag = f'"{file.stat().st_mtime_ns:x}-{size:x}"'
        if first >= size:
            return self.answer(416, {"Content-Range": f"bytes */{size}"})
        if self.headers.get("If-Match", etag) != etag:
            return self.answer(412, {})
        with open(file, "rb") as opened:
            opened.seek(first)
            body = opened.read(last - first + 1)
        fields = {"Content-Range": f"bytes {first}-{last}/{size}", "ETag": etag}
        if self.faults.version:
            fields["x-amz-version-id"] = self.faults.version
        if fault is None:
            return self.answer(206, fields, body)
        return getattr(self, "do_" + fault.replace(" ", "_"))(fields, body, file)

    def do_reset_before_header(self, *_):
        reset(self.connection)
        self.close_connection = True

    def cut(self, fields, body, count):
        self.answer(206, fields, body, sent=count)
        reset(self.connection)
        self.close_connection = True

    def do_reset_in_body(self, fields, body, _):
        self.cut(fields, body, len(body) // 2)

    def do_reset_at_the_last_byte(self, fields, body, _):
        self.cut(fields, body, len(body) - 1)

    def do_200_for_206(self, fields, body, file):
        self.answer(200, {"ETag": fields["ETag"]}, file.read_bytes())

    def do_wrong_content_range(self, fields, body, _):
        first, last, size = map(int, re.findall(r"\d+", fields["Content-Range"]))
        self.answer(206, fields | {"Content-Range": f"bytes {first + 1}-{last + 1}/{size}"}, body)

    def do_no_content_range(self, fields, body, _):
        self.answer(206, fields | {"Content-Range": None}, body)

    def do_short(self, fields, body, _):
        self.answer(206, fields | {"Content-Length": len(body) - 1}, body[:-1])

    def do_long(self, fields, body, _):
        self.answer(206, fields | {"Content-Length": len(body) + 5}, body + b"12345")

    def do_wrong_etag(self, fields, body, _):
        self.answer(206, fields | {"ETag": '"another"'}, bytes(len(body)))

    def do_missing_etag(self, fields, body, _):
        self.answer(206, fields | {"ETag": None}, body)

    def do_500(self, *_):
        self.answer(500, {}, b"oops")

    def do_503(self, *_):
        self.answer(503, {}, b"<Error><Code>SlowDown</Code></Error>")

    def do_429(self, *_):
        self.answer(429, {"Retry-After": 1})

    def do_403(self, *_):
        self.answer(403, {}, b"<Error><Code>AccessDenied</Code></Error>")

    def do_redirect(self, *_):
        self.answer(302, {"Location": "http://elsewhere.invalid/x?X-Amz-Signature=secret"})

    def do_hang(self, *_):
        time.sleep(8)
        self.close_connection = True

    def do_drip(self, fields, body, _):
        self.answer(206, fields, body, sent=0)
        for byte in body[:40]:
            self.wfile.write(bytes([byte]))
            self.wfile.flush()
            time.sleep(0.2)
        self.close_connection = True

    def do_gzip(self, fields, body, _):
        self.answer(206, fields | {"Content-Encoding": "gzip"}, body)

    def do_rst_when_idle(self, fields, body, _):
        self.answer(206, fields, body)
        reset(self.connection)
        self.close_connection = True


@contextlib.contextmanager
def serving(folder, faults=None):
    """The URL of a server of this folder, and its faults."""
    handler = type("Handler", (Handler,), {"root": folder, "faults": faults or Faults()})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", handler.faults
    finally:
        server.shutdown()
        server.server_close()


_AUTHORITY = """[ca]
default_ca = own
[own]
database = index.txt
serial = serial
new_certs_dir = .
default_md = sha256
policy = any
x509_extensions = names
[any]
commonName = supplied
[names]
subjectAltName = DNS:localhost
"""


def make_certificate(work, ended):
    """cert.pem and key.pem, of localhost and signed by themselves; ended: in 2020."""
    def openssl(*words):
        subprocess.run(["openssl", *words], check=True, capture_output=True, timeout=60, cwd=work)

    openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=localhost", "-keyout", "key.pem", "-out", "request.pem")
    (work / "ca.cnf").write_text(_AUTHORITY)
    (work / "index.txt").write_text("")
    (work / "serial").write_text("01")
    end = "20200201000000Z" if ended else "20991231235959Z"
    openssl("ca", "-batch", "-selfsign", "-config", "ca.cnf", "-keyfile", "key.pem", "-in", "request.pem", "-out", "cert.pem", "-startdate", "20200101000000Z", "-enddate", end)


@contextlib.contextmanager
def nginx(folder, work, tls=False, ended=False):
    """The URL of nginx on this folder; with TLS by a certificate of our own, work/cert.pem (ended: that has expired)."""
    program = installed("nginx")
    if program is None:
        pytest.skip("nginx is not here: tools/deps/install.sh test unpacks it on amd64")
    port = free_port()
    secure = ""
    if tls:
        make_certificate(work, ended)
        secure = f"ssl_certificate {work}/cert.pem; ssl_certificate_key {work}/key.pem;"
    paths = "".join(f"{name}_temp_path {work}/{name}; " for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    user = "user root; " if os.geteuid() == 0 else ""
    (work / "nginx.conf").write_text(f"{user}daemon off; worker_processes 1; pid {work}/pid; error_log {work}/error.log;\nevents {{ worker_connections 512; }}\n"
                                     f"http {{ access_log {work}/access.log; {paths} keepalive_requests 100000;\n"
                                     f"server {{ listen 127.0.0.1:{port}{' ssl' if tls else ''}; {secure} root {folder}; }} }}\n")
    server = subprocess.Popen([*program, "-c", work / "nginx.conf", "-e", work / "error.log"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            time.sleep(0.1)
        yield f"{'https://localhost' if tls else 'http://127.0.0.1'}:{port}"
    finally:
        server.terminate()
        server.wait(timeout=30)
