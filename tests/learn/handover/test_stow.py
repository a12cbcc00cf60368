"""headrace send to a web address (STOW-RS): Orthanc's DICOMweb with and without TLS and a password; and by a server written here, every answer that
Orthanc never gives."""
import base64
import contextlib
import http.client
import io
import json
import re
import shutil
import ssl
import subprocess
import threading
import time
import warnings
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pydicom
import pytest
from ct_inputs import STS, new_series, save_series, sts_slices
from driving import PROGRAM, headrace, json_of, sentence_of
from local_servers import free_port
from orthanc import PLUGINS

OBJECT = "1.2.3.4.5.7.1"


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    """Three slices with the UIDs 1.2.3.4.5.7.1 to .3."""
    return save_series(new_series(sts_slices(3)), tmp_path_factory.mktemp("few"))


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """Key and certificate of 'localhost' alone, which vouches for itself."""
    if shutil.which("openssl") is None:
        pytest.skip("not run: openssl is not installed")
    folder = tmp_path_factory.mktemp("tls")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                    "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", folder / "key.pem", "-out", folder / "cert.pem"],
                   check=True, capture_output=True, timeout=60)
    return folder


def fails(*arguments, code=1, **options):
    return sentence_of(headrace("send", *arguments, code=code, **options))


def test_series_arrives_as_it_is_and_once(orthanc):
    server, slices = orthanc(PLUGINS), {data.SOPInstanceUID: data for data in map(pydicom.dcmread, STS.iterdir())}
    facts = json_of("send", STS, "--to", server.web + "/")
    assert facts["stored"] == len(slices) == server.count() and facts["from"] is None and facts["to"] == server.web + "/"
    assert {file["outcome"] for file in facts["files"]} == {"stored"} and {file["status"] for file in facts["files"]} == {0}
    for number in server.get("instances"):
        there = pydicom.dcmread(io.BytesIO(server.get(f"instances/{number}/file", binary=True)))
        here = slices.pop(there.SOPInstanceUID)
        assert there.file_meta.TransferSyntaxUID == here.file_meta.TransferSyntaxUID and there.PixelData == here.PixelData and there == here
    assert not slices
    done = headrace("send", STS, "--to", server.web)
    assert "51 of 51 files were stored" in done.stdout and server.count() == 51


def test_each_transfer_syntax_is_kept(orthanc, tmp_path):
    server, sent = orthanc(PLUGINS), {}
    for i, path in enumerate([*sorted((STS.parents[1] / "transfer-syntaxes").iterdir()), next(STS.iterdir())]):
        data = pydicom.dcmread(path)
        data.SOPInstanceUID = data.file_meta.MediaStorageSOPInstanceUID = f"1.2.3.4.7.{i + 1}"
        data.save_as(tmp_path / f"{i}.dcm")
        sent[data.SOPInstanceUID] = data
    assert len({data.file_meta.TransferSyntaxUID for data in sent.values()}) == len(sent) == 3
    headrace("send", tmp_path, "--to", server.web)
    for number in server.get("instances"):
        there = pydicom.dcmread(io.BytesIO(server.get(f"instances/{number}/file", binary=True)))
        here = sent.pop(there.SOPInstanceUID)
        assert there.file_meta.TransferSyntaxUID == here.file_meta.TransferSyntaxUID and there.PixelData == here.PixelData
    assert not sent


