"""headrace send: a real PACS (Orthanc) gets the objects, and every way in which a peer may fail ends in one sentence."""
import contextlib
import io
import json
import random
import re
import shutil
import socket
import subprocess
import threading
import time

import pydicom
import pynetdicom
import pytest
from ct_inputs import STS
from driving import PROGRAM, headrace, sentence_of
from local_servers import free_port
from matrices import times

KILLS = times(6, 3, "kills of send", "HEADRACE_KILLS")

LABEL_MAP = "1.2.840.10008.5.1.4.1.1.66.7"


def send(*arguments, **options):
    return headrace("send", *arguments, **options)


def object_of(folder, name, **changes):
    """A slice of the series with other attributes."""
    dataset = pydicom.dcmread(sorted(STS.iterdir())[0])
    for key, value in changes.items():
        setattr(dataset, key, value)
    dataset.file_meta.MediaStorageSOPClassUID = dataset.SOPClassUID
    dataset.file_meta.MediaStorageSOPInstanceUID = dataset.SOPInstanceUID
    folder.mkdir(exist_ok=True)
    dataset.save_as(folder / name)
    return folder / name


def many(folder, count):
    for i in range(count):
        object_of(folder, f"{i:05}.dcm", SOPInstanceUID=f"1.2.3.4.5.{i + 1}")
    return folder


def test_series_arrives_as_it_is_and_once(orthanc, tmp_path):
    server = orthanc()
    shutil.copytree(STS, tmp_path / "image")
    (tmp_path / "image" / "notes.txt").write_text("not DICOM")
    (tmp_path / "image" / "empty").touch()
    slices = len(list(STS.iterdir()))
    facts = json.loads(send(tmp_path / "image", "--to", server.to, "--json").stdout)
    assert facts["stored"] == slices and facts["skipped"] == 2 and facts["commitment"] is None
    assert {file["outcome"] for file in facts["files"]} == {"stored"} and {file["status"] for file in facts["files"]} == {0}
    assert len(server.get("studies")) == 1 and len(server.get("series")) == 1 and server.count() == slices

    sent = {d.SOPInstanceUID: d for d in map(pydicom.dcmread, STS.iterdir())}
    for number in server.get("instances"):
        there = pydicom.dcmread(io.BytesIO(server.get(f"instances/{number}/file", binary=True)))
        here = sent.pop(there.SOPInstanceUID)
        assert there.PixelData == here.PixelData
        assert there.file_meta.TransferSyntaxUID == here.file_meta.TransferSyntaxUID
        assert there == here  # every element
    assert not sent

    done = send(STS, "--to", server.to)
    assert server.count() == slices
    assert f"{slices} of {slices} files were stored" in done.stdout
    assert done.stdout.count("stored /") == slices


def test_each_transfer_syntax_is_kept(orthanc, tmp_path):
    """One association, several syntaxes: the compressed frames arrive byte by byte."""
    server, sent = orthanc(), {}
    for i, path in enumerate(sorted((STS.parents[1] / "transfer-syntaxes").rglob("*.dcm"))):
        dataset = pydicom.dcmread(path)
        dataset.SOPInstanceUID = dataset.file_meta.MediaStorageSOPInstanceUID = f"1.2.3.4.7.{i + 1}"
        dataset.save_as(tmp_path / f"{i}.dcm")
        sent[dataset.SOPInstanceUID] = dataset
    assert len({d.file_meta.TransferSyntaxUID for d in sent.values()}) > 1
    send(tmp_path, "--to", server.to)
    for number in server.get("instances"):
        there = pydicom.dcmread(io.BytesIO(server.get(f"instances/{number}/file", binary=True)))
        here = sent.pop(there.SOPInstanceUID)
        assert there.file_meta.TransferSyntaxUID == here.file_meta.TransferSyntaxUID
        assert there.PixelData == here.PixelData
    assert not sent


def test_wrong_title_and_unheard_ports(orthanc):
    server = orthanc()
    text = sentence_of(send(STS, "--to", f"WRONG@127.0.0.1:{server.dicom}", code=1))
    assert "rejected for good by the application" in text and "'WRONG'" in text and "--to" in text and "Nothing was sent" in text
    text = sentence_of(send(STS, "--to", f"ORTHANC@127.0.0.1:{free_port()}", code=1))
    assert "Connection refused" in text and "Nothing was sent" in text
    text = sentence_of(send(STS, "--to", f"ORTHANC@127.0.0.1:{server.http}", "--timeout", 3, code=1))
    assert "no DICOM application answers" in text
    assert server.count() == 0


