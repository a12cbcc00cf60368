"""Which connections are made, and what a server can do to a training that it tracks: nothing."""
import hashlib
import http.server
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import threading
import time

import pytest
from driving import PROGRAM, headrace, sentence_of
from killed_training import in_the_middle
from liars import Deaf, Liar
from trackers import Follower, copied, entry, free_port, small_config, track

needs_strace = pytest.mark.skipif(shutil.which("strace") is None, reason="not run: strace is not installed")


def connections(log):
    """Hosts and ports of every connect() to the internet."""
    found = re.findall(r'connect\(.*?sin6?_port=htons\((\d+)\).*?"([0-9a-f.:]+)"', log.read_text())
    return {(host, int(port)) for port, host in found}


@needs_strace
@pytest.mark.parametrize("to", ["mlflow", "wandb", "tensorboard"])
def test_only_the_named_host(trained_run, request, tmp_path, to):
    if to == "wandb":
        pytest.importorskip("wandb", reason="not run: the package wandb is not installed")
    run, log = copied(trained_run, tmp_path / "run"), tmp_path / "strace"
    server = request.getfixturevalue("mlflow") if to == "mlflow" else None
    where = ["--url", server.url] if server else []
    nowhere = "http://127.0.0.1:9"
    environment = {"http_proxy": nowhere, "HTTP_PROXY": nowhere, "https_proxy": nowhere, "WANDB_MODE": "online", "WANDB_BASE_URL": nowhere}
    subprocess.run(["strace", "-f", "-q", "-s", "256", "-e", "trace=connect", "-o", log, PROGRAM, "track", run, "--to", to, *where], check=True,
                   timeout=120, env=os.environ | environment, capture_output=True)
    assert connections(log) == ({("127.0.0.1", server.port)} if server else set())


@needs_strace
def test_followers_of_a_training_reach_only_the_named_host(nuclei, mlflow, tmp_path):
    """With the training itself, which connects to nothing; strace ends when the last follower has."""
    tracking = f"tracking:\n  - {{to: mlflow, url: \"{mlflow.url}\", experiment: alone, wait_s: 60}}\n  - {{to: tensorboard}}\n"
    run, log = tmp_path / "run", tmp_path / "strace"
    nowhere = "http://127.0.0.1:9"
    subprocess.run(["strace", "-f", "-q", "-s", "256", "-e", "trace=connect", "-o", log, PROGRAM, "train", "--config",
                    small_config(tmp_path, nuclei, tracking), "--out", run], check=True, timeout=240, capture_output=True,
                   env=os.environ | {"http_proxy": nowhere, "HTTP_PROXY": nowhere, "MLFLOW_TRACKING_URI": nowhere})
    assert connections(log) == {("127.0.0.1", mlflow.port)}
    assert mlflow.run("alone")["info"]["status"] == "FINISHED" and json.loads((run / "tracking/tensorboard.json").read_text())["closed"]


@pytest.mark.parametrize("how, told", [("fails", "answers 500"), ("babbles", "answers 200 and not what"), ("lies", "has no experiment"),
                                       ("has-null", "runs is not a list"), ("has-five", "runs is not a list"), ("digs", "answers 200 and not what"),
                                       ("redirects", "is not followed"), ("refuses", "MLFLOW_TRACKING_TOKEN"), ("floods", "more than 8 MiB"),
                                       ("echoes", "INVALID:")])
def test_a_server_that_lies(trained_run, liar, tmp_path, how, told):
    """It ends within its time, tells why, and says how to send the rest; the run that a redirect names is not asked."""
    handler, url = liar
    token = "sesame-71"
    other = type("Other", (Liar,), {"seen": [], "how": "fails"})
    second = http.server.ThreadingHTTPServer(("127.0.0.1", 0), other)
    threading.Thread(target=second.serve_forever, daemon=True).start()
    handler.how, handler.elsewhere = how, f"http://127.0.0.1:{second.server_address[1]}"
    run = copied(trained_run, tmp_path / "run")
    done = track(run, "--to", "mlflow", "--url", url, "--wait", 0, code=1, environment={"MLFLOW_TRACKING_TOKEN": token})
    second.shutdown()
    assert told in done.stderr and f"headrace track {run}" in done.stderr
    assert token not in done.stderr and "\x1b" not in done.stderr
    assert other.seen == [] and handler.seen and handler.seen[0][1]["Authorization"] == "Bearer sesame-71"
    assert all("sesame-71" not in path.read_text(errors="replace") for path in run.rglob("*") if path.is_file()) and "sesame" not in done.stderr


