"""Bad volumes: the right exit code, one sentence that says what and where, and nothing left of the store."""
import gzip
import json
import shutil
import struct

import numpy as np
import pytest
from ct_inputs import CT, STS, dicom_files, key_file, mask, new_series, save_series, sts_slices, volume, write_volume
from driving import headrace, message_of, write_table


@pytest.fixture()
def refused(tmp_path):
    def run(*arguments, code, words):
        out = tmp_path / "out.zarr"
        message = message_of(headrace("ingest", "volumes", *arguments, "--out", out, code=code))
        for word in words:
            assert str(word) in message, (word, message)
        assert not out.exists(), sorted(out.rglob("*"))
        return message
    return run


def test_missing_slices_are_counted_and_placed(refused, tmp_path):
    slices = sts_slices()
    del slices[4:6]
    refused(save_series(slices, tmp_path / "in"), code=1, words=["2 of 10 slices missing", "003.dcm", "004.dcm", "3.270 mm"])


def test_two_series_with_the_same_number(refused, tmp_path):
    save_series(sts_slices(), tmp_path / "in/a")
    save_series(new_series(sts_slices()), tmp_path / "in/b")
    refused(tmp_path / "in", code=1, words=["two series of one study have the same number", "in/a/", "in/b/", "folders of their own"])


@pytest.mark.parametrize("kept", [0.3, 0.9])
def test_a_truncated_dicom_file(refused, tmp_path, kept):
    folder = save_series(sts_slices(), tmp_path / "in")
    path = folder / "004.dcm"
    whole = path.read_bytes()
    path.write_bytes(whole[:int(len(whole) * kept)])
    refused(folder, code=4, words=["004.dcm", "truncated"])


def test_a_dicom_file_cut_within_its_header(refused, tmp_path):
    folder = save_series(sts_slices(), tmp_path / "in")
    path = folder / "004.dcm"
    path.write_bytes(path.read_bytes()[:900])
    refused(folder, code=4, words=["004.dcm"])


@pytest.mark.parametrize("kept", [0.05, 0.5, 0.99])
def test_a_truncated_nifti(refused, tmp_path, kept):
    whole = (CT / "totalseg-abdomen/ct.nii.gz").read_bytes()
    path = tmp_path / "cut.nii.gz"
    path.write_bytes(whole[:int(len(whole) * kept)])
    refused(path, code=4, words=["cut.nii.gz", "truncated"])


def test_a_mask_on_another_grid(refused, tmp_path):
    write_volume(tmp_path / "in/a.nii.gz", volume())
    write_volume(tmp_path / "labels/a.nii.gz", mask(), origin=(-10, -20, 32.5))
    refused(tmp_path / "in", "--labels", tmp_path / "labels", code=1, words=["labels/a.nii.gz", "another grid", "32.5"])


@pytest.mark.parametrize("modality, name", [("MR", "modality MR"), ("PT", "modality PET"), ("US", "other than CT, MR and PET")])
def test_a_modality_that_is_no_ct(refused, tmp_path, modality, name):
    slices = sts_slices()
    for data in slices:
        data.Modality = modality
    refused(save_series(slices, tmp_path / "in"), code=1, words=["holds no CT", "1 series", name])


def nifti_bomb(path, dim):
    """A NIfTI-1 header that claims dim voxels of int16, and nothing after it."""
    header = bytearray(352)
    struct.pack_into("<i", header, 0, 348)
    struct.pack_into("<8h", header, 40, 3, *dim, 1, 1, 1, 1)
    struct.pack_into("<2h", header, 70, 4, 16)
    struct.pack_into("<8f", header, 76, 1, 1, 1, 1, 0, 0, 0, 0)
    struct.pack_into("<3f", header, 108, 352, 1, 0)
    header[344:348] = b"n+1\0"
    path.write_bytes(gzip.compress(bytes(header)) if path.suffix == ".gz" else bytes(header))
    return path


@pytest.mark.parametrize("name", ["bomb.nii", "bomb.nii.gz"])
@pytest.mark.parametrize("dim", [(32767, 32767, 32767), (2000, 2000, 2000)])
def test_a_header_that_claims_more_than_its_file_holds(refused, tmp_path, name, dim):
    refused(nifti_bomb(tmp_path / name, dim), code=1 if dim[0] > 2000 else 4, words=[name])


def test_a_slice_that_is_there_twice(refused, tmp_path):
    slices = sts_slices()
    twice = sts_slices()[3]
    twice.SOPInstanceUID = twice.file_meta.MediaStorageSOPInstanceUID = "1.2.3.4.5"
    refused(save_series([*slices, twice], tmp_path / "in"), code=1, words=["1 slices doubled", "003.dcm", "010.dcm"])