def test_sender_that_the_pacs_does_not_know(orthanc):
    server = orthanc(DicomAlwaysAllowStore=False, DicomCheckModalityHost=True, DicomModalities={})
    text = sentence_of(send(STS, "--to", server.to, "--from", "STRANGER", code=1))
    assert "0 of 51 files were stored" in text and "it aborted the association" in text
    assert server.count() == 0


def test_a_peer_that_keeps_silent():
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(5)
        text = sentence_of(send(STS, "--to", f"PACS@127.0.0.1:{deaf.getsockname()[1]}", "--timeout", 2, code=1, seconds=60))
    assert "no answer within 2 s" in text


def test_what_is_refused_before_a_connection(tmp_path):
    to = f"PACS@127.0.0.1:{free_port()}"
    (tmp_path / "notes.txt").write_text("not DICOM")
    assert "notes.txt: this file is not DICOM" in sentence_of(send(STS, tmp_path / "notes.txt", "--to", to, code=2))
    assert "no DICOM object" in sentence_of(send(tmp_path, "--to", to, code=1))
    assert "nowhere" in sentence_of(send(tmp_path / "nowhere", "--to", to, code=1))
    for wrong in ["127.0.0.1:104", "PACS@127.0.0.1", "PACS@127.0.0.1:0", "PACS@127.0.0.1:66000", "PACS@:104", "@host:104", "A" * 17 + "@h:104",
                  "PACS@[::1]:104", "PACS@host:10x"]:
        sentence_of(send(STS, "--to", wrong, code=2))
    assert "--commit" in send(STS, "--to", to, "--commit-port", 104, code=2).stderr


def test_pacs_that_refuses_a_kind_of_object(orthanc, tmp_path):
    server = orthanc(UnknownSopClassAccepted=False)
    object_of(tmp_path, "ct.dcm")
    object_of(tmp_path, "labels.dcm", SOPClassUID=LABEL_MAP, SOPInstanceUID="1.2.3.4.6")
    done = send(tmp_path, "--to", server.to, code=1)
    assert "stored " in done.stdout and "kind-refused " in done.stdout
    text = sentence_of(done)
    assert "1 of 2 files were stored" in text and "labels.dcm" in text and "Label Map Segmentation Storage" in text
    assert server.count() == 1


def test_damaged_file_of_a_folder_is_reported(orthanc, tmp_path):
    server = orthanc()
    good = object_of(tmp_path, "a.dcm")
    (tmp_path / "b.dcm").write_bytes(good.read_bytes()[:-1000])
    (tmp_path / "c.dcm").write_bytes(good.read_bytes()[:300])
    done = send(tmp_path, "--to", server.to, code=1)
    assert "1 of 3 files were stored" in sentence_of(done) and done.stdout.count("unreadable ") == 2
    assert server.count() == 1


