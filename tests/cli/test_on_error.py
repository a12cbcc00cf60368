"""Bad inputs among good ones: without --on-error skip all of them are named and nothing is stored; with it the store is that of the good ones alone."""
import json
import shutil

import pytest
import SimpleITK as sitk
from ct_inputs import CT, STS, key_file, mask, save_series, sts_slices, volume, write_volume
from driving import SAMPLES, few_nuclei, headrace, json_of, message_of, rows_of, write_table

TIFF = SAMPLES / "slides/derived/cmu-bigtiff-deflate-512.tif"
SLIDE = SAMPLES / "slides/CMU-1-Small-Region.svs"


def whole_message(done):
    """The sentence with the list below it."""
    assert sum(line.startswith("headrace: ") for line in done.stderr.splitlines()) == 1, done.stderr
    return done.stderr[done.stderr.index("headrace: "):]


def slides(folder):
    """Two good images, and beside them a text, a truncated slide, and a TIFF with damage that only decoding finds."""
    folder.mkdir()
    shutil.copy(SAMPLES / "tissue/almost-white-1.png", folder / "a-good.png")
    shutil.copy(SLIDE, folder / "z-good.svs")
    (folder / "text.svs").write_text("Dear colleague, the slide is in the other folder.\n" * 20)
    (folder / "cut.svs").write_bytes(SLIDE.read_bytes()[:500000])
    damaged = bytearray(TIFF.read_bytes())
    middle = len(damaged) // 3
    damaged[middle:middle + 4000] = bytes(4000)
    (folder / "damaged.tif").write_bytes(damaged)
    return folder


def good_only(folder, to):
    to.mkdir()
    for path in folder.glob("*-good.*"):
        shutil.copy(path, to)
    return to


def test_all_bad_slides_are_named_before_anything_is_stored(tmp_path):
    folder = slides(tmp_path / "in")
    done = headrace("ingest", "slides", folder, tmp_path / "gone.svs", "--out", tmp_path / "out.zarr", code=4)
    text = whole_message(done)
    assert "3 of 6 inputs can't be ingested" in text and "--on-error skip" in text
    for name in ("text.svs", "cut.svs", "gone.svs"):
        assert sum(name in line for line in text.splitlines()) == 1, text
    assert not (tmp_path / "out.zarr").exists()


@pytest.mark.parametrize("jobs", [1, 2])
def test_skipping_gives_the_store_of_the_good_ones(tmp_path, jobs):
    folder = slides(tmp_path / "in")
    expected = json_of("ingest", "slides", good_only(folder, tmp_path / "good"), "--out", tmp_path / "good.zarr")
    result = json_of("ingest", "slides", folder, "--out", tmp_path / "out.zarr", "--on-error", "skip", "--jobs", jobs, "--codec", "auto")
    assert result["dataset_hash"] == expected["dataset_hash"] and result["images"] == 2
    assert result["left_out_count"] == 3
    assert [bad["input"].rsplit("/")[-1] for bad in result["left_out"]] == ["cut.svs", "damaged.tif", "text.svs"]
    assert all(bad["input"].rsplit("/")[-1] in bad["reason"] or "image damaged" in bad["reason"] for bad in result["left_out"])
    left = [str(path.relative_to(tmp_path / "out.zarr")) for path in (tmp_path / "out.zarr").rglob("*")]
    assert not [name for name in left if "damaged" in name or "cut" in name or ".ingest" in name], left
    headrace("verify", tmp_path / "out.zarr")
    again = headrace("ingest", "slides", folder, "--out", tmp_path / "out.zarr", "--on-error", "skip")
    assert "3 inputs were left out:" in again.stdout and expected["dataset_hash"] in again.stdout


def test_a_mended_slide_joins_the_store_later(tmp_path):
    folder = slides(tmp_path / "in")
    json_of("ingest", "slides", folder, "--out", tmp_path / "out.zarr", "--on-error", "skip")
    shutil.copy(TIFF, folder / "damaged.tif")
    result = json_of("ingest", "slides", folder, "--out", tmp_path / "out.zarr", "--on-error", "skip")
    assert result["images"] == 3 and result["reused"] == 2 and len(result["left_out"]) == 2
    headrace("verify", tmp_path / "out.zarr")


