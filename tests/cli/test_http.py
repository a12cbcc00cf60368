"""Stores and slides that lie on a server: the bytes of local ones, or one sentence, whatever the server does."""
import json
import os
import random
import re
import shutil
import subprocess

import pytest
from driving import PROGRAM, SAMPLES, headrace, json_of, message_of, sentence_of
from http_server import Faults, nginx, serving
from made_once import made_once
from matrices import some
from predictions import nuclei_config, trained

SLIDES = SAMPLES / "slides"


def make_stores(folder):
    """copied.zarr, referring.zarr and the files that this refers to."""
    (folder / "slides").mkdir()
    for name in ("derived/cmu-aperio-style-4level.svs", "CMU-1-Small-Region.svs"):
        shutil.copy(SLIDES / name, folder / "slides")
    for name, pixels in (("copied", "copy"), ("referring", "reference")):
        headrace("ingest", "slides", folder / "slides", "--out", folder / f"{name}.zarr", "--pixels", pixels)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return made_once(tmp_path_factory, "served", make_stores)


def config(path, store, extra="stall_s: 1, give_up_s: 3"):
    path.write_text(f"task: segmentation\ndata: {{store: '{store}'}}\npatch: {{size: [96, 96], mpp: 0.5}}\nsampling: {{seed: 3, batch: 8, batches_per_epoch: 4}}\n"
                    f"transforms:\n  - affine: {{rotate_deg: [-180, 180], flip: true}}\n  - stain_normalize: {{method: macenko, reference: builtin}}\n"
                    f"network: {{{extra}}}\n")
    return path


def hash_of(folder, store, *arguments, **options):
    return json_of("batches", "--config", config(folder / "c.yaml", store, **options), "--count", 3, *arguments)["sha256"]


@pytest.fixture(scope="module")
def expected(folder, tmp_path_factory):
    return hash_of(tmp_path_factory.mktemp("local"), folder / "copied.zarr")


def test_a_store_on_nginx_gives_the_batches_of_a_local_one(folder, expected, tmp_path):
    with nginx(folder, tmp_path) as url:
        for threads in (1, 4):
            assert hash_of(tmp_path, f"{url}/copied.zarr", "--threads", threads) == expected
        headrace("verify", f"{url}/copied.zarr")
        assert headrace("info", f"{url}/copied.zarr").stdout == headrace("info", folder / "copied.zarr").stdout
        requests = (tmp_path / "access.log").read_text().splitlines()
    assert all(" 206 " in line or " 404 " in line for line in requests)


def test_tls_with_a_certificate_of_the_site(folder, expected, tmp_path):
    with nginx(folder, tmp_path, tls=True) as url:
        assert hash_of(tmp_path, f"{url}/copied.zarr", extra=f"ca_file: {tmp_path}/cert.pem") == expected
        for ca_file in ("", f"ca_file: {tmp_path}/none.pem"):
            done = headrace("batches", "--config", config(tmp_path / "c.yaml", f"{url}/copied.zarr", extra=ca_file), code=1)
            assert "certificate" in message_of(done).lower(), done.stderr


def test_a_certificate_that_has_expired(folder, tmp_path):
    with nginx(folder, tmp_path, tls=True, ended=True) as url:
        done = headrace("batches", "--config", config(tmp_path / "c.yaml", f"{url}/copied.zarr", extra=f"ca_file: {tmp_path}/cert.pem, give_up_s: 5"), code=1, seconds=60)
    assert "expired" in message_of(done) and url in done.stderr


def test_a_name_that_no_host_has(tmp_path):
    done = headrace("batches", "--config", config(tmp_path / "c.yaml", "http://nowhere.invalid/s.zarr"), code=1, seconds=60)
    assert "http://nowhere.invalid/s.zarr" in message_of(done) and "resolve host" in done.stderr


def test_slides_that_lie_on_a_server(folder, expected, tmp_path):
    """The pixels of a store by reference, after its files moved there."""
    shutil.copytree(folder / "referring.zarr", tmp_path / "s.zarr")
    with nginx(folder, tmp_path) as url:
        host = url.removeprefix("http://")
        assert f"2 files lie in {url}/slides" in headrace("ingest", "files", tmp_path / "s.zarr", f"{url}/slides").stdout
        assert hash_of(tmp_path, tmp_path / "s.zarr", extra=f"hosts: ['{host}']") == expected
        headrace("--allow-host", host, "verify", tmp_path / "s.zarr")
        assert headrace("info", tmp_path / "s.zarr").stdout  # no pixels, no connection
        done = headrace("batches", "--config", config(tmp_path / "c.yaml", tmp_path / "s.zarr"), code=2)
        assert f'hosts: ["{host}"]' in sentence_of(done) and "references.json names the host" in sentence_of(done)
    before = (tmp_path / "s.zarr/references.json").read_text()
    assert "connect" in message_of(headrace("ingest", "files", tmp_path / "s.zarr", f"{url}/slides", code=1, seconds=20))
    assert (tmp_path / "s.zarr/references.json").read_text() == before
    headrace("ingest", "files", tmp_path / "s.zarr", folder / "slides")
    assert hash_of(tmp_path, tmp_path / "s.zarr") == expected


def test_files_that_are_others_are_not_referred_to(folder, tmp_path):
    shutil.copytree(folder / "referring.zarr", tmp_path / "s.zarr")
    shutil.copytree(folder / "slides", tmp_path / "slides")
    before = (tmp_path / "s.zarr/references.json").read_text()
    raw = bytearray((tmp_path / "slides/CMU-1-Small-Region.svs").read_bytes())
    raw[1000] ^= 1
    (tmp_path / "slides/CMU-1-Small-Region.svs").write_bytes(raw)
    text = message_of(headrace("ingest", "files", tmp_path / "s.zarr", tmp_path / "slides", code=4))
    assert "CMU-1-Small-Region.svs: is not the file that was ingested" in text
    assert "says of no file that it has pixels" in message_of(headrace("ingest", "files", folder / "copied.zarr", tmp_path, code=2))
    assert (tmp_path / "s.zarr/references.json").read_text() == before


# What a client gets over, where it happens once; the others are errors at once.
PASSING = ["reset before header", "reset in body", "reset at the last byte", "200 for 206", "wrong content range", "no content range", "short", "long", "500", "503",
           "429", "hang", "drip", "gzip", "rst when idle"]
KINDS = ["header", "index", "tile"]
FINAL = ["wrong etag", "missing etag", "403", "redirect"]


@pytest.mark.parametrize("fault, kind", some([(fault, kind) for fault in PASSING for kind in KINDS], "passing faults of a server", kind=lambda case: case[1], few=5))
def test_what_passes_changes_no_byte(folder, expected, tmp_path, fault, kind):
    with serving(folder, Faults(fault, kind, every=2 if kind == "index" else 4)) as (url, faults):
        assert hash_of(tmp_path, f"{url}/copied.zarr", extra="stall_s: 1, give_up_s: 30") == expected
        assert faults.spoiled


@pytest.mark.parametrize("fault, kind", some([(fault, kind) for fault in PASSING + FINAL for kind in KINDS], "lasting faults of a server", kind=lambda case: case[1], few=5))
def test_what_stays_is_one_sentence_and_never_other_pixels(folder, expected, tmp_path, fault, kind):
    with serving(folder, Faults(fault, kind)) as (url, faults):
        done = subprocess.run([PROGRAM, "batches", "--config", config(tmp_path / "c.yaml", f"{url}/copied.zarr"), "--count", "3", "--json"],
                              capture_output=True, text=True, timeout=60)
    assert faults.seen
    if done.returncode == 0:  # a server without ETags; a connection that ends after each answer
        assert json.loads(done.stdout)["sha256"] == expected and fault in ("missing etag", "rst when idle", "wrong etag")
        return
    assert done.returncode in (1, 4) and url in sentence_of(done), done.stderr
    assert "secret" not in done.stderr, "a redirect may hold a signature"


def test_all_that_can_happen_at_once_changes_no_byte(folder, tmp_path):
    """A seventh of the answers goes wrong, each in its own way; some requests are under way twice."""
    class Chaos(Faults):
        random = random.Random(7)

        def of(self, path, span, kind):
            with self.lock:
                self.seen += 1
                draw = self.random.random()
            kinds = ["hang", "503", "reset in body", "short", "wrong content range", "long", "drip", "reset before header", "gzip"]
            return kinds[int(draw * 60)] if draw < len(kinds) / 60 else None

    def digest(store):
        return json_of("batches", "--config", config(tmp_path / "c.yaml", store, extra="stall_s: 3, give_up_s: 60"), "--count", 12, "--threads", 4)["sha256"]

    with serving(folder, Chaos()) as (url, faults):
        assert digest(f"{url}/copied.zarr") == digest(folder / "copied.zarr")
        assert faults.seen > 100


def test_requests_that_hang_are_made_twice(folder, expected, tmp_path):
    """Long before they are given up, and few."""
    with serving(folder, Faults("hang", "tile", every=8)) as (url, faults):
        done = json_of("batches", "--config", config(tmp_path / "c.yaml", f"{url}/copied.zarr", extra="stall_s: 30, give_up_s: 60"), "--count", 3)
    network = done["stall"]["network"]
    assert done["sha256"] == expected and faults.spoiled
    assert 0 < network["second_won"] <= network["made_twice"] <= 4 + network["requests"] / 50


def test_names_that_a_url_encodes(folder, tmp_path):
    """Slides of one folder by their URLs, and by a table of plain names below one; the store knows the plain ones."""
    (tmp_path / "up/ward 1").mkdir(parents=True)
    shutil.copy(folder / "slides/CMU-1-Small-Region.svs", tmp_path / "up/ward 1/a ü+%.svs")
    shutil.copy(folder / "slides/cmu-aperio-style-4level.svs", tmp_path / "up/ward 1/b#?.svs")
    (tmp_path / "cases.csv").write_text("file,image\na ü+%.svs,a\nb#?.svs,b\n")
    hashes = set()
    with serving(tmp_path / "up") as (url, _):
        host = url.removeprefix("http://")
        encoded = [f"{url}/ward%201/a%20%C3%BC+%25.svs", f"{url}/ward%201/b%23%3F.svs"]
        (tmp_path / "urls.csv").write_text(f"file,image\n{encoded[0]},a\n{encoded[1]},b\n")
        for words in (["--table", tmp_path / "cases.csv", f"{url}/ward%201"], ["--table", tmp_path / "urls.csv"], ["--table", tmp_path / "cases.csv", *encoded]):
            out = tmp_path / f"{len(hashes)}{words[1].stem}.zarr"
            hashes.add(json_of("--allow-host", host, "ingest", "slides", "--pixels", "reference", *words, "--out", out)["dataset_hash"])
            references = json.loads((out / "references.json").read_text())
            assert references["root"] == f"{url}/ward%201" and {one["file"] for one in references["images"].values()} == {"a ü+%.svs", "b#?.svs"}
            headrace("--allow-host", host, "verify", out)
            shutil.rmtree(out)
    assert len(hashes) == 1