def test_pacs_killed_while_sending(orthanc, tmp_path):
    server = orthanc()
    folder = many(tmp_path / "many", 150)
    sending = subprocess.Popen([PROGRAM, "send", folder, "--to", server.to, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 60
    while server.count() < 20:
        assert time.monotonic() < end and sending.poll() is None
        time.sleep(0.02)
    server.kill()
    out, errors = sending.communicate(timeout=60)
    assert sending.returncode == 1
    facts = json.loads(out)
    outcomes = [file["outcome"] for file in facts["files"]]
    stored = outcomes.count("stored")
    assert 20 <= stored < 150 and outcomes == ["stored"] * stored + ["unanswered"] + ["not-sent"] * (149 - stored)
    assert re.search(rf"{stored} of 150 files were stored; 1 not \(.*{stored:05}\.dcm\): the association was lost", errors)
    assert errors.count("headrace: ") == 1

    server.start()
    assert server.count() >= stored
    send(folder, "--to", server.to)
    assert server.count() == 150


def test_killed_at_any_moment_all_arrive_whole_and_once(orthanc, tmp_path):
    """HEADRACE_KILLS: how often the sender is killed; half of the moments go by what has arrived, so that they are not all at its start."""
    server = orthanc()
    folder = many(tmp_path / "many", 60)
    sent = {d.SOPInstanceUID: d for d in map(pydicom.dcmread, folder.iterdir())}
    chance = random.Random(12)
    for kill in range(KILLS):
        if server.count() == len(sent):
            server.delete_all()
        sending = subprocess.Popen([PROGRAM, "send", folder, "--to", server.to], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if kill % 2:
            time.sleep(chance.uniform(0, 0.5))
        else:
            limit, end = chance.randrange(len(sent)), time.monotonic() + 60
            while server.count() < limit and sending.poll() is None and time.monotonic() < end:
                time.sleep(0.01)
        sending.kill()
        sending.wait(timeout=20)
        assert server.count() <= len(sent)
    send(folder, "--to", server.to)
    assert server.count() == len(sent)
    for instance in server.get("instances"):
        got = pydicom.dcmread(io.BytesIO(server.get(f"instances/{instance}/file", binary=True)))
        assert got == sent[got.SOPInstanceUID]


def test_commitment_of_orthanc(orthanc, tmp_path):
    """Orthanc reports on an association of its own, to the modality of its settings."""
    server = orthanc()
    file = object_of(tmp_path, "ct.dcm")
    text = sentence_of(send(file, "--to", server.to, "--commit", "--timeout", 3, code=1))
    assert "1 of 1 files were stored; storage commitment" in text and "--commit-port" in text
    facts = json.loads(send(STS, file, "--to", server.to, "--commit", "--commit-port", server.report, "--timeout", 20, "--json").stdout)
    assert facts["commitment"]["failed"] == [] and facts["commitment"]["reason"] == ""
    assert set(facts["commitment"]["committed"]) == {f["sop_instance_uid"] for f in facts["files"]}
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen(1)
        port = taken.getsockname()[1]
        assert f"port {port}" in sentence_of(send(file, "--to", server.to, "--commit", "--commit-port", port, code=1))


def test_only_the_named_host_and_port(orthanc):
    if shutil.which("strace") is None:
        pytest.skip("not run: Debian package strace is not installed")
    server = orthanc()
    done = subprocess.run(["strace", "-f", "-e", "trace=connect,bind,sendto", PROGRAM, "send", STS, "--to", server.to],
                          capture_output=True, text=True, timeout=120)
    if "PTRACE" in done.stderr:
        pytest.skip("not run: strace may not trace here")
    assert done.returncode == 0
    calls = [line for line in done.stderr.splitlines() if re.search(r"\b(connect|bind|sendto)\(", line)]
    assert len(calls) == 1 and f"htons({server.dicom})" in calls[0] and '"127.0.0.1"' in calls[0]


# Peers that do what Orthanc never does, by pynetdicom.


@contextlib.contextmanager
def peer(commitment=None, answer=lambda event: 0):
    """A storage SCP. `commitment`: None (not supported), or a function of the request's event."""
    entity = pynetdicom.AE("PEER")
    entity.add_supported_context("1.2.840.10008.5.1.4.1.1.2")
    handlers = [(pynetdicom.evt.EVT_C_STORE, answer)]
    if commitment:
        entity.add_supported_context("1.2.840.10008.1.20.1")
        handlers.append((pynetdicom.evt.EVT_N_ACTION, commitment))
    server = entity.start_server(("127.0.0.1", 0), block=False, evt_handlers=handlers)
    try:
        yield f"PEER@127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()


def report(event, failed=(), left_out=0, transaction=None):
    """Sends the report on the same association, a moment after the answer."""
    request = event.action_information
    dataset = pydicom.Dataset()
    dataset.TransactionUID = transaction or request.TransactionUID
    items = list(request.ReferencedSOPSequence)[left_out:]
    dataset.ReferencedSOPSequence = items[len(failed):]
    for item, reason in zip(items, failed):
        item.FailureReason = reason
    if failed:
        dataset.FailedSOPSequence = items[:len(failed)]

    def later():
        time.sleep(0.3)
        event.assoc.send_n_event_report(dataset, 2 if failed else 1, "1.2.840.10008.1.20.1", "1.2.840.10008.1.20.1.1")

    threading.Thread(target=later).start()
    return 0, None


def test_warnings_are_listed_and_failures_fail(tmp_path):
    statuses = {"1.2.3.4.5.1": 0xB000, "1.2.3.4.5.2": 0, "1.2.3.4.5.3": 0xA700}

    def answer(event):
        uid = event.request.AffectedSOPInstanceUID
        status = pydicom.Dataset()
        status.Status = statuses[uid]
        if statuses[uid] == 0xA700:
            status.ErrorComment = "disk full"
        return status

    with peer(answer=answer) as to:
        folder = many(tmp_path / "three", 3)
        done = send(folder, "--to", to, code=1)
        assert "stored-with-warning" in done.stdout and "0xB000" in done.stdout
        text = sentence_of(done)
        assert "2 of 3 files were stored" in text and "00002.dcm" in text and "0xA700, out of resources (disk full)" in text
        (folder / "00002.dcm").unlink()
        facts = json.loads(send(folder, "--to", to, "--json").stdout)
        assert [f["outcome"] for f in facts["files"]] == ["stored-with-warning", "stored"]


def test_peer_that_ends_half_way(tmp_path):
    def answer(event):
        if event.request.AffectedSOPInstanceUID == "1.2.3.4.5.3":
            event.assoc.abort()
        return 0

    with peer(answer=answer) as to:
        done = send(many(tmp_path / "five", 5), "--to", to, code=1)
    text = sentence_of(done)
    assert "2 of 5 files were stored" in text and "00002.dcm" in text and "2 not" in text
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["stored", "stored", "unanswered", "not-sent", "not-sent"]


def test_peer_that_aborts_while_an_object_is_sent(tmp_path):
    """It closes the connection too, so most of the object can't be sent any more: the peer's word counts, not the broken pipe."""
    side = 4096
    big = object_of(tmp_path, "big.dcm", Rows=side, Columns=side, PixelData=bytes(2 * side * side))

    def between(door, port):
        client, _ = door.accept()
        with client, socket.create_connection(("127.0.0.1", port)) as inside:
            inside.sendall(client.recv(1 << 16))  # the request for an association
            client.sendall(inside.recv(1 << 16))
            time.sleep(1)  # the sender now waits until there is room
            client.sendall(bytes.fromhex("0700 0000 0004 0000 0200"))  # A-ABORT; unread bytes make the end of `client` a reset

    with peer() as to, socket.create_server(("127.0.0.1", 0)) as door:
        peer_port = int(to.rsplit(":", 1)[1])
        thread = threading.Thread(target=between, args=(door, peer_port), daemon=True)
        thread.start()
        text = sentence_of(send(big, "--to", f"PEER@127.0.0.1:{door.getsockname()[1]}", code=1))
        thread.join(timeout=20)
    assert "0 of 1 files were stored" in text and "it aborted the association" in text


def test_commitment_on_the_same_association(tmp_path):
    folder = many(tmp_path / "three", 3)
    with peer(commitment=report) as to:
        facts = json.loads(send(folder, "--to", to, "--commit", "--timeout", 10, "--json").stdout)
        assert facts["commitment"]["committed"] == ["1.2.3.4.5.1", "1.2.3.4.5.2", "1.2.3.4.5.3"]
        assert "commits to keep them" in send(folder, "--to", to, "--commit", "--commit-port", free_port(), "--timeout", 10).stdout
    with peer(commitment=lambda event: report(event, failed=[0x0112])) as to:
        text = sentence_of(send(folder, "--to", to, "--commit", "--timeout", 10, code=1))
        assert "3 of 3 files were stored" in text and "1 of 3" in text and "0x0112, it has no such instance" in text
    with peer(commitment=lambda event: report(event, left_out=1)) as to:
        assert "not in the report" in sentence_of(send(folder, "--to", to, "--commit", "--timeout", 10, code=1))
    with peer(commitment=lambda event: report(event, transaction="1.2.3")) as to:
        assert "no report came" in sentence_of(send(folder, "--to", to, "--commit", "--timeout", 2, code=1))


def test_commitment_that_is_not_to_be_had(tmp_path):
    file = object_of(tmp_path, "ct.dcm")
    with peer() as to:
        assert "the peer does not support it" in sentence_of(send(file, "--to", to, "--commit", code=1))
    with peer(commitment=lambda event: (0x0110, None)) as to:
        assert "refused the request: status 0x0110" in sentence_of(send(file, "--to", to, "--commit", code=1))


def test_strangers_at_the_report_port(tmp_path):
    """Who else calls at the port of the report gets nothing and breaks nothing."""
    port, seen = free_port(), []

    def commitment(event):
        def strangers():
            with socket.create_connection(("127.0.0.1", port), 5) as caller:
                caller.sendall(b"GET / HTTP/1.0\r\n\r\n")
            entity = pynetdicom.AE("STRANGER")
            entity.add_requested_context("1.2.840.10008.5.1.4.1.1.2")
            association = entity.associate("127.0.0.1", port)
            seen.append([c.abstract_syntax for c in association.accepted_contexts])
            association.abort()
            report(event)

        threading.Thread(target=strangers).start()
        return 0, None

    file = object_of(tmp_path, "ct.dcm")
    with peer(commitment=commitment) as to:
        assert "commits to keep them" in send(file, "--to", to, "--commit", "--commit-port", port, "--timeout", 20).stdout
    assert seen == [[]]
