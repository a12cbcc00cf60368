"""Servers that are none, or not for long."""
import http.server
import json
import threading
import time


class Liar(http.server.BaseHTTPRequestHandler):
    """A server that is none: what it does stands in `how`."""

    protocol_version = "HTTP/1.1"
    how, elsewhere, seen = "fails", "", []

    def do_GET(self):
        type(self).seen.append((self.path, dict(self.headers)))
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.how == "drips":
            for byte in b"HTTP/1.1 200 OK\r\nX-Later: 1\r\n" * 100:
                self.wfile.write(bytes([byte]))
                time.sleep(0.2)
            return
        status, body = {"fails": (500, b"{}"), "babbles": (200, b"\xff<html>hello"), "lies": (200, b'{"experiment": {"experiment_id": 7}}'),
                        "has-null": (200, b'{"experiment": {"experiment_id": "7"}, "runs": null}'),
                        "has-five": (200, b'{"experiment": {"experiment_id": "7"}, "runs": 5}'), "digs": (200, b"[" * 300_000),
                        "redirects": (302, b""), "refuses": (403, b"{}"), "floods": (200, b"x" * (9 << 20)),
                        "echoes": (400, json.dumps({"error_code": "INVALID", "message": f"\x1b[2J{self.headers['Authorization']}"}).encode()),
                        }[self.how]
        self.send_response(status)
        if status == 302:
            self.send_header("Location", self.elsewhere + self.path)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_PUT = do_GET

    def log_message(self, *_):
        pass


class Deaf(http.server.BaseHTTPRequestHandler):
    """A server of W&B as far as it takes to begin a run; what comes afterwards it never answers."""

    protocol_version = "HTTP/1.1"
    seen, over, knows = [], threading.Event(), True

    def do_POST(self):
        asked = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        begins = "UpsertBucket" in asked and not any("UpsertBucket" in one for one in self.seen)
        self.seen.append(self.path + asked)
        if begins:
            project = {"id": "p", "name": "headrace", "entity": {"id": "e", "name": "e"}}
            bucket = {"id": "r", "name": json.loads(asked)["variables"]["name"], "displayName": "run", "description": "", "config": "{}",
                      "sweepName": None, "historyLineCount": 0, "project": project}
            answer = {"data": {"upsertBucket": {"bucket": bucket, "inserted": True}}}
        elif "RunResumeStatus" in asked:
            answer = {"data": {"model": None}}
        elif self.knows and "viewer" in asked.lower():
            answer = {"data": {"viewer": {"id": "v", "entity": "e", "username": "e", "flags": "{}", "teams": {"edges": []}}}}
        else:
            self.over.wait(120)
            return
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass
