"""An S3 server that checks signatures: Ceph's radosgw, with one monitor and one store in memory, on 127.0.0.1."""
import base64
import contextlib
import json
import os
import re
import secrets
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import uuid
from pathlib import Path
from typing import NamedTuple

import boto3
import pytest
from boto3.s3.transfer import TransferConfig, create_transfer_manager
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from local_servers import UNPACKED, free_port, installed

PROGRAMS = ("monmaptool", "osdmaptool", "ceph-mon", "ceph-osd", "radosgw", "radosgw-admin")
# For a program that must not find keys of whoever runs the tests.
NO_KEYS = {name: "" for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_REGION", "AWS_DEFAULT_REGION")}
LIMIT = 180  # seconds until it answers, on a busy machine
USER = "tester"
LIBRARIES = UNPACKED / "usr/lib/x86_64-linux-gnu"

# No daemon opens a socket in a folder or writes a log of its own: all that they print goes to files of ours. Objects lie in the memory of the OSD.
# Local keys are looked at before sessions: the other way round a wrong secret gives AccessDenied, where S3 gives SignatureDoesNotMatch.
CONFIG = """[global]
fsid = {fsid}
mon_host = [v2:127.0.0.1:{mon_port}]
mon_initial_members = a
public_network = 127.0.0.0/8
public_addr = 127.0.0.1
ms_bind_msgr1 = false
auth_cluster_required = cephx
auth_service_required = cephx
auth_client_required = cephx
auth_allow_insecure_global_id_reclaim = false
keyring = {state}/keyring
run_dir = {state}
mon_data = {state}/mon
osd_data = {state}/osd
rgw_data = {state}/rgw
crash_dir = {state}
admin_socket =
log_file =
log_to_stderr = true
mon_cluster_log_to_file = false
debug_rocksdb = 0
mon_allow_pool_size_one = true
mon_data_avail_warn = 0
mon_data_avail_crit = 0
paxos_propose_interval = 0.02
paxos_min_wait = 0.01
osd_objectstore = memstore
memstore_device_bytes = 8589934592
osd_crush_update_on_start = false
osd_pool_default_size = 1
osd_pool_default_min_size = 1
osd_pool_default_pg_num = 4
osd_pool_default_pgp_num = 4
osd_pool_default_pg_autoscale_mode = off
{plugins}
[client.rgw]
rgw_frontends = beast {listen} tcp_nodelay=1
rgw_dns_name = localhost
rgw_thread_pool_size = 32
rgw_override_bucket_index_max_shards = 1
rgw_dynamic_resharding = false
rgw_enable_usage_log = false
rgw_enable_gc_threads = false
rgw_enable_lc_threads = false
rgw_run_sync_thread = false
rgw_s3_auth_use_sts = true
rgw_s3_auth_order = local, sts
rgw_sts_key = {sts_key}
"""

PLUGINS = f"""plugin_dir = {LIBRARIES}/ceph
erasure_code_dir = {LIBRARIES}/ceph/erasure-code
osd_class_dir = {LIBRARIES}/rados-classes
"""

# Who may do what, in the words of a keyring.
CAPS = {
    "mon.": {"mon": "allow *"},
    "osd.0": {"mon": "allow profile osd", "osd": "allow *"},
    "client.admin": {"mon": "allow *", "osd": "allow *"},
    "client.rgw": {"mon": "allow rw", "osd": "allow rwx"},
}


class Keys(NamedTuple):
    """What a request is signed with; `token` is None for keys that last."""

    access_key: str
    secret_key: str
    token: str | None = None


def command(name):
    """How to start a program of Ceph. Unpacked, it needs one more folder of libraries than others."""
    found = installed(name)
    if found is None:
        pytest.skip(f"not run: {name} is neither installed nor unpacked: tools/deps/install.sh test unpacks Debian's radosgw, ceph-mon and ceph-osd on amd64")
    return [*found[:2], f"{found[2]}:{LIBRARIES}/ceph", found[3]] if len(found) > 1 else found


def keyring():
    """A secret for everybody, with which the monitor is made, so that nobody need be added later."""
    text = ""
    for who, caps in CAPS.items():
        secret = struct.pack("<HIIH", 1, int(time.time()), 0, 16) + secrets.token_bytes(16)  # AES, made at, length
        text += f"[{who}]\n\tkey = {base64.b64encode(secret).decode()}\n" + "".join(f'\tcaps {kind} = "{allowed}"\n' for kind, allowed in caps.items())
    return text


def certificate(folder, names):
    """cert.pem in this folder, and cert-and-key.pem for the server."""
    subject = ",".join(f"DNS:{name}" for name in names) + ",IP:127.0.0.1"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                    "-addext", f"subjectAltName={subject}", "-keyout", folder / "key.pem", "-out", folder / "cert.pem"], check=True, capture_output=True, timeout=60)
    (folder / "cert-and-key.pem").write_bytes((folder / "cert.pem").read_bytes() + (folder / "key.pem").read_bytes())


class Daemons:
    """Processes, each in a session of its own, that print into a folder. They end with this object, and when whoever started them dies."""

    def __init__(self, folder):
        self.folder, self.started, self.lasting, self.end = folder, [], {}, time.monotonic() + LIMIT
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("CEPH_")}

    def _start(self, name, *arguments):
        with open(self.folder / f"{name}.log", "ab") as log:
            process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *command(name), *map(str, arguments)], start_new_session=True, cwd=self.folder,
                                       env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        self.started.append(process)
        return process

    def lasts(self, name, *arguments):
        self.lasting[name] = self._start(name, *arguments)

    def run(self, name, *arguments):
        process = self._start(name, *arguments)
        self.until(lambda: process.poll() is not None, name)
        assert process.returncode == 0, f"{name} ended with {process.returncode}:\n{self.said()}"

    def until(self, ready, what):
        """Waits, as long as all run that should."""
        while not ready():
            ended = [name for name, process in self.lasting.items() if process.poll() is not None]
            assert not ended, f"{', '.join(ended)} ended while waiting for {what}:\n{self.said()}"
            assert time.monotonic() < self.end, f"no {what} within {LIMIT} s:\n{self.said()}"
            time.sleep(0.02)

    def said(self):
        return "\n".join(f"== {log.name}\n{log.read_text(errors='replace')[-2000:]}" for log in sorted(self.folder.glob("*.log")))

    def kill(self):
        """All at once and without a goodbye, at which the store would write all objects to disk."""
        for process in self.started:
            if process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
        for process in self.started:
            process.wait(60)


class S3Server:
    """Where the server is and the keys of its user, who may make buckets. What it was asked stands in `log`, one line with "beast:" for each request."""

    def __init__(self, folder, tls):
        self.port, self.log, self.sts_key = free_port(), folder / "radosgw.log", secrets.token_hex(8)
        self.endpoint = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}"
        self.ca_file = folder / "cert.pem" if tls else None
        self.keys = Keys("AK" + secrets.token_hex(9).upper(), "+/" + secrets.token_urlsafe(28))

    @property
    def access_key(self):
        return self.keys.access_key

    @property
    def secret_key(self):
        return self.keys.secret_key

    def environment(self, keys=None):
        """For a program that takes its keys from there; those of the user, or the given ones."""
        keys = keys or self.keys
        token = {"AWS_SESSION_TOKEN": keys.token} if keys.token else {}
        return {"AWS_ACCESS_KEY_ID": keys.access_key, "AWS_SECRET_ACCESS_KEY": keys.secret_key, **token}

    def client(self, service="s3", keys=None, config=None, **overrides):
        """A boto3 client, with path-style addresses; `config` and `overrides` change what they name."""
        keys = keys or self.keys
        own = Config(s3={"addressing_style": "path"}, request_checksum_calculation="when_required", response_checksum_validation="when_required", proxies={})
        options = {"endpoint_url": self.endpoint, "region_name": "us-east-1", "aws_access_key_id": keys.access_key, "aws_secret_access_key": keys.secret_key,
                   "aws_session_token": keys.token, "verify": self.ca_file and str(self.ca_file), "config": own.merge(config) if config else own}
        return boto3.Session().client(service, **options | overrides)

    def session_keys(self, seconds=900):
        """Keys of a session, by STS GetSessionToken. It gives none for less than 900 s: for fewer, also below zero, the time in its token is changed."""
        policy = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": ["sts:GetSessionToken"], "Resource": ["*"]}]}
        # Without spaces: a + in what is sent is refused.
        self.client("iam").put_user_policy(UserName=USER, PolicyName="sessions", PolicyDocument=json.dumps(policy, separators=(",", ":")))
        given = self.client("sts").get_session_token(DurationSeconds=max(seconds, 900))["Credentials"]
        token = given["SessionToken"] if seconds >= 900 else self._ending(given["SessionToken"], time.time() + seconds)
        return Keys(given["AccessKeyId"], given["SecretAccessKey"], token)

    def _ending(self, token, end):
        """The token with another end of its session, the first time in it. It is enciphered with sts_key."""
        opened = self._cipher("-d", base64.b64decode(token))
        ending = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(end)).encode()
        changed, count = re.subn(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?=[.\d]*Z)", ending, opened, count=1)
        assert count == 1, "the token holds the time of its end"
        return base64.b64encode(self._cipher("-e", changed)).decode()

    def _cipher(self, direction, data):
        return subprocess.run(["openssl", "enc", direction, "-aes-128-cbc", "-K", self.sts_key.encode().hex(), "-iv", b"cephsageyudagreg".hex()], input=data,
                              check=True, capture_output=True, timeout=60).stdout

    def upload(self, folder, bucket, prefix=""):
        """Every file under the folder, with / in its key as in its path; large ones in parts. The bucket is made when absent. Returns the address, s3://…"""
        client = self.client()
        client.create_bucket(Bucket=bucket)
        start = prefix.strip("/") + "/" if prefix.strip("/") else ""
        with create_transfer_manager(client, TransferConfig()) as manager:
            sent = [manager.upload(str(path), bucket, start + path.relative_to(folder).as_posix()) for path in sorted(Path(folder).rglob("*")) if path.is_file()]
            for one in sent:
                one.result()
        return f"s3://{bucket}/{start}".rstrip("/")


