"""The server of `headrace view`: who is let in, what is refused, many and slow clients, tiles against OpenSlide and the maps on disk,
Neuroglancer's chunks against nibabel, verdicts, and the label sets made of them."""
import concurrent.futures
import contextlib
import http.client
import io
import json
import shutil
import signal
import socket
import subprocess
import urllib.parse

import imageio.v3 as iio
import nibabel
import numpy as np
import openslide
import pytest
import scipy.ndimage
import zarr
from ct_inputs import CT
from driving import PROGRAM, SAMPLES, headrace, json_of, label_group, rows_of, write_table

SLIDE = SAMPLES / "slides/derived/cmu-aperio-style-4level.svs"
LIMIT = 120  # seconds for any one thing that is waited for

RUN = """task: gleason
data: {{store: {store}, train: train, val: val}}
patch: {{size: [64, 64], mpp: 4.0}}
sampling: {{seed: 5, batch: 4, batches_per_epoch: 40}}
transforms:
  - stain_normalize: {{}}
model: {{name: unet2d, widths: [16, 32]}}
train: {{epochs: 2, lr: 4.0e-3, threads: 1, validate_every: 0}}
loader: {{threads: 1, prefetch: 2}}
"""
CT_RUN = """task: colorectal
data: {{store: {store}}}
patch: {{size: [16, 32, 32], spacing_mm: [4, 4, 4]}}
sampling: {{seed: 7, batch: 2, batches_per_epoch: 8, foreground: 0.7}}
transforms:
  - window_hu: {{low: -160, high: 240}}
model: {{name: unet3d, widths: [8, 16]}}
train: {{epochs: 1, lr: 3.0e-3, threads: 1, validate_every: 0}}
loader: {{threads: 1, prefetch: 2}}
eval: {{lesion_lowest: 0.05, lesion_min_mm3: 100, lesion_classes: [tumour]}}
"""


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
        self.port, self.token = parts.port, parts.query.removeprefix("token=")

    def ask(self, path, method="GET", body=None, token=True, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if token:
            sent["Authorization"] = "Bearer " + self.token
        with contextlib.closing(connection):
            connection.request(method, path, body=body, headers=sent)
            return Answer(connection.getresponse())

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
        return {item["id"]: item for item in self.ask("/api/items").json["items"]}

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


@pytest.fixture(scope="module")
def slide_server():
    with serving(SLIDE) as server:
        yield server


@pytest.fixture(scope="module")
def gleason(tmp_path_factory):
    """Phantom slides in a store, a run, and its predictions."""
    folder = tmp_path_factory.mktemp("view")
    headrace("phantom", "slides", "--out", folder / "in", "--count", 4, "--size", 1300, "--scanners", 1, "--seed", 3)
    headrace("ingest", "slides", folder / "in/slides", "--table", folder / "in/cases.csv", "--codec", "blosc-zstd", "--out", folder / "s.zarr")
    (folder / "run.yaml").write_text(RUN.format(store=folder / "s.zarr"))
    headrace("train", "--config", folder / "run.yaml", "--out", folder / "run")
    headrace("predict", "--run", folder / "run", folder / "s.zarr", "--min-region-mm2", 0.001, "--out", folder / "out")
    return folder


@pytest.fixture(scope="module")
def colorectal(tmp_path_factory):
    """A CT in a store, a run, and its prediction."""
    folder = tmp_path_factory.mktemp("view-ct")
    rows = [{"file": str(CT / f"sarcoma/{name}.nii.gz"), "image": name, "split": split, "labels": str(CT / f"sarcoma/{name}-gtv.nii.gz")}
            for name, split in (("sts-012", "val"), ("sts-018", "train"))]
    headrace("ingest", "volumes", CT / "sarcoma", "--table", write_table(folder / "cases.csv", rows), "--classes", "background,tumour", "--out",
             folder / "ct.zarr")
    (folder / "run.yaml").write_text(CT_RUN.format(store=folder / "ct.zarr"))
    headrace("train", "--config", folder / "run.yaml", "--out", folder / "run")
    headrace("predict", "--run", folder / "run", folder / "ct.zarr", "--split", "val", "--out", folder / "out")
    return folder


# Who is let in.

def test_the_token_opens_the_page_and_nothing_else_does(slide_server):
    assert len(slide_server.token) == 64
    for path in ("/", "/api/items", "/assets/app.js", "/slides/0/image/0/0_0.jpg", "/neuroglancer/index.html", "/nothing"):
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
    ups = ["..", "%2e%2e", "%2E%2e", ".%2e", "..%2f..", "%2e%2e%2f%2e%2e", "..%5c..", "%252e%252e", "....", "..%00", "%c0%ae%c0%ae"]
    for up in ups:
        for path in (f"/assets/{up}/index.html", f"/assets/{up}/{up}/{up}/{up}/{up}/etc/passwd", f"/neuroglancer/{up}/page/index.html",
                     f"/{up}/etc/passwd", f"/slides/0/{up}/0/0_0.jpg"):
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


# Slides.

def tiles_of(server, item, layer, level, size):
    """A level put together from its tiles."""
    height, width = size
    kind = "jpg" if layer == "image" else "png"
    name = urllib.parse.quote(layer, safe="")
    rows = []
    for y in range(-(-height // 256)):
        rows.append(np.concatenate([server.ask(f"/slides/{item}/{name}/{level}/{x}_{y}.{kind}").picture for x in range(-(-width // 256))], 1))
    return np.concatenate(rows, 0)


def means(pixels, step):
    """Means of step × step pixels, of those that are there at the edges."""
    rows = [slice(y, y + step) for y in range(0, pixels.shape[0], step)]
    columns = [slice(x, x + step) for x in range(0, pixels.shape[1], step)]
    return np.array([[pixels[y, x].reshape(-1, pixels.shape[2]).mean(0) for x in columns] for y in rows])


def test_tiles_are_the_pixels_of_openslide(slide_server):
    item = slide_server.ask("/api/items/0").json
    assert (item["width"], item["height"], item["levels"], item["tile"]) == (2220, 2967, 13, 256)
    assert item["mpp"] == pytest.approx(0.499)
    with openslide.OpenSlide(SLIDE) as slide:
        levels = [np.array(slide.read_region((0, 0), k, size).convert("RGB")) for k, size in enumerate(slide.level_dimensions)]
    for level, k, step in ((12, 0, 1), (11, 1, 1), (10, 2, 1), (8, 3, 2), (6, 3, 8)):
        shown = tiles_of(slide_server, 0, "image", level, [-(-n // 2**(12 - level)) for n in (2967, 2220)]).astype(float)
        expected = means(levels[k], step) if step > 1 else levels[k]
        height, width = (min(pair) for pair in zip(shown.shape[:2], expected.shape[:2]))  # the slide's own levels lack the last odd pixel
        assert abs(height - shown.shape[0]) <= 1 and abs(width - shown.shape[1]) <= 1
        difference = shown[:height - 1, :width - 1] - expected[:height - 1, :width - 1]
        grey = np.abs(difference.mean(2)).mean()  # tiles are JPEGs, which halve the resolution of colours
        assert grey < 4.5 and abs(difference.mean()) < 1, (level, grey)


def test_a_picture_without_levels_is_shown_alike(tmp_path):
    rng = np.random.default_rng(1)
    picture = np.kron(rng.integers(0, 256, (60, 70, 1), np.uint8), np.ones((32, 32, 3), np.uint8))
    iio.imwrite(tmp_path / "flat.png", picture)
    with serving(tmp_path / "flat.png") as server:
        item = server.ask("/api/items/0").json
        assert item["mpp"] is None and item["levels"] == 13
        for level, step in ((12, 1), (7, 32)):
            shown = tiles_of(server, 0, "image", level, (-(-1920 // step), -(-2240 // step)))
            expected = picture if step == 1 else picture[16::32, 16::32]  # means of equal pixels
            assert np.abs(shown.astype(float) - expected).mean() < 6
        assert abs(server.ask("/slides/0/image/0/0_0.jpg").picture.mean() - picture.mean()) < 3


def colour_table(layer):
    return {entry["value"]: tuple(int(entry["colour"][i:i + 2], 16) for i in (1, 3, 5)) for entry in layer["classes"]}


def test_layers_of_a_prediction_lie_on_the_slides_grid(gleason):
    with serving(gleason / "s.zarr", gleason / "out") as server:
        items = server.items()
        assert sorted(items) == sorted(row["image"] for row in rows_of(gleason / "in/cases.csv"))
        name, item = next((name, item) for name, item in items.items() if item["findings"])
        layers = {layer["name"]: layer for layer in item["layers"]}
        assert list(layers) == ["image", "annotation", "prediction", *(f"probability:{c}" for c in
                                                                         ("benign", "hgpin", "pattern3", "pattern4", "pattern5"))]
        facts = server.ask(f"/api/items/{item['n']}").json
        height, width = facts["height"], facts["width"]
        group = zarr.open_group(gleason / "out" / name, mode="r")
        classes, probability = group["labels/classes/0"][:], group["0"][:]
        table = colour_table(layers["prediction"])
        for level, step in ((facts["levels"] - 1, 1), (facts["levels"] - 3, 4)):
            size = -(-height // step), -(-width // step)
            at = [((2 * np.arange(n) + 1) * step // 2) // 8 for n in size]
            expected = classes[np.ix_(*at)]
            shown = tiles_of(server, item["n"], "prediction", level, size)
            seen = (expected > 0) & (expected < 255)
            np.testing.assert_array_equal(shown[..., 3], np.where(seen, 255, 0))
            for value, colour in table.items():
                assert (shown[expected == value][:, :3] == colour).all()
        shown = tiles_of(server, item["n"], "probability:pattern4", facts["levels"] - 4, (-(-height // 8), -(-width // 8)))
        part = probability[4][:shown.shape[0], :shown.shape[1]]
        np.testing.assert_array_equal(shown[:part.shape[0], :part.shape[1], 3], part)
        labels = zarr.open_array(gleason / "s.zarr" / label_group(gleason / "s.zarr", name) / "0", mode="r")[:]
        shown = tiles_of(server, item["n"], "annotation", facts["levels"] - 1, (height, width))
        np.testing.assert_array_equal(shown[..., 3] > 0, (labels > 0) & (labels < 255))


def test_a_run_shows_its_validation_images_and_results_alone_find_theirs(gleason):
    splits = {image["id"]: image["split"] for image in json_of("info", gleason / "s.zarr")["images"]}
    with serving(gleason / "run") as server:
        assert sorted(server.items()) == sorted(name for name, split in splits.items() if split == "val")
    with serving(gleason / "out") as server:
        assert {item["layers"][0]["name"] for item in server.items().values()} == {"image"}
        assert server.ask("/slides/0/image/0/0_0.jpg").status == 200


# Volumes.

def volume_of(server, item, layer):
    """All voxels of the first scale, (z, y, x), put together from the chunks."""
    name = urllib.parse.quote(layer, safe="")
    info = server.ask(f"/volumes/{item}/{name}/info").json
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


def canonical(path):
    """(z, y, x) in the order of stores, and the spacing in that order."""
    order = nibabel.orientations.axcodes2ornt("LPS")
    image = nibabel.load(path)
    image = image.as_reoriented(nibabel.orientations.ornt_transform(nibabel.io_orientation(image.affine), order))
    return np.asarray(image.dataobj).transpose(2, 1, 0), [float(s) for s in image.header.get_zooms()[2::-1]]


def test_chunks_of_a_file_and_of_a_store_are_its_voxels(colorectal):
    hu, spacing = canonical(CT / "sarcoma/sts-012.nii.gz")
    with serving(CT / "sarcoma/sts-012.nii.gz") as server:
        item = server.ask("/api/items/0").json
        assert item["shape_zyx"] == list(hu.shape) and item["window"] == {"low": -160, "high": 240}
        np.testing.assert_allclose(item["spacing_zyx_mm"], spacing, rtol=1e-6)
        info, voxels = volume_of(server, 0, "image")
        assert info["data_type"] == "int16" and info["type"] == "image"
        np.testing.assert_allclose(info["scales"][0]["resolution"], np.array(spacing[::-1]) * 1e6, rtol=1e-6)
        np.testing.assert_array_equal(voxels, np.rint(hu))
    with serving(colorectal / "ct.zarr", colorectal / "out") as server:
        item = server.items()["sts-012"]
        np.testing.assert_array_equal(volume_of(server, item["n"], "image")[1], np.rint(hu))
        info, annotation = volume_of(server, item["n"], "annotation")
        assert info["type"] == "image" and info["data_type"] == "uint8"
        np.testing.assert_array_equal(annotation, canonical(CT / "sarcoma/sts-012-gtv.nii.gz")[0])
        group = zarr.open_group(colorectal / "out/sts-012", mode="r")
        classes = group["labels/classes/0"][:]
        np.testing.assert_array_equal(volume_of(server, item["n"], "prediction")[1], classes)
        np.testing.assert_array_equal(volume_of(server, item["n"], "lesions")[1], group["labels/lesions/0"][:])
        np.testing.assert_array_equal(volume_of(server, item["n"], "probability:tumour")[1], group["0"][1])


# Findings and verdicts.

def test_verdicts_are_kept_beside_the_prediction(gleason, tmp_path):
    out = shutil.copytree(gleason / "out", tmp_path / "out")
    with serving(out, "--reviewer", "M. M.") as server:
        name, item = max(server.items().items(), key=lambda pair: pair[1]["findings"])
        listed = server.ask(f"/api/items/{item['n']}/findings").json["findings"]
        found = json.loads((out / name / "findings.json").read_text())["slide"]
        first = [region["number"] for region in found["equivocal"]["list"]]
        others = [region["number"] for region in found["regions"]["list"] if region["number"] not in first]
        assert [finding["number"] for finding in listed] == first + others and item["findings"] == len(listed) > 0
        where = f"/api/items/{item['n']}/findings/{listed[0]['list']}/{listed[0]['number']}/verdict"
        for bad in ({"verdict": "maybe"}, {"verdict": "reclass", "class": "stroma"}, {"verdict": "accept", "outline": [[[0, 0]]]}, []):
            assert server.put(where, bad).status == 400
        assert server.ask(where, "PUT", "{", X_Headrace="1").status == 400
        assert server.put(where.replace(f"/{listed[0]['number']}/", "/987654/"), {"verdict": "accept"}).status == 404
        assert not (out / "reviews").exists()
        stored = server.put(where, {"verdict": "reclass", "class": "benign", "comment": "glänzend"}).json
        assert stored["reviewer"] == "M. M." and stored["class"] == "benign" and stored["time"].endswith("Z")
    with serving(out) as server:  # it is still there
        listed = server.ask(f"/api/items/{item['n']}/findings").json["findings"]
        assert listed[0]["verdict"] == stored and all(finding["verdict"] is None for finding in listed[1:])
        assert server.put(where, None, "DELETE").status == 200
        assert server.ask(f"/api/items/{item['n']}/findings").json["findings"][0]["verdict"] is None
    kept = json.loads((out / f"reviews/{name}.json").read_text())
    assert kept["verdicts"] == {}
    kept["findings_sha256"] = "0" * 64
    (out / f"reviews/{name}.json").write_text(json.dumps(kept))
    with serving(out) as server:
        answer = server.ask(f"/api/items/{item['n']}/findings")
        assert answer.status == 400 and "another prediction" in answer.json["error"]


def region_pixels(classes, names, findings):
    """The map's pixels of each listed region, found by SciPy: by class, pixels and box."""
    out = {}
    for region in findings["regions"]["list"]:
        value = names.index(region["class"])
        marked, _ = scipy.ndimage.label(classes == value)
        y, x = (c / 8 for c in region["centroid_level0_yx"])
        for k in range(1, marked.max() + 1):
            inside = marked == k
            centre = np.argwhere(inside).mean(0) + 0.5
            if inside.sum() == region["pixels"] and np.allclose(centre, (y, x), atol=0.01):
                out[region["number"]] = inside
    assert len(out) == len(findings["regions"]["list"])
    return out


def test_reviewed_regions_become_a_label_set_of_the_store(gleason, tmp_path):
    store = shutil.copytree(gleason / "s.zarr", tmp_path / "s.zarr")
    out = shutil.copytree(gleason / "out", tmp_path / "out")
    with serving(out, "--store", store, "--reviewer", "mm") as server:
        name, item = max(server.items().items(), key=lambda pair: pair[1]["findings"])
        at = f"/api/items/{item['n']}"
        assert server.put(f"{at}/labels", {}, "POST").status == 400  # no verdict yet
        listed = server.ask(f"{at}/findings").json["findings"]
        verdicts = [{"verdict": "accept"}, {"verdict": "reject"}, {"verdict": "reclass", "class": "benign"}]
        outline = [[[100, 200], [100, 260], [180, 260], [180, 200]], [[120, 220], [120, 240], [150, 240], [150, 220]]]
        given = dict(zip((finding["number"] for finding in listed), verdicts))
        for finding in listed[:3]:
            assert server.put(f"{at}/findings/{finding['list']}/{finding['number']}/verdict", given[finding["number"]]).status == 200
        corrected = listed[0]["number"]
        assert server.put(f"{at}/findings/{listed[0]['list']}/{corrected}/verdict", {"verdict": "accept", "outline": outline}).status == 200
        saved = server.put(f"{at}/labels", {}, "POST").json
        assert saved["set"] == "review-mm"
    classes = zarr.open_group(out / name, mode="r")["labels/classes/0"][:]
    names = ["background", "benign", "hgpin", "pattern3", "pattern4", "pattern5"]
    findings = json.loads((out / name / "findings.json").read_text())["slide"]
    regions = region_pixels(classes, names, findings)
    predicted = {region["number"]: region["class"] for region in findings["regions"]["list"]}
    image = zarr.open_array(store / f"images/{name}/0", mode="r")
    expected = np.full(image.shape[-2:], 255, np.uint8)
    value_of = {number: {"accept": names.index(predicted[number]), "reject": 0, "reclass": 1}[verdict["verdict"]] for number, verdict in given.items()}
    for number in sorted(given):
        if number != corrected:
            whole = np.kron(regions[number], np.ones((8, 8), bool))[:expected.shape[0], :expected.shape[1]]
            expected[whole] = value_of[number]
    ring = np.zeros_like(expected, bool)
    ring[100:180, 200:260] = True
    ring[120:150, 220:240] = False
    expected[ring] = value_of[corrected]
    stored = zarr.open_array(store / label_group(store, name, "review-mm") / "0", mode="r")[:]
    np.testing.assert_array_equal(stored, expected)
    assert saved["pixels"] == (expected != 255).sum() > 0
    headrace("verify", store)
    with serving(store) as server:
        assert "annotation:review-mm" in [layer["name"] for layer in server.items()[name]["layers"]]


def test_reviewed_lesions_become_a_label_set_of_the_store(colorectal, tmp_path):
    store = shutil.copytree(colorectal / "ct.zarr", tmp_path / "ct.zarr")
    out = shutil.copytree(colorectal / "out", tmp_path / "out")
    with serving(store, out) as server:
        item = server.items()["sts-012"]
        at = f"/api/items/{item['n']}"
        listed = server.ask(f"{at}/findings").json["findings"]
        lesions = zarr.open_group(out / "sts-012", mode="r")["labels/lesions/0"][:]
        assert [finding["list"] for finding in listed] == ["lesions"] * int(lesions.max()) and listed
        for finding in listed:
            np.testing.assert_allclose(finding["centre"], np.argwhere(lesions == finding["number"]).mean(0), atol=0.01)
        expected = np.full(lesions.shape, 255, np.uint8)
        for finding, (verdict, value) in zip(listed, (("accept", 1), ("reject", 0))):
            assert server.put(f"{at}/findings/lesions/{finding['number']}/verdict", {"verdict": verdict}).status == 200
            expected[lesions == finding["number"]] = value
        assert server.put(f"{at}/findings/lesions/1/verdict", {"verdict": "accept", "outline": [[[0, 0], [0, 9], [9, 9]]]}).status == 400
        saved = server.put(f"{at}/labels", {}, "POST").json
        assert saved["set"] == "review" and saved["pixels"] == (expected != 255).sum() > 0
    stored = zarr.open_array(store / label_group(store, "sts-012", "review") / "0", mode="r")[:]
    np.testing.assert_array_equal(stored, expected)
    headrace("verify", store)
