"""The server of `headrace view`: who is let in, what is refused, many and slow clients, its end, and inputs that can't be shown."""
import concurrent.futures
import shutil
import signal
import socket

import pytest
from driving import SAMPLES, headrace
from view_server import LIMIT, serving

SLIDE = SAMPLES / "slides/derived/cmu-aperio-style-4level.svs"


@pytest.fixture(scope="module")
def slide_server():
    with serving(SLIDE) as server:
        yield server


# Who is let in.

def test_the_token_opens_the_page_and_nothing_else_does(slide_server):
    assert len(slide_server.token) == 64
    for path in ("/", "/api/items", "/assets/app.js", "/slides/0/image/0/0_0.jpg", "/openseadragon/openseadragon.js",
                 "/neuroglancer/index.html", "/nothing"):
        assert slide_server.ask(path, token=False).status == 401
        assert slide_server.ask(path, token=False, Authorization="Bearer " + "0" * 64).status == 403
    assert slide_server.ask("/?token=" + "0" * 64, token=False).status == 403
    entered = slide_server.ask("/?token=" + slide_server.token, token=False)
    assert entered.status == 303 and entered.headers["Location"] == "/"
    cookie, *attributes = entered.headers["Set-Cookie"].split("; ")
    assert set(attributes) == {"HttpOnly", "SameSite=Strict", "Path=/"}
    page = slide_server.ask("/", token=False, Cookie=cookie)
    assert page.status == 200 and page.headers["Content-Type"].startswith("text/html")
    assert slide_server.ask("/api/items", token=False, Cookie=cookie[:-1]).status == 403


def test_foreign_names_of_this_machine_are_refused(slide_server):
    for host in ("evil.example", f"evil.example:{slide_server.port}", "127.0.0.1.evil.example"):
        assert slide_server.ask("/api/items", Host=host).status == 403
    for host in (f"localhost:{slide_server.port}", f"127.0.0.1:{slide_server.port}"):
        assert slide_server.ask("/api/items", Host=host).status == 200


def test_every_answer_forbids_foreign_content_and_caches(slide_server):
    answers = [slide_server.ask("/"), slide_server.ask("/api/items"), slide_server.ask("/nothing"), slide_server.ask("/", token=False)]
    for answer in answers:
        assert answer.headers["Content-Security-Policy"].startswith("default-src 'self';")
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert answer.headers["X-Frame-Options"] == "SAMEORIGIN"
        assert answer.headers["Cache-Control"] == "no-store"
        assert "Access-Control-Allow-Origin" not in answer.headers