def test_what_is_refused_before_a_connection(few, tmp_path):
    web = f"http://127.0.0.1:{free_port()}/dicom-web"
    said = fails(few, "--to", "https://reader:s3cret@pacs.example/dicom-web", code=2)
    assert "HEADRACE_DICOMWEB_USER" in said and "s3cret" not in said
    assert "'?' or '#'" in fails(few, "--to", web + "?a=b", code=2)
    assert "no web address" in fails(few, "--to", "http://", code=2)
    assert "--commit" in fails(few, "--to", web, "--commit", code=2)
    assert "--ca-file" in fails(few, "--to", "PACS@127.0.0.1:104", "--ca-file", few / "000.dcm", code=2)
    for secret in ({"HEADRACE_DICOMWEB_USER": "no-colon"}, {"HEADRACE_DICOMWEB_TOKEN": "a\nX-Other: b"},
                   {"HEADRACE_DICOMWEB_USER": "a:b", "HEADRACE_DICOMWEB_TOKEN": "c"}):
        said = fails(few, "--to", web, code=2, environment=secret)
        assert "HEADRACE_DICOMWEB_" in said and "no-colon" not in said and "X-Other" not in said
    said = fails(few, "--to", "http://pacs.example/dicom-web", code=2, environment={"HEADRACE_DICOMWEB_TOKEN": "t0ken"})
    assert "Use https" in said and "t0ken" not in said
    said = fails(few, "--to", web)
    assert "no connection" in said and "Nothing was sent" in said
    assert "no DICOM object" in fails(tmp_path, "--to", web)


def test_damaged_files_of_a_folder_are_reported(orthanc, few, tmp_path):
    server, good = orthanc(PLUGINS), (few / "000.dcm").read_bytes()
    (tmp_path / "a.dcm").write_bytes(good)
    (tmp_path / "b.dcm").write_bytes(good[:-1000])
    data = pydicom.dcmread(few / "001.dcm")
    pydicom.dcmwrite(tmp_path / "c.dcm", pydicom.Dataset(data), implicit_vr=True, little_endian=True)  # no header
    done = headrace("send", tmp_path, "--to", server.web, code=1)
    assert "1 of 3 files were stored" in sentence_of(done) and done.stdout.count("unreadable ") == 2 and "dcmconv" in done.stdout
    assert server.count() == 1


def test_pacs_killed_while_sending(orthanc, tmp_path):
    server, [slice_] = orthanc(PLUGINS), sts_slices(1)
    for i in range(120):
        slice_.SOPInstanceUID = slice_.file_meta.MediaStorageSOPInstanceUID = f"1.2.3.4.5.{i + 1}"
        slice_.save_as(tmp_path / f"{i:03}.dcm")
    sending = subprocess.Popen([PROGRAM, "send", tmp_path, "--to", server.web], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for _ in range(10):
        assert sending.stdout.readline().startswith("stored ")
    server.kill()
    rest, errors = sending.communicate(timeout=60)
    outcomes = ["stored"] * 10 + [line.split()[0] for line in rest.splitlines()]
    stored = outcomes.count("stored")
    assert sending.returncode == 1 and 10 <= stored < 120 and outcomes[stored] in ("unanswered", "not-sent")
    assert outcomes[stored + 1:] == ["not-sent"] * (119 - stored)
    assert f"{stored} of 120 files were stored" in errors and "sending again is harmless" in errors
    server.start()
    assert stored <= server.count() < 120
    headrace("send", tmp_path, "--to", server.web)
    assert server.count() == 120


def test_only_the_named_host(orthanc, few):
    """One connection for all files, and none to a proxy of the environment."""
    if shutil.which("strace") is None:
        pytest.skip("not run: Debian package strace is not installed")
    server = orthanc(PLUGINS)
    done = subprocess.run(["strace", "-f", "-e", "trace=connect,bind,sendto", PROGRAM, "send", few, "--to", server.web], capture_output=True, text=True,
                          timeout=120, env={"PATH": "/usr/bin", "http_proxy": "http://127.0.0.1:9", "ALL_PROXY": "http://127.0.0.1:9"})
    if "PTRACE" in done.stderr:
        pytest.skip("not run: strace may not trace here")
    assert done.returncode == 0, done.stderr
    calls = [line for line in done.stderr.splitlines() if re.search(r"\b(connect|bind)\(", line) and "AF_INET" in line]
    assert len(calls) == 1 and f"htons({server.http})" in calls[0] and '"127.0.0.1"' in calls[0]


# A server that answers as it is told.


@contextlib.contextmanager
def web_server(answer, tls=None):
    """`answer(number, request)` gives status, headers and content; the requests come as (path, headers, content). `tls`: a context of ssl."""
    requests = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            requests.append((self.path, dict(self.headers), self.rfile.read(int(self.headers["Content-Length"]))))
            status, headers, content = answer(len(requests) - 1, requests[-1])
            self.send_response(status)
            for name, value in ({"Content-Length": str(len(content))} | headers).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield (f"https://localhost:{server.server_port}" if tls else f"http://127.0.0.1:{server.server_port}"), requests
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)


