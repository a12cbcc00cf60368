"""Series of one study become channels of one volume: from nnU-Net's folders, files with numbers and tables; on the first one's grid, whatever
the order of their axes; resampled as SimpleITK does where they lie in one world, and refused where this is not stated."""
import json
import shutil
import signal
import subprocess
import time

import numpy as np
import pytest
import SimpleITK as sitk
import zarr
from channel_inputs import PHASES, ZERO, channel, lps
from ct_inputs import CT, facts, labels, mask, write_volume
from driving import PROGRAM, headrace, json_of, label_group, message_of, write_table
from volume_store import halve

IMAGE, GTV = CT / "sarcoma/sts-019.nii.gz", CT / "sarcoma/sts-019-gtv.nii.gz"


def second_phase(image, order="RIA"):
    """The same scan later: what holds contrast agent is brighter, by a rule that knows no neighbour; in another order of axes."""
    values = sitk.GetArrayFromImage(image).astype(np.int32)
    later = sitk.GetImageFromArray((values + np.where(values > 0, 57 + values // 8, 0)).astype(np.int16))
    later.CopyInformation(image)
    return sitk.DICOMOrient(later, order)


@pytest.fixture(scope="module")
def scan():
    return sitk.Cast(sitk.ReadImage(str(IMAGE)), sitk.sitkInt16)


@pytest.fixture(scope="module")
def pair(scan, tmp_path_factory):
    """A real CT and a second phase of it, as files of nnU-Net's names; two cases."""
    folder = tmp_path_factory.mktemp("pair")
    for case in ("case-a", "case-b"):
        sitk.WriteImage(scan, str(folder / f"{case}_0000.nii.gz"))
        sitk.WriteImage(second_phase(scan), str(folder / f"{case}_0001.nii.gz"))
    return folder


@pytest.fixture(scope="module")
def masks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("masks")
    for case in ("case-a", "case-b"):
        shutil.copy(GTV, folder / f"{case}.nii.gz")
    return folder


@pytest.fixture(scope="module")
def store(pair, masks, tmp_path_factory):
    out = tmp_path_factory.mktemp("store") / "ct.zarr"
    headrace("ingest", "volumes", pair, "--channels", PHASES, "--labels", masks, "--classes", "background,tumour", "--out", out)
    return out


def test_a_channel_has_its_files_voxels_on_the_first_ones_grid(store, scan):
    later = lps(second_phase(scan))
    np.testing.assert_array_equal(channel(store, "case-a", 0), lps(scan))
    np.testing.assert_array_equal(channel(store, "case-a", 1), later)
    assert (later != lps(scan)).mean() > 0.1
    root, images = facts(store)
    assert root["ingest"]["channels"] == PHASES.split(",")
    assert [c["name"] for c in images["case-a"]["channels"]] == PHASES.split(",")
    level = later
    for k in range(1, len(images["case-a"]["levels"])):
        if images["case-a"]["downsample"][k] != [2**k] * 3:
            break
        level = halve(level)
        np.testing.assert_array_equal(channel(store, "case-a", 1, k), level)
    headrace("verify", store)


def test_statistics_are_of_each_channels_own_voxels(store):
    body = zarr.open_group(store, mode="r")["images/case-a/masks/body"][:] > 0
    tumour = labels(store, "case-a") == 1
    _, images = facts(store)
    group = zarr.open_group(store, mode="r")
    for number in (0, 1):
        values = channel(store, "case-a", number).astype(np.float64)
        stated = images["case-a"]["channels"][number]["body"]
        assert stated["voxels"] == body.sum()
        assert stated["mean"] == pytest.approx(values[body].mean()) and stated["std"] == pytest.approx(values[body].std())
        assert stated["p99_5"] == pytest.approx(np.percentile(values[body], 99.5))
        under = group[f"{label_group(store, 'case-a')}/histogram" + ("" if number == 0 else "-1")][:]
        found, counts = np.unique(values[tumour], return_counts=True)
        np.testing.assert_array_equal(under, np.stack([found + 32768, counts], 1).astype(np.uint64))


def test_a_channel_is_an_ome_image_of_its_own(store):
    both = [dict(zarr.open_group(store, path=path, mode="r").attrs)["ome"]["multiscales"][0] for path in ("images/case-a", "images/case-a/channels/1")]
    assert both[0]["axes"] == both[1]["axes"] and both[0]["datasets"] == both[1]["datasets"] and both[1]["name"] == "portal-venous"


def test_commands_say_and_read_channels(store, scan, tmp_path):
    told = json_of("info", store)
    assert told["channels"] == PHASES.split(",") and [c["name"] for c in told["images"][0]["channels"]] == PHASES.split(",")
    assert "channels: arterial, portal-venous" in headrace("info", store).stdout
    shape = told["images"][0]["shape"]
    headrace("read", store, "case-a", "--channel", "portal-venous", "--origin", "0,0,0", "--size", ",".join(map(str, shape)), "--out", tmp_path / "a.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), lps(second_phase(scan)))
    headrace("read", store, "case-a", "--channel", "portal-venous", "--out", tmp_path / "a.nii.gz")
    np.testing.assert_array_equal(sitk.GetArrayFromImage(sitk.ReadImage(str(tmp_path / "a.nii.gz"))),
                                  sitk.GetArrayFromImage(sitk.DICOMOrient(second_phase(scan), "".join(sitk.DICOMOrientImageFilter_GetOrientationFromDirectionCosines(scan.GetDirection())))))
    said = message_of(headrace("read", store, "case-a", "--channel", "delayed", "--out", tmp_path / "b.nii.gz", code=2))
    assert "delayed" in said and "arterial, portal-venous" in said
    said = message_of(headrace("read", store, "case-a", "--channel", "typo", "--label", "annotation", "--out", tmp_path / "b.nii.gz", code=2))
    assert "--channel typo" in said


def nnunet(folder, pair, masks, names, cases=("case-a", "case-b")):
    for name in ("imagesTr", "labelsTr"):
        (folder / name).mkdir(parents=True)
    for case in cases:
        shutil.copy(masks / f"{case}.nii.gz", folder / "labelsTr")
        for number in range(2):
            shutil.copy(pair / f"{case}_{number:04}.nii.gz", folder / "imagesTr")
    (folder / "dataset.json").write_text(json.dumps({
        "channel_names": {str(i): name for i, name in enumerate(names)}, "labels": {"background": 0, "tumour": 1},
        "numTraining": len(cases), "file_ending": ".nii.gz"}))
    return folder


def test_every_way_to_say_it_gives_the_same_store(store, pair, masks, tmp_path):
    expected = json_of("info", store)["dataset_hash"]
    dataset = nnunet(tmp_path / "Dataset001", pair, masks, ["arterial", "portal-venous"])
    assert json_of("ingest", "volumes", dataset, "--out", tmp_path / "nnunet.zarr")["dataset_hash"] == expected
    rows = [{"file": str(pair / f"{case}_{number:04}.nii.gz"), "image": case, "channel": name,
             "labels": str(masks / f"{case}.nii.gz") if number == 0 else ""}
            for number, name in enumerate(PHASES.split(",")) for case in ("case-a", "case-b")]
    table = write_table(tmp_path / "cases.csv", rows)
    for jobs in (1, 7):
        made = json_of("ingest", "volumes", pair, "--table", table, "--classes", "background,tumour", "--jobs", jobs, "--out", tmp_path / f"t{jobs}.zarr")
        assert made["dataset_hash"] == expected and made["images"] == 2


def test_labels_that_come_later_are_those_that_came_with_it(store, pair, masks, tmp_path):
    headrace("ingest", "volumes", pair, "--channels", PHASES, "--classes", "background,tumour", "--out", tmp_path / "ct.zarr")
    headrace("ingest", "labels", tmp_path / "ct.zarr", "--annotations", masks, "--classes", "background,tumour")
    assert label_group(tmp_path / "ct.zarr", "case-a") == label_group(store, "case-a")
    headrace("verify", tmp_path / "ct.zarr")


def test_rows_of_other_labels(store, masks, tmp_path):
    """A row for each channel, as in the table that made the store; what they state of an image must agree, and its phase is the first one's."""
    shutil.copytree(store, tmp_path / "ct.zarr")

    def rows(**second):
        return [{"image": "case-a", "channel": name, "phase": name, "case": "p1", "labels": ""} | (second if i else {})
                for i, name in enumerate(PHASES.split(","))]

    def said(table):
        return message_of(headrace("ingest", "labels", tmp_path / "ct.zarr", "--table", write_table(tmp_path / "t.csv", table), code=2))
    assert '"p2"' in said(rows(case="p2")) and "another row of image 'case-a'" in said(rows(case="p2"))
    assert "has a row already" in said(rows(channel="arterial"))
    assert "has a row already" in said(rows(channel=""))
    assert "arterial, portal-venous" in said(rows(channel="delayed"))
    headrace("ingest", "labels", tmp_path / "ct.zarr", "--table", write_table(tmp_path / "t.csv", rows()))
    [told] = [image for image in json_of("info", tmp_path / "ct.zarr")["images"] if image["id"] == "case-a"]
    assert told["phase"] == "arterial" and told["case"] == "p1"


def test_names_of_dataset_json(pair, masks, tmp_path):
    same = nnunet(tmp_path / "same", pair, masks, ["CT", "CT"])
    assert json_of("info", tmp_path / "same.zarr")["channels"] == ["CT-0", "CT-1"] if headrace(
        "ingest", "volumes", same, "--out", tmp_path / "same.zarr") else False
    mr = nnunet(tmp_path / "mr", pair, masks, ["CT", "T1"])
    said = message_of(headrace("ingest", "volumes", mr, "--out", tmp_path / "mr.zarr", code=1))
    assert '"T1"' in said and "expected" in said and not (tmp_path / "mr.zarr").exists()
    numbers = nnunet(tmp_path / "numbers", pair, masks, ["CT", 7])
    assert "says 7 of channel 1, expected a name" in message_of(headrace("ingest", "volumes", numbers, "--out", tmp_path / "n.zarr", code=1))
    single = nnunet(tmp_path / "single", pair, masks, ["CT_arterial"])
    assert "expected \"CT\"" in message_of(headrace("ingest", "volumes", single, "--out", tmp_path / "s.zarr", code=1))
    lacking = nnunet(tmp_path / "lacking", pair, masks, ["CT", "CT"])
    (lacking / "imagesTr/case-b_0000.nii.gz").unlink()
    assert "'case-b' has no channel CT-0" in message_of(headrace("ingest", "volumes", lacking, "--out", tmp_path / "l.zarr", code=1))
    assert json_of("ingest", "volumes", lacking, "--on-error", "skip", "--out", tmp_path / "l.zarr")["images"] == 1
    told = json.loads((lacking / "dataset.json").read_text())
    told["training"] = [{"image": f"imagesTr/{c}.nii.gz", "label": f"labelsTr/{c}.nii.gz"} for c in ("case-a", "case-b")]
    (lacking / "dataset.json").write_text(json.dumps(told))
    assert json_of("ingest", "volumes", lacking, "--on-error", "skip", "--out", tmp_path / "l2.zarr")["images"] == 1
    headrace("ingest", "volumes", mr, "--channels", "early,late", "--out", tmp_path / "named.zarr")
    assert json_of("info", tmp_path / "named.zarr")["channels"] == ["early", "late"]
    said = message_of(headrace("ingest", "volumes", mr, "--channels", "a,b,c", "--out", tmp_path / "three.zarr", code=2))
    assert "3 channels" in said and "has 2" in said


# ---- other grids ---------------------------------------------------------------------------------

def moved(scan):
    """Another grid of the same world: turned by some degrees, coarser in the plane, reaching beyond and ending before the first one."""
    size, spacing = np.array(scan.GetSize()), np.array(scan.GetSpacing())
    turn = sitk.Euler3DTransform(scan.TransformContinuousIndexToPhysicalPoint((size / 2).tolist()), 0.05, -0.03, 0.2)
    new_spacing = spacing * [1.3, 1.2, 0.9]
    new_size = [int(n) for n in size * [0.8, 0.7, 1.0]]
    direction = np.array(turn.GetMatrix()).reshape(3, 3) @ np.array(scan.GetDirection()).reshape(3, 3)
    centre = np.array(scan.TransformContinuousIndexToPhysicalPoint((size / 2).tolist()))
    origin = centre - direction @ (new_spacing * (np.array(new_size) - 1) / 2) + [7.0, -4.0, 3.0]
    return sitk.Cast(sitk.Round(sitk.Resample(scan, new_size, sitk.Transform(), sitk.sitkLinear, origin.tolist(), new_spacing.tolist(),
                                              direction.ravel().tolist(), -1000, sitk.sitkFloat64)), sitk.sitkInt16)


def test_a_moving_series_is_resampled_as_simpleitk_does(scan, tmp_path):
    """Voxels are stored as whole HU: SimpleITK's values, before they are rounded, lie within half of one and the rounding of its float32
    places; beyond the moving series' voxels there is air."""
    moving = moved(scan)
    (tmp_path / "in").mkdir()
    sitk.WriteImage(scan, str(tmp_path / "in/a_0000.nii.gz"))
    sitk.WriteImage(moving, str(tmp_path / "in/a_0001.nii.gz"))
    # What NIfTI keeps of the places, in float32.
    fixed, moving = (sitk.ReadImage(str(tmp_path / f"in/a_000{i}.nii.gz")) for i in (0, 1))
    for jobs in (1, 7):
        headrace("ingest", "volumes", tmp_path / "in", "--channels", PHASES, "--shared-frame", "--jobs", jobs, "--out", tmp_path / f"{jobs}.zarr")
    ours = channel(tmp_path / "1.zarr", "a", 1)
    np.testing.assert_array_equal(ours, channel(tmp_path / "7.zarr", "a", 1))
    theirs = sitk.GetArrayFromImage(sitk.Resample(moving, sitk.DICOMOrient(fixed, "LPS"), sitk.Transform(), sitk.sitkLinear, 1e6, sitk.sitkFloat64))
    inside = theirs < 4e4
    assert 0.3 < inside.mean() < 0.99 and theirs[inside].std() > 100
    assert np.abs(ours - theirs)[inside].max() <= 0.6
    assert (ours == np.rint(theirs))[inside].mean() > 0.999
    assert (ours[~inside] == -1024).mean() > 0.999  # up to places that lie on the edge itself
    _, images = facts(tmp_path / "1.zarr")
    told = images["a"]["channels"][1]
    notes = {note["code"]: note["values"] for note in images["a"]["notes"]}
    assert told["resampled"] is True and "channel-resampled" in notes
    # What the series does not reach says nothing of the patient: neither in the body nor under labels, whenever these come.
    body = zarr.open_group(tmp_path / "1.zarr", mode="r")["images/a/masks/body"][:] > 0
    shown = body & inside
    assert told["body"]["voxels"] == pytest.approx(shown.sum(), rel=1e-3) and shown.sum() < 0.9 * body.sum()
    assert told["body"]["mean"] == pytest.approx(ours[shown].mean(), abs=0.5) and told["body"]["mean"] > ours[body].mean() + 20
    assert notes["channel-partial"] == pytest.approx([1, 100 * shown.sum() / body.sum()], rel=1e-3)
    everywhere = np.ones(ours.shape, np.uint8)
    (tmp_path / "masks").mkdir()
    mask_image = sitk.GetImageFromArray(everywhere)
    mask_image.CopyInformation(sitk.DICOMOrient(fixed, "LPS"))
    sitk.WriteImage(mask_image, str(tmp_path / "masks/a.nii.gz"))
    labelled = ["--classes", "background,tumour"]
    headrace("ingest", "volumes", tmp_path / "in", "--channels", PHASES, "--shared-frame", "--labels", tmp_path / "masks", *labelled, "--out", tmp_path / "l.zarr")
    headrace("ingest", "labels", tmp_path / "7.zarr", "--annotations", tmp_path / "masks", *labelled)
    assert label_group(tmp_path / "l.zarr", "a") == label_group(tmp_path / "7.zarr", "a")
    under = zarr.open_group(tmp_path / "l.zarr", mode="r")[f"{label_group(tmp_path / 'l.zarr', 'a')}/histogram-1"][:]
    assert under[:, 1].sum() == pytest.approx(inside.sum(), rel=1e-3)
    headrace("verify", tmp_path / "1.zarr")


def test_other_grids_are_refused_unless_the_user_says_that_they_share_a_world(scan, tmp_path):
    (tmp_path / "in").mkdir()
    sitk.WriteImage(scan, str(tmp_path / "in/a_0000.nii.gz"))
    sitk.WriteImage(moved(scan), str(tmp_path / "in/a_0001.nii.gz"))
    said = message_of(headrace("ingest", "volumes", tmp_path / "in", "--channels", PHASES, "--out", tmp_path / "a.zarr", code=1))
    assert "a_0000.nii.gz" in said and "a_0001.nii.gz" in said and "--shared-frame" in said
    assert not (tmp_path / "a.zarr").exists()
    far = sitk.Image(scan)
    far.SetOrigin([v + 5000 for v in scan.GetOrigin()])
    sitk.WriteImage(far, str(tmp_path / "in/a_0001.nii.gz"))
    said = message_of(headrace("ingest", "volumes", tmp_path / "in", "--channels", PHASES, "--shared-frame", "--out", tmp_path / "b.zarr", code=1))
    assert "no voxel" in said and "a_0000.nii.gz" in said and "a_0001.nii.gz" in said and not (tmp_path / "b.zarr").exists()
    rows = [{"file": str(tmp_path / f"in/a_000{i}.nii.gz"), "image": "a", "channel": name} for i, name in enumerate(("x", "y"))]
    said = message_of(headrace("ingest", "volumes", tmp_path / "in", "--table", write_table(tmp_path / "t.csv", rows), "--out", tmp_path / "c.zarr", code=1))
    assert "t.csv, line 3" in said and "line 2" not in said


# ---- missing and contradicting -------------------------------------------------------------------

def test_missing_channels(pair, masks, tmp_path):
    shutil.copytree(pair, tmp_path / "in")
    (tmp_path / "in/case-b_0001.nii.gz").unlink()
    command = ["ingest", "volumes", tmp_path / "in", "--channels", PHASES]
    said = message_of(headrace(*command, "--out", tmp_path / "no.zarr", code=1))
    assert "'case-b' has no channel portal-venous" in said and "case-b_0000.nii.gz" in said and not (tmp_path / "no.zarr").exists()
    left = json_of(*command, "--on-error", "skip", "--out", tmp_path / "skip.zarr")
    assert left["images"] == 1 and len(left["left_out"]) == 1
    # The mask of what is left out goes with it; one of no image at all is still refused.
    labelled = ["--labels", tmp_path / "masks", "--classes", "background,tumour", "--on-error", "skip"]
    shutil.copytree(masks, tmp_path / "masks")
    assert json_of(*command, *labelled, "--out", tmp_path / "labelled.zarr")["images"] == 1
    assert label_group(tmp_path / "labelled.zarr", "case-a")
    shutil.copy(GTV, tmp_path / "masks/case-c.nii.gz")
    assert "case-c.nii.gz fits no image" in message_of(headrace(*command, *labelled, "--out", tmp_path / "other.zarr", code=2))
    headrace(*command, "--missing-channels", "zero", "--out", tmp_path / "zero.zarr")
    told = {image["id"]: image for image in json_of("info", tmp_path / "zero.zarr")["images"]}
    assert [c["stored"] for c in told["case-b"]["channels"]] == [True, False] and told["case-a"]["channels"][1]["stored"]
    assert not (tmp_path / "zero.zarr/images/case-b/channels/1").exists()
    headrace("verify", tmp_path / "zero.zarr")
    (tmp_path / "in/case-b_0000.nii.gz").rename(tmp_path / "in/case-b_0001.nii.gz")
    said = message_of(headrace(*command, "--missing-channels", "zero", "--out", tmp_path / "first.zarr", code=1))
    assert "no channel arterial" in said and "gives the grid" in said


def test_a_broken_channel_is_no_missing_one(pair, tmp_path):
    """Its image is left out whole, and once, by what is wrong with it."""
    def left_out(*arguments):
        shutil.rmtree(tmp_path / "ct.zarr", ignore_errors=True)
        done = json_of("ingest", "volumes", *arguments, *ZERO, "--out", tmp_path / "ct.zarr")
        [one] = done["left_out"]
        return done["images"], one["reason"]
    rows = [{"file": str(pair / f"{case}_000{i}.nii.gz"), "image": case, "channel": name} for case in ("case-a", "case-b") for i, name in enumerate(("x", "y"))]
    rows[3]["file"] = "gone.nii.gz"
    images, reason = left_out(pair, "--table", write_table(tmp_path / "t.csv", rows))
    assert images == 1 and "gone.nii.gz" in reason
    shutil.copytree(pair, tmp_path / "in")
    for ending in ("mask", "seg"):
        shutil.copy(GTV, tmp_path / f"in/case-b_0001_{ending}.nii.gz")
    images, reason = left_out(tmp_path / "in", "--channels", PHASES)
    assert images == 1 and "two masks" in reason
    images, reason = left_out(*(pair / f"case-{c}_000{i}.nii.gz" for c in "ab" for i in (0, 1) if (c, i) != ("b", 1)), pair / "none/case-b_0001.nii.gz",
                              "--channels", PHASES)
    assert images == 1 and "none/case-b_0001.nii.gz" in reason


def test_what_contradicts_itself_is_refused(pair, tmp_path):
    def rows(**second):
        return [{"file": str(pair / f"case-a_000{i}.nii.gz"), "image": "a", "channel": name, "case": "p1"} | (second if i else {})
                for i, name in enumerate(("x", "y"))]

    def said(table, *arguments, code=2):
        return message_of(headrace("ingest", "volumes", pair, "--table", write_table(tmp_path / "t.csv", table), *arguments,
                                   "--out", tmp_path / "ct.zarr", code=code))
    assert "case 'p2'" in said(rows(case="p2"))
    assert "name it in the column 'channel'" in said(rows() + [dict(rows()[0], image="b", channel="")])
    assert "names 'x' alone" in said(rows(channel=""))
    doubled = said(rows(channel="x") + rows(file=str(pair / "case-b_0001.nii.gz"))[1:])
    assert "second channel 'x'" in doubled and "keep one" in doubled
    assert "nothing says" in said(rows() + [{"file": str(pair / "case-b_0000.nii.gz"), "image": "b", "channel": "", "case": "p3"}])
    assert "of which image" in said(rows(image=""))
    assert "none of" in said(rows(channel="z"), "--channels", "x,y")
    assert "channel" in said(rows(channel="19700101"))
    assert not (tmp_path / "ct.zarr").exists()
    assert "two or more" in message_of(headrace("ingest", "volumes", pair, "--channels", "x", "--out", tmp_path / "ct.zarr", code=2))


def test_a_store_takes_no_images_of_other_channels(store, pair, masks, tmp_path):
    shutil.copytree(store, tmp_path / "ct.zarr")
    said = message_of(headrace("ingest", "volumes", pair, "--channels", "portal-venous,arterial", "--labels", masks, "--classes", "background,tumour",
                               "--out", tmp_path / "ct.zarr", code=2))
    assert "channels" in said


def test_killed_and_finished(scan, tmp_path):
    """A run that ends in the middle leaves nothing that the next one takes for whole."""
    (tmp_path / "in").mkdir()
    for i in range(6):
        sitk.WriteImage(scan, str(tmp_path / f"in/c{i}_0000.nii.gz"))
        sitk.WriteImage(second_phase(scan), str(tmp_path / f"in/c{i}_0001.nii.gz"))
    command = [PROGRAM, "ingest", "volumes", tmp_path / "in", "--channels", PHASES, "--jobs", "1", "--out"]
    process = subprocess.Popen([*command, tmp_path / "ct.zarr"], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    deadline = time.time() + 240
    while process.poll() is None and time.time() < deadline and not list((tmp_path / "ct.zarr").glob("images/c2/channels/1/0")):
        time.sleep(0.002)
    process.kill()
    assert process.wait(timeout=300) == -signal.SIGKILL
    done = json_of("ingest", "volumes", tmp_path / "in", "--channels", PHASES, "--out", tmp_path / "ct.zarr")
    whole = json_of("ingest", "volumes", tmp_path / "in", "--channels", PHASES, "--out", tmp_path / "whole.zarr")
    assert done["dataset_hash"] == whole["dataset_hash"]


def test_a_mask_beside_the_channels(scan, tmp_path):
    shape = sitk.GetArrayFromImage(scan).shape
    (tmp_path / "in").mkdir()
    sitk.WriteImage(scan, str(tmp_path / "in/a_0000.nii.gz"))
    sitk.WriteImage(second_phase(scan), str(tmp_path / "in/a_0001.nii.gz"))
    (tmp_path / "masks").mkdir()
    small = write_volume(tmp_path / "masks/a.nii.gz", mask(shape))
    said = message_of(headrace("ingest", "volumes", tmp_path / "in", "--channels", PHASES, "--labels", tmp_path / "masks",
                               "--classes", "background,tumour", "--out", tmp_path / "ct.zarr", code=1))
    assert str(small.name) in said and "another grid" in said