def test_only_listed_files_are_served(slide_server):
    assert slide_server.ask("/assets/index.html").status == 200
    assert slide_server.ask("/openseadragon/openseadragon.js").status == 200
    ups = ["..", "%2e%2e", "%2E%2e", ".%2e", "..%2f..", "%2e%2e%2f%2e%2e", "..%5c..", "%252e%252e", "....", "..%00", "%c0%ae%c0%ae"]
    for up in ups:
        for path in (f"/assets/{up}/index.html", f"/assets/{up}/{up}/{up}/{up}/{up}/etc/passwd", f"/neuroglancer/{up}/page/index.html",
                     f"/openseadragon/{up}/page/index.html", f"/{up}/etc/passwd", f"/slides/0/{up}/0/0_0.jpg"):
            first = slide_server.raw(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {slide_server.token}\r\nConnection: close\r\n\r\n")
            assert first.startswith("HTTP/1.1 404"), (path, first)
    for path in ("/assets//etc/passwd", "/assets/%2fetc%2fpasswd", "/assets/"):
        assert slide_server.ask(path).status == 404


def test_bad_requests_get_their_status_and_harm_nothing(slide_server):
    server = slide_server
    assert server.ask("/api/items", "POST", "{}", X_Headrace="1").status == 405
    assert server.ask("/api/items", "PATCH", X_Headrace="1").status == 405
    assert server.ask("/api/items/0/labels").headers["Allow"] == "POST"
    assert server.ask("/api/items/0/labels", "POST", "{}").status == 403  # without X-Headrace
    head = f"Host: localhost\r\nAuthorization: Bearer {server.token}\r\nX-Headrace: 1\r\nConnection: close\r\n"
    post = f"POST /api/items/0/labels HTTP/1.1\r\n{head}"
    assert server.raw(post + "Content-Length: 99999999999999999999999\r\n\r\n").startswith("HTTP/1.1 4")
    for size in ("2000000", "1000000000000"):
        assert server.raw(post + f"Content-Length: {size}\r\n\r\n").startswith("HTTP/1.1 413")
    assert server.raw(post + "Transfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n").startswith("HTTP/1.1 411")
    assert server.raw(f"GET / HTTP/1.1\r\n{head}X-Long: {'a' * 40_000}\r\n\r\n").startswith(("HTTP/1.1 431", "HTTP/1.1 400"))
    assert server.raw(f"GET /{'a' * 40_000} HTTP/1.1\r\n{head}\r\n").startswith("HTTP/1.1 4")
    assert server.raw("nonsense\r\n\r\n") == "" or server.raw("nonsense\r\n\r\n").startswith("HTTP/1.1 4")
    assert server.ask("/api/items").status == 200


def test_addresses_that_do_not_exist_are_404(slide_server):
    for path in ("/api/items/1", "/api/items/-1", "/api/items/0x0", "/api/items/99999999999999999999", "/slides/0/image/99/0_0.jpg",
                 "/slides/0/image/12/0_0.png", "/slides/0/image/12/9_0.jpg", "/slides/0/image/12/0_12.jpg", "/slides/0/image/12/-1_0.jpg",
                 "/slides/0/image/12/0.jpg", "/slides/0/prediction/12/0_0.png", "/volumes/0/image/info", "/volumes/0/image/0/0-64_0-64_0-64",
                 "/api/items/0/findings/regions/1/verdict/x"):
        assert slide_server.ask(path).status == 404, path
    assert slide_server.ask("/api/items/0/findings").json == {"findings": []}


# Many clients, slow ones, and the end.

def test_many_clients_at_once_and_slow_ones(slide_server):
    slow = []
    for i in range(120):  # readers that never read, and requests that never end
        link = socket.create_connection(("127.0.0.1", slide_server.port), timeout=LIMIT)
        asked = f"GET /slides/0/image/12/{i % 8}_{i % 11}.jpg HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {slide_server.token}\r\n"
        link.sendall((asked + "\r\n" if i % 2 else asked).encode())
        slow.append(link)
    with concurrent.futures.ThreadPoolExecutor(200) as pool:
        answers = list(pool.map(lambda i: slide_server.ask(f"/slides/0/image/12/{i % 8}_{i % 11}.jpg"), range(200)))
    assert {answer.status for answer in answers} == {200}
    for i, answer in enumerate(answers):  # the same tile has the same bytes, whoever asked first
        assert answer.body == answers[i % 88].body
    for link in slow:
        link.close()


def test_interrupt_ends_it_well():
    for how in (signal.SIGINT, signal.SIGTERM):
        with serving(SLIDE) as server:
            links = [socket.create_connection(("127.0.0.1", server.port), timeout=LIMIT) for _ in range(20)]
            for link in links:
                link.sendall(f"GET /slides/0/image/8/0_0.jpg HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {server.token}\r\n\r\n".encode())
            code, (printed, errors) = server.stop(how)
            assert (code, printed, errors) == (0, "", "")


def test_what_can_not_be_shown_is_said(tmp_path):
    assert "no such file" in headrace("view", tmp_path / "gone.svs", code=1).stderr
    assert "nothing to show" in headrace("view", tmp_path, code=2).stderr
    assert "numeric address" in headrace("view", SLIDE, "--bind", "localhost", code=2).stderr
    with serving(SLIDE) as server:
        assert "can't be listened on" in headrace("view", SLIDE, "--port", server.port, code=1).stderr


def test_one_bad_file_spoils_only_itself(tmp_path):
    shutil.copy(SLIDE, tmp_path / "good.svs")
    (tmp_path / "bad.svs").write_bytes(b"not a slide")
    with serving(tmp_path) as server:
        items = server.items()
        assert set(items) == {"good", "bad"}
        assert server.ask(f"/api/items/{items['good']['n']}").json["width"] == 2220
        answer = server.ask(f"/api/items/{items['bad']['n']}")
        assert answer.status == 500 and "bad.svs" in answer.json["error"]
