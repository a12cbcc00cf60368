"""Stores and slides in buckets of a real S3 server: the bytes of local ones, signed, and nothing secret left anywhere."""
import json
import os
import re
import shutil
import subprocess
import sys
import time
from datetime import datetime, timezone
from email.utils import formatdate
from unittest import mock

import pytest
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from driving import PROGRAM, headrace, json_of, message_of, sentence_of, version_of, write_table
from http_server import Faults, kind_of, serving
from made_once import made_once
from predictions import nuclei_config, slide_config, trained
from s3_server import NO_KEYS, radosgw
from test_http import config, make_stores
from test_pixels_by_reference import KINDS, make_inputs


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return made_once(tmp_path_factory, "served", make_stores)


@pytest.fixture(scope="module")
def server(folder, tmp_path_factory):
    with radosgw(tmp_path_factory.mktemp("radosgw")) as server:
        server.upload(folder, "slides")
        yield server


def section(server, extra=""):
    return f"stall_s: 5, give_up_s: 20, s3: {{endpoint: '{server.endpoint}'{extra}}}"


def hash_of(folder, store, network, environment, *arguments):
    written = config(folder / "c.yaml", store, extra=network)
    return json_of("batches", "--config", written, "--count", 3, *arguments, environment=NO_KEYS | environment)["sha256"]


@pytest.fixture(scope="module")
def expected(folder, tmp_path_factory):
    return hash_of(tmp_path_factory.mktemp("local"), folder / "copied.zarr", "stall_s: 5", {})


def on_command_line(server, *words, code=0, environment=None):
    return headrace("--s3-endpoint", server.endpoint, *words, code=code, environment=NO_KEYS | server.environment() | (environment or {}))


def test_a_store_in_a_bucket_gives_the_batches_of_a_local_one(server, folder, expected, tmp_path):
    for threads in (1, 4):
        assert hash_of(tmp_path, "s3://slides/copied.zarr", section(server), server.environment(), "--threads", threads) == expected
    on_command_line(server, "verify", "s3://slides/copied.zarr")
    assert on_command_line(server, "info", "s3://slides/copied.zarr").stdout == headrace("info", folder / "copied.zarr").stdout


def test_the_name_of_the_bucket_in_the_host(server, expected, tmp_path):
    network = f"s3: {{endpoint: 'http://localhost:{server.port}', addressing: host}}"
    assert hash_of(tmp_path, "s3://slides/copied.zarr", network, server.environment()) == expected


def test_tls(folder, expected, tmp_path):
    with radosgw(tmp_path / "server", tls=True) as server:
        server.upload(folder / "copied.zarr", "slides", "copied.zarr")
        network = section(server) + f", ca_file: '{server.ca_file}'"
        assert hash_of(tmp_path, "s3://slides/copied.zarr", network, server.environment()) == expected
        written = config(tmp_path / "c.yaml", "s3://slides/copied.zarr", extra=section(server))
        assert "certificate" in sentence_of(headrace("batches", "--config", written, code=1, environment=NO_KEYS | server.environment())).lower()


