"""What lies in a bucket or folder, as a table to ingest."""
import csv
import io
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from driving import SAMPLES, headrace, json_of, message_of, sentence_of
from s3_server import NO_KEYS, radosgw

SLIDE = SAMPLES / "slides/CMU-1-Small-Region.svs"
ODD = ["2025/a b.svs", "2025/ü+%20.SVS", "2025/ward <1> & \"2\"/it's.svs", "2025/a,b;c.svs"]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with radosgw(tmp_path_factory.mktemp("radosgw")) as server:
        client = server.client()
        client.create_bucket(Bucket="slides")
        put = lambda key, body=b"x": client.put_object(Bucket="slides", Key=key, Body=body)
        with ThreadPoolExecutor(16) as pool:
            list(pool.map(put, [f"many/{i:05}.svs" for i in range(2_050)]))
        for key in ODD + ["2025/notes.txt", "20251/other.svs"]:
            put(key, SLIDE.read_bytes() if key in ODD[:2] else b"xyz")
        put("2025/folder/", b"")
        put("2025/line\nbreak.svs")
        yield server


def ls(server, *words, code=0):
    return headrace("--s3-endpoint", server.endpoint, "ls", *words, code=code, environment=NO_KEYS | server.environment())


def files_of(done):
    return [row["file"] for row in csv.DictReader(io.StringIO(done.stdout))]


def test_a_bucket(server):
    done = ls(server, "s3://slides/2025", "--ending", ".svs")
    assert sorted(files_of(done)) == sorted(f"s3://slides/{key}" for key in ODD)
    assert r'"s3://slides/2025/line\nbreak.svs": left out' in done.stderr
    rows = list(csv.DictReader(io.StringIO(ls(server, "s3://slides/2025/", "--sizes").stdout)))
    assert {row["file"].rpartition("/")[2]: int(row["size_bytes"]) for row in rows}["notes.txt"] == 3 and len(rows) == len(ODD) + 1
    assert files_of(ls(server, "s3://slides/many")) == [f"s3://slides/many/{i:05}.svs" for i in range(2_050)]
    assert len(files_of(ls(server, "s3://slides"))) == 2_050 + len(ODD) + 2
    assert files_of(ls(server, "s3://slides/none")) == []


def test_its_table_is_ingested(server, tmp_path):
    listed = [line for line in ls(server, "s3://slides/2025", "--ending", ".svs").stdout.splitlines() if line == "file" or any(line.endswith(key) for key in ODD[:2])]
    (tmp_path / "cases.csv").write_text("\n".join([listed[0] + ",image", *(f"{line},image{i}" for i, line in enumerate(listed[1:]))]) + "\n")
    headrace("--s3-endpoint", server.endpoint, "ingest", "slides", "--table", tmp_path / "cases.csv", "--pixels", "reference", "--out", tmp_path / "s.zarr",
             environment=NO_KEYS | server.environment())
    assert [image["id"] for image in json_of("info", tmp_path / "s.zarr")["images"]] == ["image0", "image1"]


def test_what_is_refused(server):
    for words, code, said in [(["s3://nowhere"], 1, "no such bucket"), (["s3://slides/a//b"], 2, "keys with empty parts"), (["https://slides.site/x"], 1, "only folders and s3:// can")]:
        assert said in sentence_of(ls(server, *words, code=code))
    wrong = server.environment() | {"AWS_SECRET_ACCESS_KEY": "another"}
    assert "(403, " in message_of(headrace("--s3-endpoint", server.endpoint, "ls", "s3://slides", code=1, environment=NO_KEYS | wrong))
    assert "to which no connection is opened unless you name it" in message_of(headrace("ls", "s3://slides", code=2, environment=NO_KEYS | server.environment()))


class OtherServer(BaseHTTPRequestHandler):
    """One that lists its keys as they are, whatever it was asked for."""

    def log_message(self, *_):
        pass

    def do_GET(self):
        keys = "".join(f"<Contents><Key>{key}</Key><Size>3</Size></Contents>" for key in ("a+b.svs", "50%.svs", "c &amp; d.svs"))
        body = f"<?xml version='1.0'?><ListBucketResult><IsTruncated>false</IsTruncated>{keys}</ListBucketResult>".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def test_keys_that_a_server_does_not_encode():
    server = ThreadingHTTPServer(("127.0.0.1", 0), OtherServer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        done = headrace("--s3-endpoint", f"http://127.0.0.1:{server.server_port}", "--s3-anonymous", "ls", "s3://slides", environment=NO_KEYS)
    finally:
        server.shutdown()
    assert files_of(done) == ["s3://slides/a+b.svs", "s3://slides/50%.svs", "s3://slides/c & d.svs"]


def test_a_folder(tmp_path):
    (tmp_path / "a/b").mkdir(parents=True)
    for name in ("a/one.svs", "a/b/two.SVS", "a/=three.svs", "a/four.txt"):
        shutil.copy(SLIDE, tmp_path / name)
    listed = json_of("ls", tmp_path / "a", "--ending", ".svs")["files"]
    assert sorted(one["file"].removeprefix(f"{tmp_path}/") for one in listed) == ["a/=three.svs", "a/b/two.SVS", "a/one.svs"]
    assert all(one["size_bytes"] == SLIDE.stat().st_size for one in listed)
    assert "there is no such folder" in message_of(headrace("ls", tmp_path / "none", code=1))