@contextlib.contextmanager
def radosgw(folder, tls=False, buckets=("slides",)):
    """A server of S3 without any bucket (S3Server). Its logs lie in `folder`, with TLS also the certificate, which names these buckets for virtual-host style.

    Virtual-host style: BUCKET.localhost with the server's port. curl resolves such names itself, Python leaves them to the system, which may not.
    Start it in a thread that lives as long as the server shall.
    """
    for name in PROGRAMS:
        command(name)
    folder = Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    server, daemons, state = S3Server(folder, tls), Daemons(folder), Path(tempfile.mkdtemp(prefix="headrace-s3-"))
    try:
        if tls:
            certificate(folder, ["localhost", *(f"{bucket}.localhost" for bucket in buckets)])
        start(server, daemons, state)
        yield server
    finally:
        daemons.kill()
        shutil.rmtree(state, ignore_errors=True)


def answers(client):
    """Whether it takes our keys, so also whether it is ours."""
    with contextlib.suppress(BotoCoreError, ClientError):
        return client.list_buckets()["Buckets"] == []
    return False


def start(server, daemons, state):
    """Makes a cluster in the folder `state`, and waits until the server takes the keys of its user."""
    cluster, mon_port = uuid.uuid4(), free_port()
    listen = f"ssl_endpoint=127.0.0.1:{server.port} ssl_certificate={daemons.folder}/cert-and-key.pem" if server.ca_file else f"endpoint=127.0.0.1:{server.port}"
    for name in ("mon", "osd", "rgw"):
        (state / name).mkdir()
    (state / "keyring").write_text(keyring())
    (state / "ceph.conf").write_text(CONFIG.format(fsid=cluster, mon_port=mon_port, state=state, listen=listen, sts_key=server.sts_key,
                                                   plugins="" if len(command("ceph-osd")) == 1 else PLUGINS))
    conf = ("--conf", state / "ceph.conf")
    daemons.run("monmaptool", *conf, "--create", "--fsid", cluster, "--addv", "a", f"[v2:127.0.0.1:{mon_port}]", state / "monmap")
    daemons.run("osdmaptool", *conf, "--createsimple", 1, state / "osdmap")
    daemons.run("ceph-mon", *conf, "-i", "a", "--mkfs", "--monmap", state / "monmap", "--osdmap", state / "osdmap", "--keyring", state / "keyring")
    daemons.lasts("ceph-mon", *conf, "-i", "a", "-f")
    daemons.run("ceph-osd", *conf, "-i", 0, "--mkfs", "--osd-uuid", uuid.uuid4())
    daemons.lasts("ceph-osd", *conf, "-i", 0, "-f")
    daemons.until(lambda: "booting -> active" in (daemons.folder / "ceph-osd.log").read_text(errors="replace"), "OSD that is up")  # a pool made earlier may take 5 s
    daemons.run("radosgw-admin", *conf, "user", "create", "--uid", USER, "--display-name", USER, "--access-key", server.access_key,
                f"--secret-key={server.secret_key}", "--caps", "user-policy=*")
    daemons.lasts("radosgw", *conf, "-n", "client.rgw", "-f")
    client = server.client(config=Config(connect_timeout=5, read_timeout=5, retries={"total_max_attempts": 1}))
    daemons.until(lambda: answers(client), "answer of radosgw")