def test_a_token_from_a_file(trained_run, liar, tmp_path):
    """One that ends in a line feed is taken without it; one that can't be is refused, and not said."""
    handler, url = liar
    handler.how = "fails"
    run = copied(trained_run, tmp_path / "run")
    track(run, "--to", "mlflow", "--url", url, "--wait", 0, code=1, environment={"MLFLOW_TRACKING_TOKEN": "sesame-71\r\n"})
    assert handler.seen[0][1]["Authorization"] == "Bearer sesame-71"
    asked = len(handler.seen)
    done = track(run, "--to", "mlflow", "--url", url, "--wait", 0, code=2, environment={"MLFLOW_TRACKING_TOKEN": "sesame\n71"})
    assert "MLFLOW_TRACKING_TOKEN" in sentence_of(done) and "sesame" not in done.stderr and len(handler.seen) == asked


def test_a_server_that_drips(trained_run, liar, tmp_path):
    """Each byte comes in time, the answer never: a call is bounded as a whole."""
    handler, url = liar
    handler.how = "drips"
    program = "from headrace.track import client, __main__\nclient.CALL_S = 1\nimport sys\nsys.exit(__main__.main())"
    run = copied(trained_run, tmp_path / "run")
    done = subprocess.run([sys.executable, "-c", program, run, "--to", "mlflow", "--url", url, "--wait", "1"], capture_output=True, text=True,
                          timeout=60, env=os.environ | {"PYTHONPATH": str(PROGRAM.parent / "python")})
    assert done.returncode == 1 and "no answer within 1 s" in done.stderr, done.stderr


def test_what_failed_is_sent_later_by_the_command_that_was_named(trained_run, mlflow, tmp_path):
    run = copied(trained_run, tmp_path / "a run")
    mlflow.kill()
    try:
        done = track(run, "--to", "mlflow", "--url", mlflow.url, "--experiment", "later", "--wait", 0, code=1)
        assert f"sent by: headrace track '{run}'" in done.stderr
    finally:
        mlflow.start()
    track(run)
    assert mlflow.run("later")["info"]["status"] == "FINISHED"


@pytest.mark.parametrize("to, unknown", [("mlflow", "CERTIFICATE_VERIFY_FAILED"), ("wandb", "failed to verify certificate")])
def test_certificates_are_checked(trained_run, tmp_path, to, unknown):
    """A server with a certificate that nobody signed, then with that one named. W&B's package asks its server by itself."""
    if to == "wandb":
        pytest.importorskip("wandb", reason="not run: the package wandb is not installed")
    own = {"WANDB_API_KEY": "0" * 40}
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    if shutil.which("openssl") is None:
        pytest.skip("not run: openssl is not installed")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key,
                    "-out", certificate, "-days", "1", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
                   check=True, capture_output=True)
    handler = type("Handler", (Liar,), {"seen": [], "how": "fails"})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"https://127.0.0.1:{server.server_address[1]}"
    run = copied(trained_run, tmp_path / "run")
    done = track(run, "--to", to, "--url", url, "--wait", 0, code=1, environment=own)
    assert unknown in done.stderr and handler.seen == []
    done = track(run, "--to", to, "--url", url, "--wait", 0, "--ca-file", certificate, code=1, environment=own)
    assert "500" in done.stderr and handler.seen
    said = sentence_of(track(run, "--to", to, "--url", url, "--wait", 0, "--ca-file", key, code=2, environment=own))
    assert f"ca_file {key}: is no file of CA certificates" in said
    server.shutdown()


def weights(run):
    return hashlib.sha256((run / "final.safetensors").read_bytes()).hexdigest()


def test_a_training_does_not_feel_its_trackers(trained_run, nuclei, liar, tmp_path):
    """Four at once, none of which takes anything. Exit code, weights and metrics are those of the run without, and it does not wait for one."""
    handler, failing = liar
    handler.how = "fails"
    redirecting = http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("Other", (Liar,), {"seen": [], "how": "redirects", "elsewhere": failing}))
    threading.Thread(target=redirecting.serve_forever, daemon=True).start()
    run = tmp_path / "run"
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        ports = {"nobody-listens": free_port(), "never-answers": deaf.getsockname()[1], "fails": failing.rsplit(":")[-1],
                 "redirects": redirecting.server_address[1]}
        entries = "".join(f"  - {{to: mlflow, name: {name}, url: \"http://127.0.0.1:{port}\", wait_s: 1}}\n" for name, port in ports.items())
        headrace("train", "--config", small_config(tmp_path, nuclei, f"tracking:\n{entries}"), "--out", run)
        assert weights(run) == weights(trained_run)
        hashes = [json.loads((folder / "run.json").read_text())["config_hash"] for folder in (run, trained_run)]
        assert hashes[0] == hashes[1]
        assert "What is missing" not in (run / "tracking/never-answers.log").read_text()  # it still waits, and the training has ended
    deadline = time.time() + 60  # the deaf one is closed, so its follower need not wait for a call's longest time
    for name in ports:
        log = run / f"tracking/{name}.log"
        while "What is missing is sent by: headrace track" not in log.read_text():
            assert time.time() < deadline, log.read_text()
            time.sleep(0.1)
    redirecting.shutdown()


