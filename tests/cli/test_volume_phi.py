"""Nothing that identifies a patient leaves the DICOM files: planted names, dates, numbers and texts are found nowhere in the store, in what
the program says, nor in the names of files; and `headrace verify` finds what is planted into a store."""
import gzip
import json
import lzma
import re
import shutil
import zlib

import numcodecs
import pydicom
import pytest
import zarr
from ct_inputs import CT, dicom_files, facts, key_file
from driving import headrace, json_of

PLANTED = {
    "PatientName": "Plantagenet^Ottoline^Quirk", "PatientID": "PID-77314159", "PatientBirthDate": "19471103", "OtherPatientNames": "Quirrenbach^Zelda",
    "StudyDate": "20180917", "SeriesDate": "20180918", "AcquisitionDate": "20180919", "ContentDate": "20180920", "StudyTime": "142753.125",
    "InstitutionName": "Klinikum Hohenwutzen", "InstitutionAddress": "Uferpromenade 17a", "ReferringPhysicianName": "Xanthopoulos^Igor",
    "PerformingPhysicianName": "Wojciechowska^Hedwig", "OperatorsName": "Ngwenya^Thandiwe", "AccessionNumber": "ACC90817263", "StudyID": "STU55512",
    "StudyDescription": "Staging nach Befund Vortag", "SeriesDescription": "Abdomen arteriell Plantagenet", "ProtocolName": "HausprotokollSieben",
    "ImageComments": "Kommentar: Nachbarin von Frau Mandelbaum", "PatientComments": "ruft an unter 0170-5550199", "PatientAddress": "Zum Erlengrund 4",
    "StationName": "SCANNERRAUM9", "DeviceSerialNumber": "SERIAL-AX4471", "AdditionalPatientHistory": "Hufschmied im Ruhestand",
    "MedicalRecordLocator": "Archivkeller Regal 12", "EthnicGroup": "Planted-Group", "Occupation": "Glockengiesser"}
PRIVATE = ["PrivateCreatorZaphod", "Privattext Mondscheinsonate", "KryptischeNummer-31337"]
UIDS = ["1.3.6.1.4.1.99999.1.20180917.1", "1.3.6.1.4.1.99999.2.20180917.2", "1.3.6.1.4.1.99999.3.20180917", "1.3.6.1.4.1.99999.4.20180917"]
FILE_WORD = "Eulenspiegel_Till_19510607"


def plant(source, target):
    """A copy of a series with identifiers in every place that has some; the files are named by one, too."""
    target.mkdir(parents=True)
    for i, path in enumerate(dicom_files(source)):
        data = pydicom.dcmread(path)
        data.SpecificCharacterSet = "ISO_IR 192"
        for key, value in PLANTED.items():
            setattr(data, key, value)
        data.StudyInstanceUID, data.SeriesInstanceUID, data.FrameOfReferenceUID = UIDS[:3]
        data.SOPInstanceUID = data.file_meta.MediaStorageSOPInstanceUID = f"{UIDS[3]}.{i + 1}"
        block = data.private_block(0x0019, PRIVATE[0], create=True)
        block.add_new(0x01, "LO", PRIVATE[1])
        block.add_new(0x02, "UN", PRIVATE[2].encode())
        data.save_as(target / f"{FILE_WORD}_{i:03}.dcm")
    return target


def needles():
    texts = [*PLANTED.values(), *PRIVATE, *UIDS, FILE_WORD]
    for name in [v for v in PLANTED.values() if "^" in v]:
        texts += name.split("^")
    texts += ["Mandelbaum", "Hohenwutzen", "Mondscheinsonate", "Eulenspiegel", "19510607", "0170-5550199"]
    texts = [t for t in texts if len(t) >= 5]  # "Igor" is in many a thing
    return {text: {form for code in ("utf-8", "latin-1", "utf-16-le", "utf-16-be") for form in (text.encode(code), text.upper().encode(code),
                                                                                                  text.lower().encode(code))} for text in texts}


def unpacked(raw):
    """Bytes as they are, and whatever is packed in them: zstd and blosc frames, zlib, gzip, xz, wherever they begin."""
    yield raw
    for start in [m.start() for m in re.finditer(rb"\x28\xb5\x2f\xfd", raw)]:
        try:
            yield bytes(numcodecs.Zstd().decode(raw[start:]))
        except (RuntimeError, ValueError):
            pass
    for unpack in (zlib.decompress, gzip.decompress, lzma.decompress):
        try:
            yield unpack(raw)
        except (zlib.error, OSError, lzma.LZMAError, EOFError):
            pass


def arrays_of(store):
    for path in sorted(store.rglob("zarr.json")):
        if json.loads(path.read_text())["node_type"] == "array":
            yield path.parent


def assert_nothing_found(where, raw):
    for text, forms in needles().items():
        for form in forms:
            assert form not in raw, (where, text)


