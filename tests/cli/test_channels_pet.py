"""PET in SUV as a channel beside CT: a real study against SimpleITK, files of nnU-Net's names, units by name and stated, what is read back,
and what is refused. The rule that makes SUV of DICOM's headers: test_channels_suv.py."""
import json
import shutil
import struct

import nibabel
import numpy as np
import pydicom
import pytest
import SimpleITK as sitk
import zarr
from channel_inputs import channel, lps
from ct_inputs import CT, STS, facts, key_file, labels, mask, new_series, save_series, volume, voxels, write_volume
from driving import headrace, json_of, label_group, message_of, write_table
from pet_inputs import NAMED, PET, hundredths, ingest, on_grid, pet_slices, read_series, study
from PIL import Image
from test_volume_phi import UIDS, assert_nothing_found, plant, unpacked

FAR = 1e6  # what SimpleITK puts where the series does not reach
LABELLED = ["--classes", "background,tumour"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The study with the tumour as a physician drew it on the CT: the store and its image."""
    folder = tmp_path_factory.mktemp("study")
    study(folder / "in")
    shutil.copy(CT / "sts-008/RS.dcm", folder / "in")
    ingest(folder, *NAMED, "--classes", "background,tumour=GTV_Mass_CT")
    [image] = facts(folder / "ct.zarr")[1]
    return folder / "ct.zarr", image


@pytest.fixture(scope="module")
def both():
    """CT and PET as SimpleITK reads them, each slice by its own slope."""
    return read_series(STS), read_series(PET)


@pytest.fixture(scope="module")
def suv(both):
    """SUV on the CT's voxels; FAR outside of the series."""
    return sitk.GetArrayFromImage(on_grid(both[1], both[0], FAR))


# ---- the real study ------------------------------------------------------------------------------

def test_a_study_is_stored_as_simpleitk_resamples_it(made, both, suv):
    store, image = made
    np.testing.assert_array_equal(voxels(store, image), lps(both[0]))
    ours, inside = channel(store, image, 1), suv < FAR
    assert ours.dtype == np.int16 and 0.2 < inside.mean() < 0.3 and suv[inside].max() > 5
    away = ours[inside] - 100 * suv[inside]
    # The series is rounded to hundredths, then what lies between its voxels; neither is cut off.
    assert np.abs(away).max() <= 1.001 and abs(away.mean()) < 0.03
    assert (ours[~inside] == 0).all()
    headrace("verify", store)


def test_what_a_store_says_of_units(made):
    store, image = made
    root, images = facts(store)
    assert root["ingest"]["channels"] == ["CT", "PET"] and root["ingest"]["units"] == ["HU", "SUV"]
    first, second = images[image]["channels"]
    assert (first["name"], first["unit"], first["modality"]) == ("CT", "HU", "CT") and "scale" not in first
    assert (second["name"], second["unit"], second["scale"], second["modality"]) == ("PET", "SUV", 0.01, "PET")
    assert second["resampled"] is True and "channel-resampled" in [note["code"] for note in images[image]["notes"]]
    group = zarr.open_group(store, mode="r")[f"images/{image}"]
    assert {int(group[f"channels/1/{k}"].fill_value) for k in range(len(images[image]["levels"]))} == {0} and group["0"].fill_value == -1024


def test_statistics_are_in_suv_of_what_the_series_shows(made, suv):
    store, image = made
    group = zarr.open_group(store, mode="r")
    stored, shown = channel(store, image, 1), suv < FAR
    body = (group[f"images/{image}/masks/body"][:] > 0) & shown
    stated = facts(store)[1][image]["channels"][1]["body"]
    values = stored[body] / 100
    assert stated["voxels"] == values.size > 10000
    assert stated["mean"] == pytest.approx(values.mean()) and stated["std"] == pytest.approx(values.std())
    for key, part in (("p00_5", 0.5), ("p99_5", 99.5)):
        assert stated[key] == pytest.approx(np.percentile(values, part))
    tumour = labels(store, image) == 1
    assert 0 < (tumour & shown).sum() < tumour.sum()
    found, counts = np.unique(stored[tumour & shown].astype(np.int64), return_counts=True)
    under = group[f"{label_group(store, image)}/histogram-1"][:]
    np.testing.assert_array_equal(under, np.stack([found + 32768, counts], 1).astype(np.uint64))


def test_info_names_units(made, tmp_path):
    store, image = made
    told = json_of("info", store)
    assert told["channels"] == ["CT", "PET"] and told["channel_units"] == ["HU", "SUV"]
    [one] = told["images"]
    assert [c["unit"] for c in one["channels"]] == ["HU", "SUV"]
    assert one["channels"][1]["mean"] == facts(store)[1][image]["channels"][1]["body"]["mean"]
    for number in range(2):
        write_volume(tmp_path / f"in/a_000{number}.nii.gz", volume())
    headrace("ingest", "volumes", tmp_path / "in", "--channels", "early,late", "--out", tmp_path / "ct.zarr")
    told = json_of("info", tmp_path / "ct.zarr")
    assert "channel_units" not in told and [c["unit"] for c in told["images"][0]["channels"]] == ["HU", "HU"]
    root, images = facts(tmp_path / "ct.zarr")
    assert "units" not in root["ingest"] and not any("scale" in c for c in images["a"]["channels"])


def test_what_is_read_is_suv_again(made, tmp_path):
    store, image = made
    stored = channel(store, image, 1)
    headrace("read", store, image, "--channel", "PET", "--out", tmp_path / "p.nii.gz")
    nifti = nibabel.load(tmp_path / "p.nii.gz")
    assert nifti.get_data_dtype() == np.int16 and nifti.dataobj.slope == pytest.approx(0.01) and nifti.dataobj.inter == 0
    theirs = sitk.DICOMOrient(sitk.ReadImage(str(tmp_path / "p.nii.gz")), "LPS")
    np.testing.assert_allclose(sitk.GetArrayFromImage(theirs), stored / 100, atol=1e-5)
    headrace("read", store, image, "--channel", "CT", "--out", tmp_path / "c.nii.gz")
    assert sitk.ReadImage(str(tmp_path / "c.nii.gz")).GetPixelID() == sitk.sitkInt16
    whole = ",".join(map(str, stored.shape))
    headrace("read", store, image, "--channel", "PET", "--origin", "0,0,0", "--size", whole, "--out", tmp_path / "p.npy")
    box = np.load(tmp_path / "p.npy")
    assert box.dtype == np.int16
    np.testing.assert_array_equal(box, stored)
    headrace("read", store, image, "--channel", "PET", "--origin", "25,-3,0", "--size", "2,9,9", "--out", tmp_path / "o.npy")
    box = np.load(tmp_path / "o.npy")
    assert (box[:, :3] == 0).all() and (box[:, 3:] == stored[25:27, :6, :9]).all()
    _, height, width = stored.shape
    headrace("read", store, image, "--channel", "PET", "--origin", "25,0,0", "--size", f"1,{height},{width}", "--window=0,5", "--out", tmp_path / "p.png")
    picture = np.asarray(Image.open(tmp_path / "p.png")).astype(int)
    assert np.abs(picture[..., 0] - np.clip(stored[25] / 500 * 255, 0, 255)).max() <= 0.5 and picture.max() == 255
    # What was read is taken again, to the same voxels.
    (tmp_path / "in").mkdir()
    for number, name in enumerate("cp"):
        shutil.copy(tmp_path / f"{name}.nii.gz", tmp_path / f"in/a_000{number}.nii.gz")
    headrace("ingest", "volumes", tmp_path / "in", *NAMED, "--out", tmp_path / "again.zarr")
    np.testing.assert_array_equal(channel(tmp_path / "again.zarr", "a", 1), stored)


def test_every_way_to_say_it_gives_the_same_voxels(made, tmp_path):
    """Two folders; a CT told by its phase, and whatever name; a table."""
    store, image = made

    def same(channels, *arguments):
        out = tmp_path / f"{len(list(tmp_path.iterdir()))}.zarr"
        headrace("ingest", "volumes", *arguments, "--key-file", key_file(tmp_path), "--out", out)
        [one] = facts(out)[1]
        assert json_of("info", out)["channels"] == channels and json_of("info", out)["channel_units"] == ["HU", "SUV"]
        for number in (0, 1):
            np.testing.assert_array_equal(channel(out, one, number), channel(store, image, number))
    same(["CT", "PET"], STS, PET, *NAMED)
    study(tmp_path / "in")
    for path in (tmp_path / "in/ct").iterdir():
        data = pydicom.dcmread(path)
        data.SeriesDescription = "ARTERIAL PHASE"
        data.save_as(path)
    same(["arterial", "fdg"], tmp_path / "in", "--channels", "arterial,fdg=SUV")
    rows = [{"file": str(tmp_path / "in"), "image": "one", "series": n, "channel": name} for n, name in ((2, "scan"), (1, "fdg"))]
    table = write_table(tmp_path / "t.csv", rows)
    same(["scan", "fdg"], tmp_path / "in", "--table", table, "--channels", "scan,fdg=suv")
    table.write_text(table.read_text().replace("fdg", "fdg-pet"))
    same(["scan", "fdg-pet"], tmp_path / "in", "--table", table)


def test_pet_beside_ct_is_left_out_where_nobody_asks_for_it(tmp_path):
    slices = pet_slices()
    for data in slices:
        del data.PatientWeight, data.Units
    study(tmp_path / "in", slices)
    done = json.loads(ingest(tmp_path, "--json").stdout)
    assert done["images"] == 1 and done["skipped"] == 1 and any("PET" in note and "left out" in note for note in done["notes"])
    assert "channels" not in json_of("info", tmp_path / "ct.zarr")


def test_a_study_without_pet(tmp_path):
    shutil.copytree(STS, tmp_path / "in")
    said = message_of(ingest(tmp_path, *NAMED, code=1))
    assert "has no channel PET" in said and not (tmp_path / "ct.zarr").exists()
    ingest(tmp_path, *NAMED, "--missing-channels", "zero")
    [image] = facts(tmp_path / "ct.zarr")[1].values()
    assert [(c["stored"], c["unit"]) for c in image["channels"]] == [(True, "HU"), (False, "SUV")]


# ---- files in SUV --------------------------------------------------------------------------------

def nnunet(folder, both, names):
    """The study as nnU-Net keeps it: PET as float32 SUV on the CT's grid."""
    ct, pet = both
    for name in ("imagesTr", "labelsTr"):
        (folder / name).mkdir(parents=True)
    sitk.WriteImage(sitk.Cast(ct, sitk.sitkInt16), str(folder / "imagesTr/p_0000.nii.gz"))
    sitk.WriteImage(sitk.DICOMOrient(sitk.Cast(on_grid(pet, ct), sitk.sitkFloat32), "RIA"), str(folder / "imagesTr/p_0001.nii.gz"))
    shutil.copy(CT / "sts-008/mask.nii.gz", folder / "labelsTr/p.nii.gz")
    (folder / "dataset.json").write_text(json.dumps({"channel_names": {str(i): name for i, name in enumerate(names)},
                                                     "labels": {"background": 0, "tumour": 1}, "numTraining": 1, "file_ending": ".nii.gz"}))
    return folder


@pytest.mark.parametrize("name", ["PET", "SUV", "pt"])
def test_nnunets_folder_of_ct_and_pet(both, tmp_path, name):
    dataset = nnunet(tmp_path / "Dataset001", both, ["CT", name])
    out = tmp_path / "ct.zarr"
    headrace("ingest", "volumes", dataset, "--out", out)
    pet = sitk.DICOMOrient(sitk.ReadImage(str(dataset / "imagesTr/p_0001.nii.gz")), "LPS")
    expected = hundredths(sitk.GetArrayFromImage(pet))
    assert expected.max() > 500
    np.testing.assert_array_equal(channel(out, "p", 1), expected)
    np.testing.assert_array_equal(channel(out, "p", 0), lps(both[0]))
    told = facts(out)[1]["p"]["channels"][1]
    assert (told["unit"], told["scale"], told["resampled"]) == ("SUV", 0.01, False)
    headrace("verify", out)
    # Labels that come later find the same under them.
    images = ["ingest", "volumes", dataset / "imagesTr", "--channels", f"CT,{name}", *LABELLED, "--out", tmp_path / "later.zarr"]
    headrace(*images)
    headrace("ingest", "labels", tmp_path / "later.zarr", "--annotations", dataset / "labelsTr", *LABELLED)
    assert label_group(tmp_path / "later.zarr", "p") == label_group(out, "p")


@pytest.mark.parametrize("names, code, words", [
    (["CT", "MR"], 1, ['"MR"', "expected"]), (["CT", "T1"], 1, ['"T1"', "expected"]), (["PET"], 1, ['"PET"', "expected"]),
    (["PET", "CT"], 2, ["first channel", "'PET'"])])
def test_modalities_of_dataset_json_that_are_refused(both, tmp_path, names, code, words):
    dataset = nnunet(tmp_path / "Dataset001", both, names)
    if len(names) == 1:
        (dataset / "imagesTr/p_0001.nii.gz").unlink()
    said = message_of(headrace("ingest", "volumes", dataset, "--out", tmp_path / "ct.zarr", code=code))
    assert all(word in said for word in words), said
    assert not (tmp_path / "ct.zarr").exists()


def pair(folder, second, ending=".nii.gz"):
    write_volume(folder / f"in/a_0000{ending}", volume())
    write_volume(folder / f"in/a_0001{ending}", second)
    return folder / "in"


@pytest.mark.parametrize("ending", [".nii.gz", ".nrrd", ".mha"])
def test_hundredths_are_numpys(tmp_path, ending):
    """Rounded to the nearest, halves to even; to the ends of what is stored."""
    values = np.random.default_rng(3).gamma(2, 3, (12, 20, 24)).astype(np.float32)
    values[0, 0, :7] = [0.125, 0.375, -0.125, -0.375, 327.67, -327.68, 0]
    pair(tmp_path, values, ending)
    headrace("ingest", "volumes", tmp_path / "in", "--channels", "ct,fdg=SUV", "--out", tmp_path / "ct.zarr")
    stored = channel(tmp_path / "ct.zarr", "a", 1)
    np.testing.assert_array_equal(stored, hundredths(values))
    assert stored[0, 0, :7].tolist() == [12, 38, -12, -38, 32767, -32768, 0]


@pytest.mark.parametrize("value", [327.68, -327.69, 21000.5, float("nan")])
def test_values_that_are_no_suv(tmp_path, value):
    """Such as Bq/ml."""
    values = np.ones((12, 20, 24), np.float32)
    values[3, 4, 5] = value
    said = message_of(headrace("ingest", "volumes", pair(tmp_path, values), *NAMED, "--out", tmp_path / "ct.zarr", code=1))
    assert all(word in said for word in ("a_0001", "SUV", "-327.68", "327.67")), said


@pytest.mark.parametrize("channels, units", [
    ("ct,pet", "HU SUV"), ("ct,PET", "HU SUV"), ("ct,fdg-pet", "HU SUV"), ("ct,SUV", "HU SUV"), ("ct,PT_2", "HU SUV"), ("ct,suv2", "HU SUV"),
    ("ct,fdg=SUV", "HU SUV"), ("pet=HU,ct=SUV", "HU SUV"), ("ct,pet=HU", "HU HU"), ("ct,petal", "HU HU"), ("ct,apt", "HU HU"), ("ct,suvmax", "HU HU")])
def test_units_by_name_and_stated(tmp_path, channels, units):
    values = np.random.default_rng(5).integers(0, 60, (12, 20, 24)).astype(np.int16)
    headrace("ingest", "volumes", pair(tmp_path, values), "--channels", channels, "--accept", "values", "--out", tmp_path / "ct.zarr")
    root, images = facts(tmp_path / "ct.zarr")
    assert " ".join(c["unit"] for c in images["a"]["channels"]) == units
    assert root["ingest"].get("units") == (units.split() if "SUV" in units else None)
    assert root["ingest"]["channels"] == [name.split("=")[0] for name in channels.split(",")]
    np.testing.assert_array_equal(channel(tmp_path / "ct.zarr", "a", 1), values * (100 if "SUV" in units else 1))


@pytest.mark.parametrize("channels, words", [
    ("PET,CT", ["first channel", "'PET'"]), ("ct=SUV,pet", ["first channel", "'ct'"]), ("ct,fdg=Bq", ["fdg=Bq", "SUV"])])
def test_channels_that_are_refused(tmp_path, channels, words):
    said = message_of(headrace("ingest", "volumes", pair(tmp_path, mask()), "--channels", channels, "--out", tmp_path / "ct.zarr", code=2))
    assert all(word in said for word in words), said
    assert not (tmp_path / "ct.zarr").exists()


def test_a_store_takes_no_images_in_other_units(tmp_path):
    pair(tmp_path, mask())
    for unit, code in (("SUV", 0), ("SUV", 0), ("HU", 2)):
        headrace("ingest", "volumes", tmp_path / "in", "--channels", f"ct,fdg={unit}", "--accept", "values", "--out", tmp_path / "ct.zarr", code=code)
    assert json_of("info", tmp_path / "ct.zarr")["channel_units"] == ["HU", "SUV"]


def test_a_series_in_the_other_ones_unit_is_refused(tmp_path):
    """By a table, which alone says which series is which."""
    study(tmp_path / "in")
    slices = new_series([pydicom.dcmread(path) for path in sorted(STS.iterdir())], number=9)
    save_series(slices, tmp_path / "in/late")
    for channels, number, code, words in (("scan,fdg", 1, 1, ["no series number 1", "PET", "NAME=SUV"]),
                                          ("scan,late=SUV", 9, 2, ["'late'", "in SUV", "CT in HU"])):
        rows = [{"file": str(tmp_path / "in"), "image": "one", "series": n, "channel": c.split("=")[0]} for n, c in zip((2, number), channels.split(","))]
        said = message_of(ingest(tmp_path, "--table", write_table(tmp_path / "t.csv", rows), "--channels", channels, code=code))
        assert all(word in said for word in words), said
        assert not (tmp_path / "ct.zarr").exists()


# ---- nothing of the patient ----------------------------------------------------------------------

SECRETS = {"weight": "73.8125", "dose": "312345678.5", "injection": "113753.25", "scan": "124853.5", "date": "20180918"}


def test_weight_dose_and_times_are_found_nowhere(tmp_path):
    """Beside the identifiers of both series: as texts, and as the numbers that the texts stand for."""
    plant(STS, tmp_path / "in/ct")
    first = pydicom.dcmread(next((tmp_path / "in/ct").iterdir()))
    slices = new_series(pet_slices(), series=f"{UIDS[1]}.7")
    for data in slices:
        for keyword in ("PatientName", "PatientID", "StudyInstanceUID", "FrameOfReferenceUID", "SeriesDescription", "StudyDate", "SeriesDate",
                        "AcquisitionDate", "PatientComments", "DeviceSerialNumber"):
            setattr(data, keyword, getattr(first, keyword))
        data.Units, data.DecayCorrection = "BQML", "START"
        data.RescaleSlope = f"{float(data.RescaleSlope) * 2500:.9e}"
        data.PatientWeight, data.SeriesTime, data.AcquisitionTime = SECRETS["weight"], SECRETS["scan"], SECRETS["scan"]
        agent = data.RadiopharmaceuticalInformationSequence[0]
        agent.RadionuclideTotalDose, agent.RadiopharmaceuticalStartTime = SECRETS["dose"], SECRETS["injection"]
    save_series(slices, tmp_path / "in/pet")
    done = ingest(tmp_path, *NAMED)
    out = tmp_path / "ct.zarr"
    said = done.stdout + done.stderr + headrace("verify", out).stdout + headrace("info", out).stdout + headrace("info", out, "--json").stdout
    texts = [text for value in SECRETS.values() for text in {value, value.split(".")[0]} if len(text) > 4]
    needles = [text.encode() for text in texts] + [struct.pack("<d", float(SECRETS[key])) for key in ("weight", "dose")]
    [image] = facts(out)[1]
    assert channel(out, image, 1).max() > 100

    def nothing_in(where, raw):
        assert_nothing_found(where, raw)
        for needle in needles:
            assert needle not in raw, (where, needle)
    nothing_in("output", said.replace(str(tmp_path), "").encode())
    files = [path for path in sorted(out.rglob("*")) if path.is_file()]
    assert any("channels/1/0" in str(path) for path in files)
    for path in files:
        nothing_in("a name", str(path.relative_to(out)).encode())
        for part in unpacked(path.read_bytes()):
            nothing_in(path, part)
