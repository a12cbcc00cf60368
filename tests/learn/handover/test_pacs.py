"""A study in a real PACS: a CT series and what headrace exports for it are sent, found, fetched back equal by three ways, and are what foreign
readers expect."""
import contextlib
import io
import shutil
import signal
import subprocess

import dicomweb_client
import numpy as np
import pydicom
import pynetdicom
import pytest
import SimpleITK as sitk
import zarr
from ct_inputs import STS
from dicom_objects_test import complaints, needs_dciodvfy
from driving import PROGRAM, headrace, json_of, message_of
from orthanc import PLUGINS

STORAGE = {"CT": "1.2.840.10008.5.1.4.1.1.2", "SEG": "1.2.840.10008.5.1.4.1.1.66.4", "RTSTRUCT": "1.2.840.10008.5.1.4.1.1.481.3",
           "SR": "1.2.840.10008.5.1.4.1.1.88.22"}
STUDY_MOVE, STUDY_GET = "1.2.840.10008.5.1.4.1.2.2.2", "1.2.840.10008.5.1.4.1.2.2.3"


@pytest.fixture(scope="module")
def objects(predicted_ct, tmp_path_factory):
    """Folder of the exported objects, every kind that PACS of today take."""
    folder = tmp_path_factory.mktemp("for-pacs")
    headrace("export", predicted_ct, "--as", "dicom-seg,dicom-seg-fractional,dicom-rtstruct,dicom-sr", "--out", folder)
    return folder


@pytest.fixture(scope="module")
def sent(objects):
    """By SOP instance UID, the series and the objects."""
    files = [*sorted(STS.glob("*.dcm")), *sorted(objects.iterdir())]
    found = {data.SOPInstanceUID: data for data in map(pydicom.dcmread, files)}
    assert len(found) == len(files) and {data.Modality: data.SOPClassUID for data in found.values()} == STORAGE
    return found


@pytest.fixture(scope="module")
def receiver():
    """A storage SCP, to which a PACS moves: its port, and what it got."""
    entity, got = pynetdicom.AE("RECEIVER"), []
    for kind in STORAGE.values():
        entity.add_supported_context(kind)

    def store(event):
        got.append(event.dataset)
        got[-1].file_meta = event.file_meta
        return 0

    server = entity.start_server(("127.0.0.1", 0), block=False, evt_handlers=[(pynetdicom.evt.EVT_C_STORE, store)])
    yield server.server_address[1], got
    server.shutdown()


@pytest.fixture(scope="module")
def pacs(module_orthanc, receiver, objects):
    """Holds the study, sent by headrace."""
    server = module_orthanc(PLUGINS, DicomModalities={"receiver": ["RECEIVER", "127.0.0.1", receiver[0]]})
    headrace("send", STS, objects, "--to", server.to)
    return server


def same_objects(found, sent):
    """Every element of every object, pixels first, since they fail with fewer words."""
    found = {data.SOPInstanceUID: data for data in found}
    assert set(found) == set(sent)
    for uid, data in found.items():
        assert data.get("PixelData") == sent[uid].get("PixelData"), uid
        assert data == sent[uid], uid


def study_of(sent):
    (study,) = {data.StudyInstanceUID for data in sent.values()}
    return study


def test_all_are_found_in_the_one_study(pacs, sent):
    """By QIDO-RS, as a viewer asks: what belongs to the study, and which series there are."""
    assert pacs.count() == len(sent) and len(pacs.get("patients")) == len(pacs.get("studies")) == 1
    (study,) = pacs.get("dicom-web/studies")
    assert study["0020000D"]["Value"] == [study_of(sent)] and set(study["00080061"]["Value"]) == set(STORAGE)
    series = pacs.get(f"dicom-web/studies/{study_of(sent)}/series")
    instances = {entry["0020000E"]["Value"][0]: entry["00201209"]["Value"][0] for entry in series}
    expected = {}
    for data in sent.values():
        expected[data.SeriesInstanceUID] = expected.get(data.SeriesInstanceUID, 0) + 1
    assert instances == expected
    (found,) = pacs.get("dicom-web/instances?Modality=SR")
    assert found["00080018"]["Value"] == [data.SOPInstanceUID for data in sent.values() if data.Modality == "SR"]


def test_wado_gives_them_back(pacs, sent):
    client = dicomweb_client.DICOMwebClient(url=pacs.web)
    same_objects(client.retrieve_study(study_of(sent)), sent)


def test_stow_of_another_sender_gives_the_same_objects(orthanc, sent):
    """What dicomweb-client stores is what headrace sends: nothing of the objects hangs on the way in."""
    server = orthanc(PLUGINS)
    answer = dicomweb_client.DICOMwebClient(url=server.web).store_instances(list(sent.values()))
    assert len(answer.ReferencedSOPSequence) == len(sent) and not answer.get("FailedSOPSequence")
    same_objects((pydicom.dcmread(io.BytesIO(server.get(f"instances/{i}/file", binary=True))) for i in server.get("instances")), sent)


def query(study):
    data = pydicom.Dataset()
    data.QueryRetrieveLevel, data.StudyInstanceUID = "STUDY", study
    return data


@contextlib.contextmanager
def association(pacs, model, handlers=(), roles=()):
    entity = pynetdicom.AE("RECEIVER")
    entity.add_requested_context(model)
    for kind in STORAGE.values() if roles else ():
        entity.add_requested_context(kind)
    opened = entity.associate("127.0.0.1", pacs.dicom, ae_title="ORTHANC", ext_neg=list(roles), evt_handlers=list(handlers))
    assert opened.is_established
    try:
        yield opened
    finally:
        opened.release()