def test_the_search_finds_what_is_there(tmp_path):
    """The needles, in every encoding, plain and packed, are found by the way the tests look for them."""
    for text in list(PLANTED.values())[:4]:
        for code in ("utf-8", "latin-1", "utf-16-le"):
            raw = b"\0\1" + text.encode(code) + b"\0"
            for packed in (raw, zlib.compress(raw), gzip.compress(raw), b"head" + numcodecs.Zstd().encode(raw)):
                with pytest.raises(AssertionError):
                    for part in unpacked(packed):
                        assert_nothing_found("planted", part)


@pytest.mark.parametrize("sample", ["liver-3slice", "sts-008/image", "totalseg-dicom"])
def test_planted_identifiers_are_found_nowhere(tmp_path, sample):
    source = plant(CT / sample, tmp_path / "in" / FILE_WORD)
    out = tmp_path / "out.zarr"
    done = headrace("ingest", "volumes", source, "--out", out, "--key-file", key_file(tmp_path))
    said = done.stdout + done.stderr
    said += headrace("verify", out).stdout + headrace("info", out).stdout
    again = headrace("ingest", "volumes", source, "--out", out, "--key-file", tmp_path / "site.key")
    said += again.stdout + again.stderr
    assert_nothing_found("output", said.replace(str(tmp_path), "").encode())
    objects = [path for path in sorted(out.rglob("*")) if path.is_file()]
    assert len(objects) > 10
    for path in objects:
        assert_nothing_found("a name", str(path.relative_to(out)).encode())
        for part in unpacked(path.read_bytes()):
            assert_nothing_found(path, part)
    arrays = list(arrays_of(out))
    assert len(arrays) >= 4
    for path in arrays:
        assert_nothing_found(path, zarr.open_array(str(path), mode="r")[...].tobytes())
    _, images = facts(out)
    [image] = images.values()
    assert image["phase"] == "arterial"  # the description was read, and dropped
    assert {path.name for path in tmp_path.iterdir()} == {"in", "out.zarr", "site.key"}


def test_the_key_alone_decides_about_the_names(tmp_path):
    source = plant(CT / "liver-3slice", tmp_path / "in")
    ids = []
    for name, key in (("a", "first key of sixteen bytes"), ("b", "first key of sixteen bytes"), ("c", "second key of sixteen bytes")):
        (tmp_path / f"{name}.key").write_text(key + "\n")
        result = json_of("ingest", "volumes", source, "--out", tmp_path / f"{name}.zarr", "--key-file", tmp_path / f"{name}.key")
        _, images = facts(tmp_path / f"{name}.zarr")
        ids.append((list(images), [i["case"] for i in images.values()], result["dataset_hash"]))
    assert ids[0] == ids[1]
    assert ids[0][0] != ids[2][0] and ids[0][1] != ids[2][1] and ids[0][2] != ids[2][2]


def test_a_key_is_made_once_and_kept_for_its_owner(tmp_path):
    out, key = tmp_path / "out.zarr", tmp_path / "out.zarr.key"
    headrace("ingest", "volumes", CT / "sts-008/image", "--out", out)
    made = key.read_bytes()
    assert key.stat().st_mode & 0o777 == 0o600 and len(made) == 65
    first = json_of("verify", out)["dataset_hash"]
    shutil.rmtree(out)
    assert json_of("ingest", "volumes", CT / "sts-008/image", "--out", out)["dataset_hash"] == first
    assert key.read_bytes() == made and not any(path.read_bytes().find(made.strip()) >= 0 for path in out.rglob("*") if path.is_file())