def test_tracking_may_change_on_resume(trained_run, nuclei, tmp_path):
    """A finished run that is resumed with a tracker gets sent."""
    run = copied(trained_run, tmp_path / "run")
    config = small_config(tmp_path, nuclei, "tracking:\n  - {to: tensorboard}\n")
    headrace("train", "--config", config, "--out", run, "--resume")
    deadline = time.time() + 60
    while not json.loads((run / "tracking/tensorboard.json").read_text() if (run / "tracking/tensorboard.json").exists() else "{}").get("closed"):
        assert time.time() < deadline
        time.sleep(0.1)
    assert len(list((run / "tracking/tensorboard").iterdir())) == 1


@pytest.mark.parametrize("wrong, told", [
    ("{to: mlflo, url: 'http://h'}", "mlflow"), ("{to: mlflow}", "needs a url"), ("{to: mlflow, url: 'ftp://h'}", "http://"),
    ("{to: mlflow, url: 'http://me:secret@h'}", "MLFLOW_TRACKING_USERNAME"), ("{to: mlflow, url: 'me:secret@h'}", "MLFLOW_TRACKING_USERNAME"),
    ("{to: mlflow, url: 'http://h/?token=secret'}", "MLFLOW_TRACKING_TOKEN"), ("{to: tensorboard, url: 'http://h'}", "writes files"),
    ("{to: mlflow, url: 'http://h', fields: [cases]}", "none of cohorts"), ("{to: mlflow, url: 'http://h', upload: [eval.json]}", "upload"),
    ("{to: wandb, tok: 1}", "tok"), ("{to: wandb, name: a/b}", "letters")])
def test_mistakes_in_a_config_are_found_first(nuclei, tmp_path, wrong, told):
    config = small_config(tmp_path, nuclei, f"tracking:\n  - {wrong}\n")
    said = sentence_of(headrace("train", "--config", config, "--out", tmp_path / "run", code=2))
    assert told in said and "secret" not in said and not (tmp_path / "run").exists()


@pytest.mark.parametrize("words, told", [(["--to", "mlflow"], "needs a url"), (["--url", "http://h"], "--to"), ([], "was sent nowhere yet"),
                                         (["--to", "mlflow", "--url", "http://me:secret@h"], "MLFLOW_TRACKING_USERNAME"),
                                         (["--to", "tensorboard", "--url", "http://h?token=secret"], "MLFLOW_TRACKING_TOKEN"),
                                         (["--to", "tensorboard", "--fields", "cases"], "none of cohorts")])
def test_mistakes_of_the_command(trained_run, tmp_path, words, told):
    run = copied(trained_run, tmp_path / "run")
    said = sentence_of(track(run, *words, code=2))
    assert told in said and "secret" not in said
    assert not (run / "tracking").exists()


def test_two_followers_of_one_target(trained_run, liar, tmp_path):
    """The second waits; what goes on after its run's end gives way to it."""
    handler, url = liar
    handler.how = "fails"
    run = copied(trained_run, tmp_path / "run")
    first = Follower(run, entry(url=url, wait_s=60))
    first._close()  # its training has ended, and it tries on
    deadline = time.time() + 30
    while not handler.seen:
        assert time.time() < deadline
        time.sleep(0.05)
    second = Follower(run, entry(url=url, wait_s=0))
    assert first.process.wait(timeout=60) == 1 and second.finish() == 1