@pytest.mark.parametrize("column", ["pathology", "mpp", "lables"])
def test_an_unknown_column(refused, tmp_path, column):
    write_volume(tmp_path / "a.nii.gz", volume())
    table = write_table(tmp_path / "cases.csv", [{"file": "a.nii.gz", column: "x"}])
    message = refused(tmp_path / "a.nii.gz", "--table", table, code=2, words=["cases.csv, line 1", f"'{column}'", "known columns"])
    assert column != "lables" or "did you mean 'labels'" in message


def test_label_values_beyond_the_classes(refused, tmp_path):
    labels = mask()
    labels[7, 8, 9] = 3
    write_volume(tmp_path / "in/a.nii.gz", volume())
    write_volume(tmp_path / "in/a_seg.nii.gz", labels)
    refused(tmp_path / "in", "--classes", "background,liver,tumour", code=1,
            words=["a_seg.nii.gz", "value 3", "(x 9, y 8, z 7)", "0, 1, 2 and 255 (ignore)"])


def test_values_that_are_no_classes(refused, tmp_path):
    write_volume(tmp_path / "in/a.nii.gz", volume())
    write_volume(tmp_path / "in/a_seg.nii.gz", mask().astype(np.float32) * 0.5)
    refused(tmp_path / "in", code=1, words=["a_seg.nii.gz", "is 0.5", "a class"])


def test_labels_that_fit_no_image(refused, tmp_path):
    write_volume(tmp_path / "in/a.nii.gz", volume())
    write_volume(tmp_path / "labels/a.nii.gz", mask())
    write_volume(tmp_path / "labels/b.nii.gz", mask())
    refused(tmp_path / "in", "--labels", tmp_path / "labels", code=2, words=["--labels", "labels/b.nii.gz", "fits no image"])


@pytest.fixture()
def liver(tmp_path):
    """The series and its DICOM SEG."""
    folder = tmp_path / "liver"
    folder.mkdir()
    for path in (CT / "liver-3slice").glob("*.dcm"):
        shutil.copy(path, folder)
    return folder


def test_dicom_labels_that_fit_no_image(refused, liver, tmp_path):
    (tmp_path / "labels").mkdir()
    shutil.copy(CT / "sts-008/RS.dcm", tmp_path / "labels/RS.dcm")
    refused(liver, "--classes", "background,liver", "--labels", tmp_path / "labels", code=2, words=["labels/RS.dcm", "fits no image"])


def test_a_mask_without_its_image(refused, tmp_path):
    refused(CT / "liver-3slice", code=2, words=["liver_seg.nii.gz", "named as a mask", "--labels"])
    refused(CT / "sts-008", code=2, words=["sts-008/mask.nii.gz", "named as a mask"])


def test_names_of_structures_need_classes(refused, liver):
    refused(liver, code=2, words=["'Liver'", "free text", "--classes"])
    refused(liver, "--classes", "background,spleen", code=2, words=["liver_seg.dcm", "'Liver'", "background, spleen"])


@pytest.mark.parametrize("classes, words", [("background", ["1 classes"]), ("a,b,a", ["'a'", "twice"]),
                                            ("background,Smith^J", ["a person's name"]), ("background,seen 2019-03-04", ["a date"])])
def test_classes_that_make_no_sense(refused, tmp_path, classes, words):
    write_volume(tmp_path / "in/a.nii.gz", volume())
    write_volume(tmp_path / "in/a_seg.nii.gz", mask())
    refused(tmp_path / "in", "--classes", classes, code=2, words=["--classes", *words])


@pytest.mark.parametrize("row, words", [
    ({"case": "DOE^JOHN"}, ["case", "may hold letters"]), ({"case": "20190304"}, ["case", "a date"]), ({"image": "1.2.840.113"}, ["image", "UID"]),
    ({"cohort": "04.03.2019"}, ["cohort", "a date"]), ({"split": "training"}, ["split", "did you mean 'train'"]),
    ({"phase": "venous"}, ["phase", "portal-venous"]), ({"labels": "nowhere.nii.gz"}, ["labels", "nowhere.nii.gz"]),
    ({"series": "two"}, ["series", "'two'"])])
def test_rows_that_can_not_be(refused, tmp_path, row, words):
    write_volume(tmp_path / "a.nii.gz", volume())
    table = write_table(tmp_path / "cases.csv", [{"file": "a.nii.gz", **row}])
    code = 2 if list(row)[0] not in ("labels", "series") else 1
    refused(tmp_path / "a.nii.gz", "--table", table, code=code, words=["cases.csv, line 2", *words])


def test_a_file_name_that_may_identify(refused, tmp_path):
    path = write_volume(tmp_path / "ct_2019-03-04.nii.gz", volume())
    refused(path, code=2, words=[path, "a date", "columns 'image'"])