def test_when_all_are_bad_it_fails(tmp_path):
    folder = slides(tmp_path / "in")
    for path in folder.glob("*-good.*"):
        path.unlink()
    text = whole_message(headrace("ingest", "slides", folder, "--out", tmp_path / "out.zarr", "--on-error", "skip", code=4))
    assert "damaged" in text
    assert not list((tmp_path / "out.zarr").rglob("*")) and "skip" not in text
    (folder / "damaged.tif").unlink()
    text = whole_message(headrace("ingest", "slides", folder, "--out", tmp_path / "two.zarr", "--on-error", "skip", code=4))
    assert "2 of 2 inputs" in text and "cut.svs" in text and "text.svs" in text and not (tmp_path / "two.zarr").exists()


def test_bad_annotations_and_missing_files_of_a_table(tmp_path):
    rows = rows_of(few_nuclei(tmp_path, 4, 1))
    for row in rows:
        row["coding"] = ""
        row["annotation"] = ""
    rows[1]["annotation"] = str(tmp_path / "cut.geojson")
    (tmp_path / "cut.geojson").write_text('{"type": "FeatureCollection", "features": [')
    rows[2]["file"] = "gone.png"
    rows[3]["annotation"] = str(tmp_path / "gone.geojson")
    ring = [[5, 5], [60, 5], [60, 60], [5, 60], [5, 5]]
    (tmp_path / "good.geojson").write_text(json.dumps({"type": "Feature", "geometry": {"type": "Polygon", "coordinates": [ring]},
                                                       "properties": {"classification": {"name": "nucleus"}}}))
    rows[0]["annotation"] = str(tmp_path / "good.geojson")
    arguments = ("ingest", "slides", "--classes", "background,nucleus", "--table", write_table(tmp_path / "cases.csv", rows))
    text = whole_message(headrace(*arguments, "--out", tmp_path / "out.zarr", code=1))
    assert "3 of 5 inputs" in text
    for words in ("cut.geojson", "line 4", "gone.png", "line 5", "gone.geojson"):
        assert words in text, text
    assert not (tmp_path / "out.zarr").exists()
    result = json_of(*arguments, "--out", tmp_path / "out.zarr", "--on-error", "skip")
    good = write_table(tmp_path / "good.csv", [rows[0], rows[4]])
    expected = json_of(*arguments[:4], "--table", good, "--out", tmp_path / "good.zarr")
    assert result["dataset_hash"] == expected["dataset_hash"] and len(result["left_out"]) == 3