def test_one_that_waited_in_vain_is_not_waited_for(trained_run, liar, tmp_path):
    """What a waiting follower that was killed left behind does not end the first one's tries."""
    handler, url = liar
    handler.how = "fails"
    run = copied(trained_run, tmp_path / "run")
    (run / "tracking").mkdir()
    (run / "tracking/.mlflow.wanted").touch()
    os.utime(run / "tracking/.mlflow.wanted", (1.7e9, 1.7e9))
    first = Follower(run, entry(url=url, wait_s=2))
    time.sleep(0.5)
    (run / "tracking/.mlflow.wanted").touch()
    os.utime(run / "tracking/.mlflow.wanted", (1.7e9, 1.7e9))
    assert first.finish() == 1
    said = (run / "follower.log").read_text()
    assert "What is missing is sent by" in said and "leaves the rest" not in said


@pytest.mark.parametrize("state", [
    "[]", "{}", '{"format": 1, "target": 5}', '{"format": 1, "target": {"to": "tensorboard"}}', "\udcff", '{"format": 1'])
def test_a_damaged_state(trained_run, tmp_path, state):
    run = copied(trained_run, tmp_path / "run")
    (run / "tracking").mkdir()
    (run / "tracking/tensorboard.json").write_text(state, errors="surrogateescape")
    said = sentence_of(track(run, "--to", "tensorboard", code=1))
    assert "tracking/tensorboard.json" in said and "Move the file away" in said


@pytest.mark.parametrize("knows", [True, False])
def test_wandb_and_a_server_that_goes_deaf(trained_run, tmp_path, knows):
    """Its package would wait for ever: it gives up, says so, nothing counts as sent, and no process of the package goes on, which would hold the pipe
    that is read here. Both where the server still says who one is, and not."""
    pytest.importorskip("wandb", reason="not run: the package wandb is not installed")
    handler = type("Handler", (Deaf,), {"seen": [], "over": threading.Event(), "knows": knows})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    run = copied(trained_run, tmp_path / "run")
    program = "from headrace.track import wandb, __main__\nwandb.CALL_S = 5.0\nimport sys\nsys.exit(__main__.main())"
    try:
        done = subprocess.run([sys.executable, "-c", program, run, "--to", "wandb", "--url", f"http://127.0.0.1:{server.server_address[1]}",
                               "--wait", "3"], capture_output=True, text=True, timeout=120,
                              env=os.environ | {"PYTHONPATH": str(PROGRAM.parent / "python"), "WANDB_API_KEY": "0" * 40})
    finally:
        handler.over.set()
        server.shutdown()
    assert done.returncode == 1 and "Traceback" not in done.stderr, done.stderr
    assert f"is sent by: headrace track {run}" in done.stderr
    assert any("file_stream" in one for one in handler.seen), "it was to be deaf when figures came"
    state = json.loads((run / "tracking/wandb.json").read_text())
    assert state["sent"] == {} and state["pending"] is None


@pytest.mark.parametrize("how", ["moved", "removed", "replaced"])
def test_a_run_folder_that_is_gone(trained_run, liar, tmp_path, how):
    """It is not made again: its follower ends, and says why."""
    handler, url = liar
    handler.how = "fails"
    run = copied(trained_run, tmp_path / "runs/run")
    follower = Follower(run, entry(url=url, wait_s=60))
    deadline = time.time() + 30
    while not handler.seen:
        assert time.time() < deadline
        time.sleep(0.05)
    log = tmp_path / "said"
    os.link(run / "follower.log", log)
    run.rename(tmp_path / "elsewhere")
    if how == "removed":
        shutil.rmtree(tmp_path / "elsewhere")
    if how == "replaced":
        run.mkdir()
    assert follower.finish() == 1
    assert "the run folder is gone" in log.read_text() and "Traceback" not in log.read_text()
    assert list((tmp_path / "runs").iterdir()) == ([run] if how == "replaced" else [])
    assert how != "replaced" or not list(run.iterdir())


def test_only_its_own_last_words_are_told(nuclei, tmp_path):
    """The log is of all followers of a run. One that ends without a word, after a resume, is not told by those of another."""
    config, run = small_config(tmp_path, nuclei, "tracking:\n  - {to: tensorboard}\n", batches=150), tmp_path / "run"
    training = subprocess.Popen([PROGRAM, "train", "--config", config, "--out", run], stderr=subprocess.DEVNULL)
    deadline = time.time() + 60
    while not in_the_middle(run):
        assert training.poll() is None and time.time() < deadline
        time.sleep(0.01)
    training.kill()
    training.wait(timeout=60)
    with open(run / "tracking/tensorboard.log", "a") as log:
        log.write("headrace: the words of another.\n")
    said = headrace("train", "--config", config, "--out", run, "--resume", environment={"HEADRACE_PYTHON": "/bin/false"}).stderr
    assert "is not followed any more: exit code 1; see" in said and "the words of another" not in said