def test_a_folder_with_several_series_needs_their_numbers(refused, tmp_path):
    save_series(sts_slices(), tmp_path / "in/a")
    save_series(new_series(sts_slices(), number=9), tmp_path / "in/b")
    table = write_table(tmp_path / "cases.csv", [{"file": "in", "image": "one"}])
    refused(tmp_path / "in", "--table", table, code=2, words=["line 2", "2 series", "9", "column 'series'"])
    table = write_table(tmp_path / "cases.csv", [{"file": "in", "series": 5}])
    refused(tmp_path / "in", "--table", table, code=1, words=["line 2", "no series number 5", "9"])


def test_a_row_names_a_folder_of_volume_files(refused, tmp_path):
    write_volume(tmp_path / "in/a.nii.gz", volume())
    table = write_table(tmp_path / "cases.csv", [{"file": "in"}])
    refused(tmp_path / "in", "--table", table, code=2, words=["cases.csv, line 2", "folder without DICOM"])


def test_inputs_that_hold_nothing(refused, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/notes.txt").write_text("no volume here")
    refused(tmp_path / "in", code=2, words=[tmp_path / "in", "no volume"])
    refused(tmp_path / "in/notes.txt", code=2, words=["notes.txt", "no volume"])
    refused(tmp_path / "nowhere", code=1, words=["nowhere", "no such file"])
    refused(CT / "sts-008/RS.dcm", code=2, words=["RS.dcm", "no volume, but labels"])


def test_key_files_that_are_no_secret(refused, tmp_path):
    (tmp_path / "short.key").write_text("too short\n")
    refused(STS, "--key-file", tmp_path / "short.key", code=1, words=["short.key", "9 bytes", "16"])
    refused(STS, "--key-file", tmp_path / "none.key", code=1, words=["none.key", "no such file"])
    refused(STS, "--key-file", tmp_path / "out.zarr/site.key", code=2, words=["site.key", "in the store"])


def dataset(folder, **changes):
    write_volume(folder / "imagesTr/colon_001_0000.nii.gz", volume())
    write_volume(folder / "labelsTr/colon_001.nii.gz", mask())
    content = {"channel_names": {"0": "CT"}, "labels": {"background": 0, "tumour": 1}, "numTraining": 1, "file_ending": ".nii.gz"}
    (folder / "dataset.json").write_text(json.dumps(content | changes))
    return folder


@pytest.mark.parametrize("changes, words", [
    ({"channel_names": {"0": "CT", "1": "T1"}}, ['"T1"', "expected \"CT\""]), ({"channel_names": {"0": "MRI"}}, ['"MRI"', "expected \"CT\""]),
    ({"labels": {"background": 0, "organ": [1, 2], "tumour": 2}}, ["regions", "regions_class_order"]),
    ({"labels": {"background": 0, "tumour": 2}}, ["'tumour'", "2", "without a gap"]), ({"labels": {"background": 0, "a": 1, "b": 1}}, ["same value 1"]),
    ({"numTraining": 3}, ["numTraining is 3", "1 cases"]), ({"file_ending": ".png"}, [".png", ".nii.gz"]), ({"labels": "no"}, ["labels must be"])])
def test_datasets_that_do_not_fit(refused, tmp_path, changes, words):
    refused(dataset(tmp_path / "Dataset001", **changes), code=1, words=["dataset.json", *words])


def test_datasets_with_files_missing(refused, tmp_path):
    folder = dataset(tmp_path / "Dataset001")
    (folder / "labelsTr/colon_001.nii.gz").unlink()
    refused(folder, code=1, words=["dataset.json", "labelsTr/colon_001.nii.gz", "not there"])
    write_volume(folder / "labelsTr/colon_001.nii.gz", mask())
    write_volume(folder / "labelsTr/colon_002.nii.gz", mask())
    refused(folder, code=1, words=["colon_002.nii.gz", "no image"])
    (folder / "dataset.json").write_text("{")
    refused(folder, code=1, words=["dataset.json"])
    (folder / "dataset.json").write_text(json.dumps({"modality": {"0": "CT"}, "labels": {"0": "background", "1": "cancer"},
                                                     "training": [{"image": "./imagesTr/colon_009.nii.gz", "label": "./labelsTr/colon_009.nii.gz"}]}))
    refused(folder, code=1, words=["colon_009.nii.gz", "not there"])


def test_the_key_of_a_store_that_is_lost(tmp_path):
    out = tmp_path / "out.zarr"
    headrace("ingest", "volumes", STS, "--out", out, "--key-file", key_file(tmp_path))
    before = sorted(out.rglob("*"))
    message = message_of(headrace("ingest", "volumes", STS, "--out", out, code=2))
    assert "out.zarr.key" in message and "not there" in message
    assert sorted(out.rglob("*")) == before and not (tmp_path / "out.zarr.key").exists()
    assert len(dicom_files(STS)) == 51