def stow_answer(uid, failure=None, warning=None):
    """The Store Instances Response of one object, as DICOM JSON."""
    item = {"00081155": {"vr": "UI", "Value": [uid]}}
    for tag, value in (("00081197", failure), ("00081196", warning)):
        if value is not None:
            item[tag] = {"vr": "US", "Value": [value]}
    return json.dumps({"00081199" if failure is None else "00081198": {"vr": "SQ", "Value": [item]}}).encode()


def test_the_message_is_what_the_standard_asks_for(few):
    """One part whose bytes are the file's, and credentials where they are set; read by the email package."""
    import email

    def answer(number, _):
        return 200, {}, stow_answer(f"1.2.3.4.5.7.{number + 1}")

    for secret, header in (({}, None), ({"HEADRACE_DICOMWEB_USER": "reader:s3:cret"}, "Basic " + base64.b64encode(b"reader:s3:cret").decode()),
                           ({"HEADRACE_DICOMWEB_TOKEN": "t0ken"}, "Bearer t0ken")):
        with web_server(answer) as (web, requests):
            headrace("send", few, "--to", f"{web}/any/base", environment=secret)
        assert [path for path, _, _ in requests] == ["/any/base/studies"] * 3
        for (_, headers, content), file in zip(requests, sorted(few.iterdir())):
            assert headers.get("Authorization") == header and headers["Accept"] == "application/dicom+json"
            message = email.message_from_bytes(b"Content-Type: " + headers["Content-Type"].encode() + b"\r\n\r\n" + content)
            assert message.get_content_type() == "multipart/related" and message.get_param("type") == "application/dicom"
            boundary = message.get_boundary()
            assert len(boundary) <= 70
            begin = f"--{boundary}\r\nContent-Type: application/dicom\r\n\r\n".encode()
            assert content == begin + file.read_bytes() + f"\r\n--{boundary}--\r\n".encode()


@pytest.mark.parametrize("status, content, outcome, words", [
    (200, stow_answer(OBJECT, warning=0xB000), "stored-with-warning", "0xB000, data elements were changed"),
    (202, stow_answer(OBJECT, failure=0xA700), "refused", "0xA700, out of resources"),
    (409, stow_answer(OBJECT, failure=0x0122), "refused", "0x0122, SOP class not supported"),
    (409, json.dumps({"00081198": {"vr": "SQ", "Value": [{"00081155": {"vr": "UI", "Value": [OBJECT]}}]}}).encode(), "refused", "without a reason"),
    (200, stow_answer("1.2.3.4"), "unanswered", "does not say that it is stored"),
    (200, b"<html>Welcome</html>", "unanswered", "does not say that it is stored"),
    (200, b'[{"00081199": 1}]', "unanswered", "does not say that it is stored"),
    (200, b'{"00081199": {"Value": [7, {"00081155": {"Value": 5}}]}}', "unanswered", "does not say that it is stored"),
    (204, b"", "unanswered", "does not say that it is stored"),
    (400, b"", "refused", "HTTP 400: it can't read the object"),
    (413, b"", "refused", "HTTP 413: the object is too large"),
    (415, b"", "refused", "HTTP 415"),
    (500, b"x", "refused", "HTTP 500: the server failed"),
    (503, b"", "refused", "HTTP 503: it is busy"),
])
def test_each_answer_has_its_outcome(few, status, content, outcome, words):
    """And the other files are sent nevertheless."""
    def answer(number, _):
        return (status, {}, content) if number == 0 else (200, {}, stow_answer(f"1.2.3.4.5.7.{number + 1}"))

    with web_server(answer) as (web, requests):
        done = headrace("send", few, "--to", web, code=0 if outcome.startswith("stored") else 1)
    first = done.stdout.splitlines()[0]
    assert first.split()[0] == outcome and words in first and done.stdout.count("\nstored ") == 2 and len(requests) == 3
    assert outcome.startswith("stored") or ("2 of 3 files were stored" in sentence_of(done) and words in done.stderr)