@pytest.fixture(scope="module")
def clean(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clean")
    shutil.copytree(CT / "sts-008/image", folder / "in/ct")
    shutil.copy(CT / "sts-008/RS.dcm", folder / "in/RS.dcm")
    names = [item.ROIName for item in pydicom.dcmread(CT / "sts-008/RS.dcm").StructureSetROISequence]
    headrace("ingest", "volumes", folder / "in", "--classes", "background,tumour=" + names[0], "--out", folder / "clean.zarr")
    return folder / "clean.zarr"


@pytest.fixture()
def copy(clean, tmp_path):
    shutil.copytree(clean, tmp_path / "copy.zarr")
    return tmp_path / "copy.zarr"


def test_a_clean_store_has_no_findings(clean):
    result = json_of("verify", clean)
    assert result["ok"] and result["phi"] == [] and result["damage"] == []


def planted_into(store, key, place, value):
    path = store / key
    content = json.loads(path.read_text())
    at = content
    for step in place[:-1]:
        at = at[step]
    if isinstance(at, list) and place[-1] == len(at):
        at.append(value)
    else:
        at[place[-1]] = value
    path.write_text(json.dumps(content))


FACTS = ("attributes", "headrace")
PLACES = [
    (FACTS, "PatientName", "Doe^Jane", "a key that"), (FACTS, "comment", "x", "a key that"), (FACTS, "case", "3", "a key that"),
    (FACTS, "modality", "CT of Jane", "words"), (FACTS, "spacing_mm", [1, 1, "Jane"], "expected a number"), (FACTS, "affine_lps", "Jane", "expected a list"),
    ((*FACTS, "source"), "fingerprint", "Jane", "SHA-256"), ((*FACTS, "source"), "path", "/home/jane/ct", "a key that"),
    ((*FACTS, "notes"), 0, "Patient Jane moved.", "older Headrace"), ((*FACTS, "notes"), 0, {"code": "Jane", "values": []}, "a note code that this version does not know"),
    ((*FACTS, "notes"), 0, {"code": "body-empty", "values": ["Jane"]}, "expected a number"), ((*FACTS, "notes"), 0, {"a": "Jane"}, "a key that"),
    ((*FACTS, "body"), "Jane", 1, "a key that"), (("attributes",), "jane", {"a": 1}, "a key that"),
    ((), "consolidated_metadata", {"Jane": 1}, "a key that"), (("attributes", "ome", "multiscales", 0), "name", "Doe^Jane", "may hold"),
    (("attributes", "ome", "multiscales", 0), "metadata", {"Jane": "x"}, "a key that")]


@pytest.mark.parametrize("place, key, value, words", PLACES, ids=[f"{p[-1:]}-{k}-{str(v)[:12]}" for p, k, v, _ in PLACES])
def test_what_is_planted_is_found_by_object_and_key_and_not_repeated(copy, place, key, value, words):
    [image] = (copy / "images").glob("*-*")
    name = f"images/{image.name}/zarr.json"
    planted_into(copy, name, [*place, key], value)
    done = headrace("verify", copy, code=4)
    assert "jane" not in (done.stdout + done.stderr).lower().replace("/jane", "").replace("/body/jane", "")
    found = json.loads(headrace("verify", copy, "--json", code=4).stdout)["phi"]
    assert found and all(one["key"] == name for one in found), found
    assert any(words in one["detail"] for one in found), found
    assert all(one["at"].startswith("/" + "/".join(map(str, place))) for one in found) or not place


@pytest.mark.parametrize("place, value, words", [
    (("images", None, "columns", "case"), "Doe^Jane", "may hold"), (("images", None, "columns", "case"), "20190304", "a date"),
    (("images", None, "columns", "case"), "2019-03-04", "a date"), (("images", None, "columns", "cohort"), "04.03.2019", "a date"),
    (("images", None, "columns", "cohort"), "1.2.840.113619", "UID"), (("images", None, "columns", "split"), "Jane Doe", "none of the store's words"),
    (("images", None, "columns", "phase"), "Jane", "words"), (("images", None, "columns", "birth"), "x", "a key that"),
    (("images", None, "labels", "Doe^Jane"), {"bytes": 1}, "may hold"), (("facts", "lesion_classes", 0), "Janes tumour", "none of the store's classes"),
    (("images", "Doe^Jane"), {}, "may hold"), (("patients",), 1, "a key that")])
def test_what_is_planted_into_a_version_is_found_and_not_repeated(copy, place, value, words):
    name = f"versions/{json.loads((copy / 'manifest.json').read_text())['dataset_hash']}.json"
    [image] = json.loads((copy / name).read_text())["images"]
    place = [image if key is None else key for key in place]
    planted_into(copy, name, place, value)
    done = headrace("verify", copy, code=4)
    assert "jane" not in (done.stdout + done.stderr).lower()
    found = [one for one in json.loads(headrace("verify", copy, "--json", code=4).stdout)["phi"] if one["key"] == name]
    assert any(words in one["detail"] for one in found), found


def test_a_message_of_the_log_is_checked(copy):
    planted_into(copy, "manifest.json", ["log", 0, "message"], "Doe^Jane")
    found = json.loads(headrace("verify", copy, "--json", code=4).stdout)["phi"]
    assert [(one["key"], one["at"]) for one in found] == [("manifest.json", "/log/0/message")]


def test_classes_and_array_metadata_are_checked(copy):
    version = f"versions/{json.loads((copy / 'manifest.json').read_text())['dataset_hash']}.json"
    planted_into(copy, version, ["classes", 1], "GTV of Doe^Jane")
    [array] = (copy / "images").glob("*/0/zarr.json")
    planted_into(copy, str(array.relative_to(copy)), ["dimension_names", 0], "Jane")
    [labels] = (copy / "images").glob("*/labels/annotation-*/zarr.json")
    planted_into(copy, str(labels.relative_to(copy)), ["attributes", "ome", "image-label", "properties", 1, "class"], "Janes tumour")
    found = json.loads(headrace("verify", copy, "--json", code=4).stdout)["phi"]
    assert {"key": version, "at": "/classes/1", "detail": "a text of 15 characters that looks like a person's name"} in found
    keys = {one["key"]: one["at"] for one in found}
    assert keys[str(array.relative_to(copy))] == "/dimension_names/0"
    assert keys[str(labels.relative_to(copy))] == "/attributes/ome/image-label/properties/1/class"


def test_names_of_objects_are_checked(copy):
    """An object under a name that ingest never gives."""
    for name in ("images/Doe^Jane/zarr.json", "images/20190304/0/c/0/0/0", "thumbnail.png", "index/1.2.840.113619/zarr.json"):
        path = copy / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
        found = json.loads(headrace("verify", copy, "--json", code=4).stdout)["phi"]
        assert any(one["key"] == name and not one["at"] for one in found), (name, found)
        path.unlink()