def test_slides_that_stop_being_read_while_they_are_ingested(folder, tmp_path):
    """At their headers, stamps and tiles: one sentence, and no store."""
    class Ends(Faults):
        last = 10**9

        def refusal(self, path, lines):
            with self.lock:
                self.seen += 1
                return (403, "AccessDenied") if self.seen > self.last else None

    with serving(folder, Ends()) as (url, faults):
        slide = f"{url}/slides/CMU-1-Small-Region.svs"
        words = ["ingest", "slides", slide, "--pixels", "reference", "--jobs", 1, "--out"]
        headrace(*words, tmp_path / "whole.zarr")
        count = faults.seen
        assert count > 8
        for last in sorted({1, count - 1, *(count * part // 8 for part in range(1, 8))}):
            faults.seen, faults.last, out = 0, last, tmp_path / f"{last}.zarr"
            done = headrace(*words, out, code=1, seconds=60)
            assert f"{slide}: the server refuses access (403, AccessDenied)" in sentence_of(done)
            assert not (out / "manifest.json").exists()
            faults.seen = 0
            skipped = headrace(*words, out, folder / "slides/cmu-aperio-style-4level.svs", "--on-error", "skip", code=1, seconds=60)
            assert "one machine, one server" in sentence_of(skipped)


def test_what_was_asked_is_counted(folder, expected, tmp_path):
    with serving(folder, Faults("503", "tile", every=4)) as (url, faults):
        written = config(tmp_path / "c.yaml", f"{url}/copied.zarr", extra="stall_s: 30, give_up_s: 90")
        network = json_of("batches", "--config", written, "--count", 3)["stall"]["network"]
    twice = network["made_twice"]  # on a busy machine; the refusal of one of two is not waited for
    assert len(faults.spoiled) - twice <= network["refused"] <= len(faults.spoiled) and faults.spoiled
    assert network["refused"] - twice <= network["repeated"] <= network["refused"]
    assert network["requests"] <= len(faults.requests) and network["bytes"] > 100_000
    assert "network" not in json_of("batches", "--config", config(tmp_path / "c.yaml", folder / "copied.zarr"), "--count", 3)["stall"]


def test_an_object_that_is_replaced_is_an_error(folder, tmp_path):
    """Never old and new pixels together."""
    shutil.copytree(folder / "copied.zarr", tmp_path / "s.zarr")

    class Replaced(Faults):
        def of(self, path, span, kind):
            if kind == "tile" and len([one for one in self.requests if "/c/" in one[0]]) == 8:
                for file in (tmp_path / "s.zarr/images").rglob("c/0/0/0"):
                    os.utime(file, (1, 1))
            return super().of(path, span, kind)

    with serving(tmp_path, Replaced()) as (url, _):
        text = sentence_of(headrace("batches", "--config", config(tmp_path / "c.yaml", f"{url}/s.zarr"), "--count", 40, code=4))
    assert "was replaced since it was opened" in text


def test_requests_are_few(folder, expected, tmp_path):
    """Opening costs a handful; a shard's index is read once; neighbouring tiles are one range."""
    with serving(folder) as (url, faults):
        headrace("info", f"{url}/copied.zarr")
        opening = len(faults.requests)
        assert opening <= 20, faults.requests
        faults.requests.clear()
        assert hash_of(tmp_path, f"{url}/copied.zarr", "--threads", 1) == expected
        ends = [path for path, span in faults.requests if span is not None and span[1] + 1 == (folder / path.lstrip("/")).stat().st_size and "/c/" in path]
        assert ends and len(ends) == len(set(ends)), "the index of a shard is read once"


@pytest.mark.parametrize("url, reason", [("http://user:pass@h/s.zarr", "user or a password"), ("http://h/s.zarr?X-Amz-Signature=s", "query"), ("http:///s.zarr", "without a host"),
                                         ("ftp://h/s.zarr", "ftp is not supported")])
def test_urls_that_are_not_taken(url, reason):
    for command in ("info", "verify"):
        text = message_of(headrace(command, url, code=1 if url.startswith("ftp") else 2))
        assert reason in text and "pass" not in text.replace("password", "") and "Signature" not in text, text


def test_what_writes_says_that_the_place_is_read_alone(folder, tmp_path):
    with serving(folder) as (url, _):
        for words in (["ingest", "labels", f"{url}/copied.zarr", "--withdraw", "all"], ["prune", f"{url}/copied.zarr"]):
            done = headrace(*words, code=1)
            assert "HTTP" in sentence_of(done) or "URL" in sentence_of(done), done.stderr


def test_a_local_store_opens_no_connection(folder, tmp_path):
    trace = shutil.which("strace")
    if trace is None:
        pytest.skip("strace is not here")
    log = tmp_path / "trace"
    subprocess.run([trace, "-f", "-e", "trace=connect", "-o", log, PROGRAM, "batches", "--config", config(tmp_path / "c.yaml", folder / "copied.zarr"), "--count", "1"], check=True,
                   capture_output=True, timeout=120)
    assert "connect(" not in log.read_text()
    with serving(folder) as (url, _):
        port = url.rsplit(":", 1)[1]
        subprocess.run([trace, "-f", "-e", "trace=connect", "-o", log, PROGRAM, "batches", "--config", config(tmp_path / "c.yaml", f"{url}/copied.zarr"), "--count", "1"], check=True,
                       capture_output=True, timeout=120)
    made = re.findall(r"connect\(.*", log.read_text())
    assert made and all(f"htons({port})" in one and '"127.0.0.1"' in one for one in made), made


def test_a_training_on_a_server_gives_the_weights_of_a_local_one(nuclei, tmp_path):
    """And its run is evaluated and replayed from there."""
    local = trained(tmp_path, "local", nuclei_config(nuclei))
    with serving(nuclei.parent) as (url, _):
        store, host = f"{url}/{nuclei.name}", url.removeprefix("http://")
        remote = trained(tmp_path, "remote", nuclei_config(store))
        weights = sorted(path.relative_to(local) for path in local.rglob("*.safetensors"))
        assert weights and all((local / path).read_bytes() == (remote / path).read_bytes() for path in weights)
        assert json.loads((remote / "run.json").read_text())["store"] == store
        assert f'hosts: ["{host}"]' in sentence_of(headrace("eval", "--run", remote, code=2)), "a run's folder names no host"
        figures = [json_of(*words, "eval", "--run", run)["overall"] for words, run in ((["--allow-host", host], remote), ([], local))]
        assert figures[0] == figures[1]
        headrace("--allow-host", host, "replay", remote)