@pytest.mark.parametrize("status, words", [(302, "another address"), (403, "may not store"), (404, "root of its DICOMweb"), (405, "root of its DICOMweb")])
def test_what_every_file_would_be_told_ends_it(few, status, words):
    """A redirection is not followed: nobody but the named server gets patients' data, or credentials."""
    with web_server(lambda *_: (200, {}, stow_answer(OBJECT))) as (elsewhere, never):
        with web_server(lambda *_: (status, {"Location": elsewhere + "/studies"}, b"")) as (web, requests):
            done = headrace("send", few, "--to", web, code=1)
    assert len(requests) == 1 and not never and words in sentence_of(done)
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["refused", "not-sent", "not-sent"]


def test_a_server_that_keeps_silent_or_talks_too_much(few):
    def silent(*_):
        time.sleep(8)
        return 200, {}, b""

    with web_server(silent) as (web, requests):
        done = headrace("send", few, "--to", web, "--timeout", 2, code=1)
        assert "no answer within 2 s" in sentence_of(done) and len(requests) == 1
        assert [line.split()[0] for line in done.stdout.splitlines()] == ["unanswered", "not-sent", "not-sent"]
    with web_server(lambda *_: (200, {}, b" " * (5 << 20))) as (web, _):
        assert "longer than 4 MiB" in fails(few, "--to", web)


def test_a_connection_that_the_server_ends_is_made_again(few):
    """As some do after each answer."""
    with web_server(lambda number, _: (200, {"Connection": "close"}, stow_answer(f"1.2.3.4.5.7.{number + 1}"))) as (web, requests):
        assert "3 of 3 files were stored" in headrace("send", few, "--to", web).stdout and len(requests) == 3


def tls_of(certificate):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
    return context


def test_tls_and_password(orthanc, certificate, few):
    """Orthanc behind a proxy with TLS: only who is known by a trusted certificate of the name that was called gets anything; and only the right
    password stores."""
    server = orthanc(PLUGINS, AuthenticationEnabled=True, RegisteredUsers={"reader": "s3cret"})

    def forward(_, request):
        path, headers, content = request
        connection = http.client.HTTPConnection("127.0.0.1", server.http, timeout=60)
        with contextlib.closing(connection):
            connection.request("POST", path, content, headers)
            answer = connection.getresponse()
            return answer.status, {}, answer.read()

    trusted = ("--ca-file", certificate / "cert.pem")
    with web_server(forward, tls_of(certificate)) as (web, requests):
        root = f"{web}/dicom-web"
        said = fails(few, "--to", root)
        assert "its certificate is not trusted" in said and "--ca-file" in said and "Nothing was sent" in said
        said = fails(few, "--to", root.replace("localhost", "127.0.0.1"), *trusted)
        assert "its certificate is not trusted" in said and "Check the host's name" in said
        assert "holds no certificates in PEM" in fails(few, "--to", root, "--ca-file", few / "000.dcm")
        assert "0 of 3 files were stored" in fails(few, "--to", root.replace("https", "http")) and not requests
        said = fails(few, "--to", root, *trusted)
        assert "0 of 3 files were stored" in said and "HTTP 401" in said and "HEADRACE_DICOMWEB_USER" in said and len(requests) == 1
        said = fails(few, "--to", root, *trusted, environment={"HEADRACE_DICOMWEB_USER": "reader:wr0ng"})
        assert "HTTP 401" in said and "wr0ng" not in said
        done = headrace("send", few, "--to", root, *trusted, environment={"HEADRACE_DICOMWEB_USER": "reader:s3cret"})
        assert "3 of 3 files were stored" in done.stdout and "s3cret" not in done.stdout + done.stderr


def test_old_tls_is_not_spoken(certificate, few):
    context = tls_of(certificate)
    context.set_ciphers("ALL:@SECLEVEL=0")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
    with web_server(lambda *_: (200, {}, stow_answer(OBJECT)), context) as (web, requests):
        said = fails(few, "--to", web, "--ca-file", certificate / "cert.pem")
    assert "Nothing was sent" in said and not requests