def test_c_move_brings_them(pacs, sent, receiver):
    _, got = receiver
    got.clear()
    with association(pacs, STUDY_MOVE) as opened:
        status = [answer.Status for answer, _ in opened.send_c_move(query(study_of(sent)), "RECEIVER", STUDY_MOVE)]
    assert status[-1] == 0
    same_objects(got, sent)


def test_c_get_brings_them(pacs, sent):
    got = []
    store = (pynetdicom.evt.EVT_C_STORE, lambda event: got.append(event.dataset) or 0)
    roles = [pynetdicom.build_role(kind, scp_role=True) for kind in STORAGE.values()]
    with association(pacs, STUDY_GET, [store], roles) as opened:
        status = [answer.Status for answer, _ in opened.send_c_get(query(study_of(sent)), STUDY_GET)]
    assert status[-1] == 0
    same_objects(got, sent)


def test_exporting_and_sending_again_makes_no_doubles(pacs, predicted_ct, sent, tmp_path):
    headrace("export", predicted_ct, "--as", "dicom-seg,dicom-seg-fractional,dicom-rtstruct,dicom-sr", "--out", tmp_path)
    facts = json_of("send", tmp_path, "--to", pacs.to)
    assert facts["stored"] == len(facts["files"]) == len(list(tmp_path.iterdir())) and pacs.count() == len(sent)
    assert {file["sop_instance_uid"] for file in facts["files"]} <= set(sent)


def test_wrong_title_stores_nothing(orthanc, objects):
    server = orthanc()
    said = message_of(headrace("send", objects, "--to", f"PACS@127.0.0.1:{server.dicom}", code=1))
    assert "it is not called 'PACS'" in said and "Nothing was sent" in said and server.count() == 0


def test_pacs_that_stops_half_way_gets_the_rest_later(orthanc, objects, sent):
    """Killed while a study of theirs arrives; after its start the same command completes it."""
    server = orthanc(PLUGINS)
    sending = subprocess.Popen([PROGRAM, "send", STS, objects, "--to", server.to], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for line in sending.stdout:  # one for each file that the PACS has
        assert line.startswith("stored ")
        server.process.send_signal(signal.SIGKILL)
        break
    _, errors = sending.communicate(timeout=60)
    server.kill()
    assert sending.returncode == 1 and f" of {len(sent)} files were stored" in errors and "sending again is harmless" in errors
    server.start()
    assert 1 <= server.count() < len(sent)
    headrace("send", STS, objects, "--to", server.to)
    assert server.count() == len(sent)
    same_objects((pydicom.dcmread(io.BytesIO(server.get(f"instances/{i}/file", binary=True))) for i in server.get("instances")), sent)


def test_label_maps_need_a_setting_of_orthanc(orthanc, predicted_ct, tmp_path):
    """Their SOP class is younger than many PACS; the objects of the other kinds arrive nevertheless."""
    headrace("export", predicted_ct, "--as", "dicom-seg-labelmap,dicom-seg", "--out", tmp_path)
    server = orthanc()
    done = headrace("send", tmp_path, "--to", server.to, code=1)
    assert "does not take objects of Label Map Segmentation Storage" in done.stderr and server.count() == 1
    server = orthanc(UnknownSopClassAccepted=True)
    headrace("send", tmp_path, "--to", server.to)
    assert server.count() == 2


@needs_dciodvfy
@pytest.mark.parametrize("modality", ["SEG", "RTSTRUCT", "SR"])
def test_dciodvfy_finds_no_more_than_in_the_source(pacs, sent, tmp_path, modality):
    """In the files that the PACS gives out."""
    allowed = complaints(str(next(STS.glob("*.dcm"))))
    checked = 0
    for number in pacs.get("instances"):
        file = tmp_path / f"{number}.dcm"
        file.write_bytes(pacs.get(f"instances/{number}/file", binary=True))
        if pydicom.dcmread(file, stop_before_pixels=True).Modality == modality:
            assert complaints(str(file)) <= allowed
            checked += 1
    assert checked == sum(data.Modality == modality for data in sent.values()) > 0


def test_plastimatch_fills_the_structures_with_the_same_voxels(objects, predicted_ct, tmp_path):
    """A reader from radiotherapy makes masks of the outlines, on the grid of the series."""
    if shutil.which("plastimatch") is None:
        pytest.skip("not run: Debian package plastimatch is not installed")
    (structures,) = objects.glob("*.rtstruct.dcm")
    done = subprocess.run(["plastimatch", "convert", "--input", structures, "--referenced-ct", STS, "--output-prefix", tmp_path / "masks",
                           "--prefix-format", "nii.gz"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    reader = sitk.ImageSeriesReader()
    reader.SetFileNames(reader.GetGDCMSeriesFileNames(str(STS)))
    scan, mask = reader.Execute(), sitk.ReadImage(str(tmp_path / "masks/tumour.nii.gz"))
    for ours, theirs in ((scan.GetOrigin(), mask.GetOrigin()), (scan.GetSpacing(), mask.GetSpacing()), (scan.GetDirection(), mask.GetDirection())):
        np.testing.assert_allclose(ours, theirs, atol=1e-4)
    classes = zarr.open_group(predicted_ct, mode="r")["labels/classes/0"][:]  # the series is in the store's order
    assert (classes == 1).any()
    np.testing.assert_array_equal(sitk.GetArrayFromImage(mask) > 0, classes == 1)