def test_keys_of_a_session_of_a_profile_and_none(server, expected, tmp_path):
    keys = server.session_keys()
    assert hash_of(tmp_path, "s3://slides/copied.zarr", section(server), server.environment(keys)) == expected
    file = tmp_path / "credentials"
    file.write_text(f"\ufeff# of the site\n[other]\naws_access_key_id = no\n[ site ] # ours\naws_access_key_id={server.access_key}\naws_secret_access_key = {server.secret_key}\n")
    assert hash_of(tmp_path, "s3://slides/copied.zarr", section(server, ", profile: site"), {"AWS_SHARED_CREDENTIALS_FILE": str(file)}) == expected
    for profile, said in (("none", "has no profile [none]"), ("other", "needs both aws_access_key_id and aws_secret_access_key")):
        written = config(tmp_path / "c.yaml", "s3://slides/copied.zarr", extra=section(server, f", profile: {profile}"))
        assert said in sentence_of(headrace("batches", "--config", written, code=2, environment=NO_KEYS | {"AWS_SHARED_CREDENTIALS_FILE": str(file)}))
    policy = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": "*", "Action": ["s3:GetObject", "s3:ListBucket"], "Resource": ["arn:aws:s3:::open", "arn:aws:s3:::open/*"]}]}
    client = server.client()
    client.create_bucket(Bucket="open")
    client.put_bucket_policy(Bucket="open", Policy=json.dumps(policy, separators=(",", ":")))
    server.upload(folder_of(server, tmp_path), "open", "copied.zarr")
    assert hash_of(tmp_path, "s3://open/copied.zarr", section(server, ", anonymous: true"), {}) == expected


def folder_of(server, tmp_path):
    """A copy of the store, from the bucket."""
    client, out = server.client(), tmp_path / "copy"
    for page in client.get_paginator("list_objects_v2").paginate(Bucket="slides", Prefix="copied.zarr/"):
        for entry in page["Contents"]:
            path = out / entry["Key"].removeprefix("copied.zarr/")
            path.parent.mkdir(parents=True, exist_ok=True)
            client.download_file("slides", entry["Key"], str(path))
    return out


def test_what_is_refused_is_one_sentence(server, tmp_path):
    keys = server.environment()
    expired = server.environment(server.session_keys(-60))
    for words, environment, code, said in [
            (["info", "s3://slides/copied.zarr"], keys | {"AWS_SECRET_ACCESS_KEY": "another"}, 1, "(403, "),
            (["info", "s3://slides/copied.zarr"], keys | {"AWS_ACCESS_KEY_ID": "nobody"}, 1, "(403, "),
            (["info", "s3://slides/copied.zarr"], expired, 1, "403"),
            (["info", "s3://nowhere/copied.zarr"], keys, 1, "no such bucket"),
            (["info", "s3://slides/none.zarr"], keys, 1, "none.zarr"),
            (["info", "s3:///copied.zarr"], keys, 2, "no name of a bucket"),
            (["info", "s3://slides//copied.zarr"], keys, 2, "keys with empty parts"),
            (["info", "s3://slides/../whole/copied.zarr"], keys, 2, "keys with empty parts, '.' or '..'"),
            (["info", f"s3://{server.access_key}:{server.secret_key}@slides/copied.zarr"], keys, 2, "s3://…@…: a URL with a user or a password is not taken"),
            (["info", "s3://slides/copied.zarr"], keys | {"AWS_REGION": "eu\r\nX-Evil: 1"}, 2, "a region of S3 is a word"),
            (["info", "s3://slides/copied.zarr"], {"HOME": str(tmp_path)}, 2, "there are no keys of S3"),
            (["info", "s3://slides/copied.zarr"], keys | {"AWS_ACCESS_KEY_ID": "a\nb"}, 2, "a blank or a line break")]:
        done = headrace("--s3-endpoint", server.endpoint, *words, code=code, environment=NO_KEYS | environment)
        assert said in message_of(done), done.stderr
        assert not any(value in done.stderr for name, value in environment.items() if name.startswith("AWS_") and len(value) > 12), "keys are in no sentence"
    by_environment = NO_KEYS | keys | {"AWS_ENDPOINT_URL": server.endpoint}
    said = message_of(headrace("info", "s3://slides/copied.zarr", code=2, environment=by_environment))
    assert f"lies at 127.0.0.1:{server.port}, to which no connection is opened unless you name it" in said
    headrace("--allow-host", f"127.0.0.1:{server.port}", "info", "s3://slides/copied.zarr", environment=by_environment)
    said = message_of(headrace("info", "s3://slides/copied.zarr", code=2, environment=NO_KEYS | keys | {"AWS_REGION": "eu-central-1"}))
    assert "s3.eu-central-1.amazonaws.com:443" in said
    for endpoint in ("s3.site", "user:SECRET@s3.site:9000", "https://user:SECRET@s3.site"):
        said = message_of(headrace("--s3-endpoint", endpoint, "info", "s3://slides/x", code=2, environment=NO_KEYS))
        assert "SECRET" not in said and ("no endpoint of S3" in said or "is not taken" in said)
    said = message_of(headrace("--s3-endpoint", server.endpoint, "info", "s3://slides/x", code=2, environment=NO_KEYS | {"AWS_PROFILE": "ward", "HOME": str(tmp_path)}))
    assert "the profile [ward]" in said and ".aws/credentials is not there" in said


def test_slides_that_were_never_here(server, tmp_path):
    """A store by reference of slides in a bucket is that of the same slides on disk; so are its batches."""
    inputs = tmp_path / "inputs"
    inputs.mkdir()
    make_inputs(inputs)
    server.upload(inputs, "whole", "ward 1/ü+=")
    rows = [{"file": file.name, "case": file.stem} for file in sorted(inputs.iterdir())]
    assert len(rows) == len(KINDS)
    relative = write_table(tmp_path / "cases.csv", rows)
    urls = write_table(tmp_path / "urls.csv", [row | {"file": f"s3://whole/ward 1/ü+=/{row['file']}"} for row in rows])
    ingest = ["ingest", "slides", "--pixels", "reference", "--mpp", 0.5, "--table"]
    local = json_of(*ingest, relative, inputs, "--out", tmp_path / "local.zarr")["dataset_hash"]
    environment = NO_KEYS | server.environment()
    for name, words in (("by-url", [urls]), ("below", [relative, "s3://whole/ward 1/ü+="])):
        out = tmp_path / f"{name}.zarr"
        done = json_of("--s3-endpoint", server.endpoint, *ingest, *words, "--out", out, environment=environment)
        assert done["dataset_hash"] == local
        references = json.loads((out / "references.json").read_text())
        assert references["root"] == "s3://whole/ward 1/ü+="
        assert {entry["file"] for entry in references["images"].values()} == {row["file"] for row in rows}
    assert hash_of(tmp_path, tmp_path / "below.zarr", section(server), server.environment()) == hash_of(tmp_path, tmp_path / "local.zarr", "stall_s: 5", {})
    on_command_line(server, "verify", tmp_path / "below.zarr")
    copied = json_of("--s3-endpoint", server.endpoint, "ingest", "slides", "s3://whole/ward 1/ü+=/one.svs", "--out", tmp_path / "copied.zarr", environment=environment)
    assert copied["dataset_hash"] == json_of("ingest", "slides", inputs / "one.svs", "--out", tmp_path / "here.zarr")["dataset_hash"]
    done = headrace("--s3-endpoint", server.endpoint, "ingest", "slides", "--pixels", "reference", inputs / "one.svs", "s3://whole/ward 1/ü+=/dense.svs", "--out", tmp_path / "mixed.zarr",
                    code=1, environment=environment)
    assert "one machine, one server or one bucket" in sentence_of(done) and not (tmp_path / "mixed.zarr").exists()
    done = headrace("--s3-endpoint", server.endpoint, "ingest", "slides", "--pixels", "reference", "s3://whole/none.svs", "--out", tmp_path / "none.zarr", code=1, environment=environment)
    assert "s3://whole/none.svs" in sentence_of(done) and "no such object" in sentence_of(done)


def test_a_training_on_slides_in_a_bucket(server, tmp_path):
    """Never downloaded: the weights are those of a training on the same slides here, and no other host is spoken to."""
    headrace("phantom", "slides", "--out", tmp_path / "in", "--count", 6, "--size", 1500, "--scanners", 1, "--seed", 3)
    (tmp_path / "here").mkdir()
    (tmp_path / "in/slides").rename(tmp_path / "here/slides")
    server.upload(tmp_path / "here", "phantoms")
    environment = NO_KEYS | server.environment()
    ingest = ["ingest", "slides", "--pixels", "reference", "--table", tmp_path / "in/cases.csv", "--out"]
    for name, words in (("near", [tmp_path / "here"]), ("far", ["s3://phantoms"])):
        headrace("--s3-endpoint", server.endpoint, *ingest, tmp_path / f"{name}.zarr", *words, environment=environment)
    shutil.rmtree(tmp_path / "in")
    assert version_of(tmp_path / "near.zarr") == version_of(tmp_path / "far.zarr")
    near = trained(tmp_path, "near", slide_config(tmp_path / "near.zarr", batches=10, epochs=1))
    shutil.rmtree(tmp_path / "here")
    far = tmp_path / "far"
    (tmp_path / "far.yaml").write_text(slide_config(tmp_path / "far.zarr", batches=10, epochs=1) + f"network: {{s3: {{endpoint: '{server.endpoint}'}}}}\n")
    words = [PROGRAM, "train", "--config", tmp_path / "far.yaml", "--out", far]
    trace = shutil.which("strace")
    done = subprocess.run([*([trace, "-f", "-e", "trace=connect", "-o", tmp_path / "trace"] if trace else []), *words], capture_output=True, text=True, timeout=600, env=os.environ | environment)
    assert done.returncode == 0, done.stderr[-2000:]
    weights = sorted(path.relative_to(near) for path in near.rglob("*.safetensors"))
    assert weights and all((near / path).read_bytes() == (far / path).read_bytes() for path in weights)
    made = re.findall(r"connect\(.*", (tmp_path / "trace").read_text()) if trace else []
    assert all(f"htons({server.port})" in one and '"127.0.0.1"' in one for one in made) and (made or not trace), made


@pytest.mark.parametrize("versions", [False, True])
def test_an_object_that_is_replaced(server, folder, tmp_path, versions):
    """A bucket that keeps versions gives those that were opened; else it is an error, never old and new pixels together."""
    bucket, client = f"replaced-{versions}".lower(), server.client()
    client.create_bucket(Bucket=bucket)
    if versions:
        client.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    server.upload(folder / "copied.zarr", bucket, "s.zarr")
    key = next(entry["Key"] for entry in client.list_objects_v2(Bucket=bucket, Prefix="s.zarr/images/CMU-1-Small-Region/0/c/")["Contents"])
    reader = subprocess.Popen([sys.executable, "-c", READER, server.endpoint, f"s3://{bucket}/s.zarr"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                              env=os.environ | NO_KEYS | server.environment() | {"PYTHONPATH": str(PROGRAM.parent / "python")})
    try:
        assert reader.stdout.readline() == "read\n"
        body = client.get_object(Bucket=bucket, Key=key)["Body"].read()
        client.put_object(Bucket=bucket, Key=key, Body=bytes(len(body) - 100) + body[-100:])
        said, _ = reader.communicate("go on\n", timeout=120)
    finally:
        reader.kill()
    assert said == "the same\n" if versions else "was replaced since it was opened" in said


READER = """
import sys, headrace
headrace.use_s3(sys.argv[1])
image = headrace.open(sys.argv[2])["CMU-1-Small-Region"]
before = image.read(0, (1000, 1000), (64, 64)).tobytes()
print("read", flush=True)
sys.stdin.readline()
try:
    print("the same" if image.read(0, (1000, 1000), (64, 64)).tobytes() == before else "others")
except headrace.Error as error:
    print(error)
"""


class Site(Faults):
    """An S3 server of a folder, whose subfolders are buckets, that looks at what is signed: by the clock, and by keys that may end."""

    def __init__(self, ahead_s=0, fresh=None, renew=None):
        super().__init__()
        self.ahead_s, self.fresh, self.renew, self.refused, self.lines = ahead_s, fresh, renew, 0, []

    def date(self):
        return formatdate(time.time() + self.ahead_s, usegmt=True)

    def refusal(self, path, lines):
        """(status, code) of an answer, or None."""
        with self.lock:
            self.lines.append((path, dict(lines)))
            signed = datetime.strptime(lines["x-amz-date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=timezone.utc).timestamp()
            if abs(signed - time.time() - self.ahead_s) > 900:
                self.refused += 1
                return 403, "RequestTimeTooSkewed"
            if self.fresh is not None and lines.get("x-amz-security-token") != self.fresh:
                self.refused += 1
                if self.renew and self.refused == 3:
                    self.renew()
                return 400, "ExpiredToken"
        return None


KEYS = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI+K7MDENG+bPxRfiCYEXAMPLEKEY"}


def test_signatures_are_those_of_botocore(folder, tmp_path):
    odd = tmp_path / "bucket" / "a b+ü~=%20&(1)"
    shutil.copytree(folder / "copied.zarr", odd)
    with serving(tmp_path, Site()) as (url, site):
        headrace("--s3-endpoint", url, "info", "s3://bucket/a b+ü~=%20&(1)", environment=NO_KEYS | KEYS | {"AWS_REGION": "eu-north-1", "AWS_SESSION_TOKEN": "token/+="})
    assert len(site.lines) > 3
    for path, lines in site.lines:
        signed = re.search(r"SignedHeaders=([^,]*)", lines["authorization"])[1].split(";")
        request = AWSRequest("GET", url + path, headers={name: lines[name] for name in signed if name not in ("x-amz-date", "x-amz-security-token", "x-amz-content-sha256")})
        request.context["payload_signing_enabled"] = True
        signer = S3SigV4Auth(Credentials(KEYS["AWS_ACCESS_KEY_ID"], KEYS["AWS_SECRET_ACCESS_KEY"], "token/+="), "s3", "eu-north-1")
        moment = datetime.strptime(lines["x-amz-date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=timezone.utc)
        with mock.patch("botocore.auth.get_current_datetime", return_value=moment, create=True):
            signer.add_auth(request)
        assert request.headers["Authorization"] == lines["authorization"]


@pytest.mark.parametrize("ahead_s", [1200, -1200])
def test_a_clock_that_is_wrong(folder, expected, tmp_path, ahead_s):
    """Requests are signed by the server's clock, once it is known."""
    with serving(folder.parent, Site(ahead_s)) as (url, site):
        assert hash_of(tmp_path, f"s3://{folder.name}/copied.zarr", f"s3: {{endpoint: '{url}'}}", KEYS) == expected
    assert 0 < site.refused <= 64, "the first requests, which went out together"


def test_keys_that_are_renewed_while_it_reads(folder, expected, tmp_path):
    file = tmp_path / "credentials"

    def write(token):
        (tmp_path / "new").write_text(f"[default]\naws_access_key_id=a\naws_secret_access_key=b\naws_session_token={token}\n")
        (tmp_path / "new").replace(file)

    write("old")
    with serving(folder.parent, Site(fresh="new", renew=lambda: write("new"))) as (url, site):
        store, network = f"s3://{folder.name}/copied.zarr", f"give_up_s: 30, s3: {{endpoint: '{url}'}}"
        assert hash_of(tmp_path, store, network, {"AWS_SHARED_CREDENTIALS_FILE": str(file)}) == expected
        assert site.refused >= 3
        done = headrace("batches", "--config", tmp_path / "c.yaml", "--count", 1, code=1, environment=NO_KEYS | KEYS | {"AWS_SESSION_TOKEN": "old"}, seconds=20)
        assert "the keys have expired (400, ExpiredToken); renew them" in sentence_of(done)


REFUSALS = [(400, "ExpiredToken", "the keys have expired"), (403, "InvalidAccessKeyId", "does not know these keys"), (403, "AccessDenied", "may not read it"),
            (403, "AccountProblem", "refuses access (403, AccountProblem)"), (400, "AuthorizationHeaderMalformed", "400, AuthorizationHeaderMalformed")]


@pytest.mark.parametrize("kind", ["header", "index", "tile"])
@pytest.mark.parametrize("status, code, said", REFUSALS)
def test_what_stays_refused_is_one_sentence(folder, tmp_path, status, code, said, kind):
    """At headers, indexes and tiles alike; nothing is repeated for it."""
    class Refuses(Site):
        def refusal(self, path, lines):
            span = lines["range"].removeprefix("bytes=")
            if kind_of(path, None if span.startswith("-") else int(span.split("-")[0])) != kind:
                return None
            self.refused += 1
            return status, code

    with serving(folder.parent, Refuses()) as (url, site):
        written = config(tmp_path / "c.yaml", f"s3://{folder.name}/copied.zarr", extra=f"s3: {{endpoint: '{url}'}}")
        done = headrace("batches", "--config", written, "--count", 3, code=1, environment=NO_KEYS | KEYS, seconds=60)
    assert said in sentence_of(done) and f"s3://{folder.name}/copied.zarr" in done.stderr and 0 < site.refused <= 64


def test_a_bucket_of_another_region(folder, tmp_path):
    class Elsewhere(Site):
        def refusal(self, path, lines):
            return 301, "PermanentRedirect"

        def fields(self):
            return {"x-amz-bucket-region": "eu-west-3", "Location": "https://elsewhere.invalid/"}

    with serving(folder.parent, Elsewhere()) as (url, _):
        done = headrace("--s3-endpoint", url, "info", f"s3://{folder.name}/copied.zarr", code=2, environment=NO_KEYS | KEYS)
    assert 'network: {s3: {region: "eu-west-3"}}' in message_of(done) and "elsewhere" not in done.stderr


def test_a_policy_that_allows_no_versions(folder, expected, tmp_path):
    """The ETag tells versions where s3:GetObjectVersion is not allowed."""
    class Versions(Site):
        def refusal(self, path, lines):
            return (403, "AccessDenied") if "versionId=" in path else None

    with serving(folder.parent, Versions()) as (url, site):
        site.version = "v1"
        assert hash_of(tmp_path, f"s3://{folder.name}/copied.zarr", f"s3: {{endpoint: '{url}'}}", KEYS) == expected


def test_keys_are_nowhere(server, nuclei, tmp_path):
    """In no file of a run, no line of output, and no argument."""
    server.upload(nuclei, "nuclei", nuclei.name)
    keys = server.session_keys()
    environment = NO_KEYS | server.environment(keys)
    written = nuclei_config(f"s3://nuclei/{nuclei.name}", f"network: {{s3: {{endpoint: '{server.endpoint}'}}}}\n")
    local, remote = trained(tmp_path, "local", nuclei_config(nuclei)), trained(tmp_path, "remote", written, environment=environment)
    weights = sorted(path.relative_to(local) for path in local.rglob("*.safetensors"))
    assert weights and all((local / path).read_bytes() == (remote / path).read_bytes() for path in weights)
    texts = b"".join(path.read_bytes() for path in remote.rglob("*") if path.is_file())
    assert b"s3://nuclei" in texts
    for secret in (keys.access_key, keys.secret_key, keys.token):
        assert secret.encode() not in texts and secret.replace("/", "\\/").encode() not in texts