def volumes(folder):
    write_volume(folder / "a.nii.gz", volume())
    write_volume(folder / "a_seg.nii.gz", mask())
    write_volume(folder / "b.nii.gz", volume(seed=2))
    write_volume(folder / "b_seg.nii.gz", mask(), origin=(-10, -20, 35))  # on another grid
    write_volume(folder / "c.nii.gz", volume(seed=3))
    cut = (folder / "c.nii.gz").read_bytes()
    (folder / "c.nii.gz").write_bytes(cut[:len(cut) // 2])
    write_volume(folder / "lonely_mask.nii.gz", mask())
    good = save_series(sts_slices(), folder / "series")
    bad = save_series(sts_slices(6), folder / "broken")
    for i, data in enumerate(sts_slices(6)):
        data.SeriesInstanceUID, data.SOPInstanceUID, data.SeriesNumber = "1.2.3.4", f"1.2.3.4.{i}", "77"
        data.save_as(bad / f"{i:03}.dcm")
    cut = (bad / "005.dcm").read_bytes()
    (bad / "005.dcm").write_bytes(cut[:900])
    return good


def test_bad_volumes(tmp_path):
    """A DICOM file that can't be read may be the last slice of its series, which must not pass as a shorter one."""
    series = volumes(tmp_path / "in")
    arguments = ("ingest", "volumes", tmp_path / "in", "--classes", "background,lesion")
    text = whole_message(headrace(*arguments, "--out", tmp_path / "out.zarr", code=4))
    assert "3 of 6 inputs" in text, text  # that c is cut short shows when it is read
    for words in ("b_seg.nii.gz", "lonely_mask.nii.gz", "broken/005.dcm", "1 series in its folder"):
        assert words in text, text
    assert not (tmp_path / "out.zarr").exists() and not (tmp_path / "out.zarr.key").exists()
    result = json_of(*arguments, "--out", tmp_path / "out.zarr", "--on-error", "skip", "--key-file", key_file(tmp_path))
    expected = json_of("ingest", "volumes", tmp_path / "in/a.nii.gz", tmp_path / "in/a_seg.nii.gz", series, "--classes", "background,lesion", "--out",
                       tmp_path / "good.zarr", "--key-file", key_file(tmp_path))
    assert result["images"] == 2 and result["dataset_hash"] == expected["dataset_hash"]
    assert len(result["left_out"]) == 4
    headrace("verify", tmp_path / "out.zarr")


def test_a_mask_whose_values_are_bad_is_found_while_it_is_read(tmp_path):
    labels = mask()
    labels[7, 8, 9] = 3
    for name, values in (("a", mask()), ("b", labels)):
        write_volume(tmp_path / f"in/{name}.nii.gz", volume())
        write_volume(tmp_path / f"in/{name}_seg.nii.gz", values)
    result = json_of("ingest", "volumes", tmp_path / "in", "--classes", "background,liver", "--out", tmp_path / "out.zarr", "--on-error", "skip")
    assert result["images"] == 1 and "value 3" in result["left_out"][0]["reason"]
    assert not [path for path in (tmp_path / "out.zarr").rglob("*") if path.name == "b"]
    headrace("verify", tmp_path / "out.zarr")


def test_no_key_is_left_where_nothing_was_stored(tmp_path):
    """Damage that only decoding finds: the key was there for the first pseudonym, and goes with it."""
    folder = save_series(sts_slices(), tmp_path / "in")
    data = sts_slices()[5]
    pixels = len(data.PixelData)
    whole = (folder / "005.dcm").read_bytes()
    (folder / "005.dcm").write_bytes(whole[:len(whole) - pixels // 2])
    assert "005.dcm" in message_of(headrace("ingest", "volumes", folder, "--out", tmp_path / "out.zarr", code=4))
    assert [path.name for path in tmp_path.iterdir()] == ["in"]
    (folder / "005.dcm").write_bytes(whole)
    headrace("ingest", "volumes", folder, "--out", tmp_path / "out.zarr")
    assert (tmp_path / "out.zarr.key").exists()


def test_the_key_goes_again_when_the_first_image_fails(tmp_path):
    """A mask whose values only reading shows: the series' pseudonym was about to be stored."""
    image = sitk.ReadImage(str(CT / "sts-008/mask.nii.gz"))
    image[5, 6, 7] = 7
    sitk.WriteImage(image, str(tmp_path / "mask.nii.gz"))
    table = write_table(tmp_path / "cases.csv", [{"file": str(STS), "labels": str(tmp_path / "mask.nii.gz")}])
    arguments = ("ingest", "volumes", STS, "--table", table, "--classes", "background,lesion", "--out", tmp_path / "out.zarr")
    assert "value 7" in message_of(headrace(*arguments, code=1))
    assert not (tmp_path / "out.zarr.key").exists() and not list((tmp_path / "out.zarr").rglob("*"))
    shutil.copy(CT / "sts-008/mask.nii.gz", tmp_path / "mask.nii.gz")
    headrace(*arguments)
    assert (tmp_path / "out.zarr.key").exists()


def test_dicom_files_named_one_by_one_are_a_series(tmp_path):
    folder = save_series(sts_slices(), tmp_path / "in")
    files = sorted(folder.iterdir())
    key = key_file(tmp_path)
    one = json_of("ingest", "volumes", folder, "--out", tmp_path / "folder.zarr", "--key-file", key)
    several = json_of("ingest", "volumes", *reversed(files), files[0], f"{folder}/../in/{files[3].name}", "--out", tmp_path / "files.zarr", "--key-file", key)
    assert one["images"] == several["images"] == 1 and one["dataset_hash"] == several["dataset_hash"]
    (tmp_path / "note.txt").write_text("not a volume")
    text = message_of(headrace("ingest", "volumes", *files, tmp_path / "note.txt", "--out", tmp_path / "out.zarr", code=2))
    assert "note.txt" in text and "holds no volume" in text


def test_a_misspelt_command_gets_a_plain_sentence():
    assert message_of(headrace("raed", code=2)) == "headrace: 'raed' is not a command; did you mean 'read'? See headrace --help."
    assert ".." not in message_of(headrace("info", code=2))
