"""What nnU-Net's plans become, and the batches that come of it, without nnunetv2: from raw folders in several orders of voxels."""
import json
import os
import threading
from pathlib import Path

import numpy as np
import pytest
import SimpleITK as sitk
import torch
from nnunet_data import phantoms, variables, write_dataset
from scipy.ndimage import map_coordinates
from scipy.stats import kstest

import headrace
from headrace import nnunet
from headrace._nnunet_batches import EPOCH, BatchForm, Batches
from headrace._nnunet_plan import RAS, Augmentation, Axes, foreground_samples, read_plan, run_config, sampling_of, strides_of
from headrace._nnunet_raw import label_values
from headrace._nnunet_store import make_view, network_axes, open_prepared, read_prepared

SPACING = [6.25, 2.993197202682495, 6.25]  # of the network's axes y, z, x: in plane the phantoms' own
PLANS = {"dataset_name": "Dataset901_Phantom", "image_reader_writer": "SimpleITKIO", "transpose_forward": [1, 0, 2],
         "foreground_intensity_properties_per_channel": {"0": {"mean": -377.2, "std": 322.5, "percentile_00_5": -1500.0, "percentile_99_5": 900.0}}}
CONFIGURATION = {"batch_size": 3, "patch_size": [16, 24, 20], "spacing": SPACING, "normalization_schemes": ["CTNormalization"]}
ORDERS = ("LPS", "RAS", "LAI")  # the first axis of arrays is z in all of them; mirrored in none, two, and two others


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    return phantoms(tmp_path_factory.mktemp("phantoms"))


@pytest.fixture
def dataset(pairs, tmp_path, monkeypatch):
    """A function that writes a raw data set below tmp_path, with nnU-Net's variables set; its folder."""
    for name, value in variables(tmp_path).items():
        monkeypatch.setenv(name, value)
    return lambda orders=("LPS",), **options: write_dataset(tmp_path, pairs, orders, **options)


@pytest.fixture(scope="module")
def prepared(pairs, tmp_path_factory):
    """(raw folder, folder of preprocessed data) of cases in three orders, prepared; all in one fold."""
    root = tmp_path_factory.mktemp("mixed")
    raw = write_dataset(root, pairs, ORDERS)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables(root).items():
            patch.setenv(name, value)
        assert nnunet.main(["prepare", "901", "--jobs", "1"]) == 0
    return raw, root / "nnUNet_preprocessed" / raw.name


def view_of_all(folder):
    record = read_prepared(folder)
    return make_view(open_prepared(folder, record), folder, record.cases, [])


def batches(prepared, *, augmentation=None, configuration=None, batch=3, aimed=1, seed=7, **form):
    raw, folder = prepared
    plan = read_plan(PLANS, "3d_fullres", {**CONFIGURATION, **(configuration or {})})
    record = read_prepared(folder)
    axes = network_axes(record, sorted(record.cases), plan, folder)
    config = run_config(plan, next(iter(axes.values())), ["HU"], (), augmentation)
    data = {"store": view_of_all(folder)}
    parts = [headrace.Loader({**config, "data": data, "task": "segmentation", "sampling": {
        **sampling_of(part == 1), "seed": seed + part, "batch": size, "batches_per_epoch": EPOCH}}, threads=1, as_="numpy")
             for part, size in enumerate((batch - aimed, aimed)) if size]
    return Batches(parts, BatchForm(plan.patch, axes, **{"strides": [(1, 1, 1)], **form}))


def in_file(raw, case, places, plan_patch, transpose, of):
    """The file's array at the voxels of a patch that lies around `places`, in the store's (z, y, x), read by SimpleITK.

    The store grows to the patient's left, to the back and upwards, and counts from a voxel's edge.
    """
    image = sitk.ReadImage(str(raw / of.format(case)))
    array = sitk.GetArrayFromImage(image).astype(np.float64)
    directions = np.array(image.GetDirection()).reshape(3, 3)
    middle, grids = [], []
    for axis in range(3):  # z, y, x of the file; its orders here only mirror
        backwards = directions[2 - axis, 2 - axis] < 0
        at = places[axis] - 0.5
        middle.append(array.shape[axis] - 1 - at if backwards else at)
    network = array.transpose(transpose)
    for axis, edge in enumerate(plan_patch):
        step = SPACING[axis] / image.GetSpacing()[2 - transpose[axis]]  # the phantoms' slices differ
        grids.append(middle[transpose[axis]] + (np.arange(edge) - (edge - 1) / 2) * step)
    inside = [(grid > -0.5) & (grid < edge - 0.5) for grid, edge in zip(grids, network.shape)]
    return network, np.meshgrid(*grids, indexing="ij"), np.logical_and.reduce(np.meshgrid(*inside, indexing="ij"))


def test_patches_are_those_of_the_files_in_their_own_order(prepared):
    """Expected: the file as SimpleITK reads it, transposed as the plans say, at the place of the patch, normalised as CTNormalization does."""
    raw, _ = prepared
    orders = {case: Axes(case_axes.axes.store, case_axes.axes.mirrored) for case, case_axes in read_prepared(prepared[1]).cases.items()}
    assert [orders[f"body_{n:03d}"].mirrored for n in range(3)] == [(False, False, False), (False, True, True), (True, True, False)]
    from headrace import _nnunet_batches as module
    made, seen = batches(prepared), set()
    passes = [iter(part) for part in made._parts]
    for number in range(6):
        parts = [next(one) for one in passes]
        batch = module.assembled([{**part, "image": part["image"].copy()} for part in parts], made._form, number)
        places = np.concatenate([part["meta"].places for part in parts])
        for case, place, data, target in zip(batch["keys"], places, batch["data"][:, 0].numpy(), batch["target"][0][:, 0].numpy()):
            network, at, inside = in_file(raw, case, place, CONFIGURATION["patch_size"], [1, 0, 2], "imagesTr/{}_0000.nii.gz")
            known = PLANS["foreground_intensity_properties_per_channel"]["0"]
            wanted = (map_coordinates(network, at, order=1, mode="nearest") - known["mean"]) / known["std"]
            assert np.abs(data - np.where(inside, wanted, 0)).max() < 1e-3
            truth, at, _ = in_file(raw, case, place, CONFIGURATION["patch_size"], [1, 0, 2], "labelsTr/{}.nii.gz")
            nearest = map_coordinates(truth, at, order=0, mode="constant", cval=0)
            assert (target != nearest).mean() < 0.002  # exact ties between two voxels
            assert np.abs(data[:, :, ::-1] - data).mean() > 0.1  # another side would be seen
            seen.add(case)
    assert seen == {f"body_{n:03d}" for n in range(4)}


def test_nnunets_share_of_samples_has_a_class_in_its_middle(prepared):
    made = batches(prepared, batch=4, aimed=2)
    for _ in range(5):
        target = next(made)["target"][0][:, 0].numpy()
        assert all(sample[4:12, 6:18, 5:15].any() for sample in target[2:])  # the aimed ones come last, as in nnU-Net
    made.close()


def test_samples_without_an_aim_lie_where_nnunets_do(pairs, tmp_path):
    """Expected: as nnUNetDataLoader draws them, all images alike, whatever their size, and in an image all corners of patches inside alike."""
    cut = [sitk.RegionOfInterest(image, (40, 36, 28), (0, 0, 0)) for image in pairs[0]]
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables(tmp_path).items():
            patch.setenv(name, value)
        raw = write_dataset(tmp_path, [cut, *pairs[1:]])
        nnunet.prepare(901, jobs=1)
    folder = tmp_path / "nnUNet_preprocessed" / raw.name
    images = open_prepared(folder, read_prepared(folder)).images
    half_mm = np.array([8 * 3.0, 10 * 6.25, 12 * 6.25]) / 2
    lowest = {image.id: half_mm / image.spacing for image in images}
    room = {image.id: image.shape - 2 * lowest[image.id] for image in images}
    made = batches((raw, folder), batch=40, aimed=0, configuration={"patch_size": [10, 8, 12], "spacing": [6.25, 3.0, 6.25]})
    metas = [part["meta"] for part, _ in zip(made._parts[0], range(15))]
    drawn = [key for meta in metas for key in meta.images]
    assert all(120 < drawn.count(key) < 180 for key in room)  # of 600: 150 and standard deviation 11; by volume it were 86 of the cut one
    places = np.concatenate([meta.places for meta in metas])
    along = np.array([(place - lowest[key]) / room[key] for key, place in zip(drawn, places)])
    assert along.min() > -1e-9 and along.max() < 1 + 1e-9
    for axis in range(3):
        assert kstest(along[:, axis], "uniform").pvalue > 1e-3


@pytest.mark.parametrize("batch, percent", [(2, 0.33), (3, 0.33), (5, 0.33), (12, 0.33), (2, 0.0), (2, 1.0), (9, 0.5)])
def test_the_share_is_nnunets(batch, percent):
    """As in nnUNetDataLoader._oversample_last_XX_percent."""
    assert foreground_samples(batch, percent) == sum(not i < round(batch * (1 - percent)) for i in range(batch))


def test_batches_begin_anywhere(prepared):
    first = batches(prepared, augmentation=Augmentation((-0.5, 0.5), False, (0, 1, 2)), mirrored_by_loader=True)
    whole = [next(first) for _ in range(5)]
    assert first.given == 5
    other = batches(prepared, augmentation=Augmentation((-0.5, 0.5), False, (0, 1, 2)), mirrored_by_loader=True)
    other.seek(3)
    for wanted, found in zip(whole[3:], other):
        assert torch.equal(wanted["data"], found["data"]) and wanted["keys"] == found["keys"]
        assert torch.equal(wanted["target"][0], found["target"][0])
    with pytest.raises(headrace.UsageError, match="before the first one"):
        other.seek(0)
    assert not torch.equal(whole[0]["data"], whole[1]["data"])


def test_targets_of_deep_supervision_are_nnunets(prepared):
    """Expected: as DownsampleSegForDSTransform, by torch's nearest-exact."""
    scales = [[1, 1, 1], [0.5, 1, 0.5], [0.25, 0.5, 0.25], [1 / 16, 0.125, 1 / 20]]
    target = next(batches(prepared, strides=strides_of(scales, CONFIGURATION["patch_size"])))["target"]
    full = target[0].float()
    assert full.max() > 0 and target[0].dtype == torch.int16
    for scale, found in zip(scales, target):
        size = [round(edge * part) for edge, part in zip(full.shape[2:], scale)]
        assert torch.equal(found, torch.nn.functional.interpolate(full, size, mode="nearest-exact").short()) and found.is_contiguous()
    with pytest.raises(headrace.UsageError, match=r"does not divide by the strides \[2, 2, 8\]"):
        strides_of([[0.5, 0.5, 0.125]], CONFIGURATION["patch_size"])


def test_regions_and_no_supervision(prepared):
    plain = next(batches(prepared, batch=8, aimed=8))["target"][0]
    regions = next(batches(prepared, batch=8, aimed=8, regions=[(1, 2), (2,)], supervised=False))["target"]
    assert regions.dtype == torch.bool and regions.shape == (8, 2, 16, 24, 20)
    assert torch.equal(regions[:, :1], plain > 0) and torch.equal(regions[:, 1:], plain == 2) and (plain == 2).any()


def test_mirroring_about_some_axes_is_drawn_here(prepared):
    """Each axis in about half of the samples; without mirroring the same places give the patch that is mirrored."""
    some, none = batches(prepared, mirror_axes=(2,)), batches(prepared)
    flipped = 0
    for a, b, _ in zip(some, none, range(20)):
        for one, other, label, truth in zip(a["data"], b["data"], a["target"][0], b["target"][0]):
            turned = not torch.equal(one, other)
            assert not turned or torch.equal(one, other.flip(3)) and torch.equal(label, truth.flip(3))
            flipped += turned
    assert 15 < flipped < 45  # of 60; beyond 4 standard deviations otherwise
    some.close()
    none.close()


def test_thin_patches_are_the_middle_of_thicker_ones(prepared):
    thin, thick = batches(prepared, configuration={"patch_size": [5, 24, 20]}), batches(prepared, configuration={"patch_size": [9, 24, 20]})
    a, b = next(thin), next(thick)
    assert a["data"].shape == (3, 1, 5, 24, 20) and torch.equal(a["data"], b["data"][:, :, 2:7])


def test_outside_of_the_image_is_as_nnunet_pads(prepared):
    """Expected: 0 and background further from the image's middle than half of its size, as far as no voxel lies on its edge."""
    raw, _ = prepared
    batch = next(batches(prepared, configuration={"patch_size": [64, 96, 64]}, aimed=0))
    for case, data, target in zip(batch["keys"], batch["data"][:, 0].numpy(), batch["target"][0][:, 0].numpy()):
        image = sitk.ReadImage(str(raw / f"imagesTr/{case}_0000.nii.gz"))
        millimetres = np.array(image.GetSize()) * image.GetSpacing()
        half = [millimetres[axis] / 2 for axis in (1, 2, 0)]  # of the network's y, z, x
        apart = np.meshgrid(*[np.abs(np.arange(edge) - (edge - 1) / 2) * step for edge, step in zip(data.shape, SPACING)], indexing="ij")
        beyond = np.stack([far - most for far, most in zip(apart, half)])
        assert not data[(beyond > 0.1).any(0)].any() and not target[(beyond > 0.1).any(0)].any() and (beyond > 0.1).any()
        assert data[(beyond < -0.1).all(0)].all()  # no voxel of the file has exactly the mean


def test_the_view_has_nnunets_split_and_leaves_the_store(prepared, tmp_path):
    _, folder = prepared
    cohort = open_prepared(folder, read_prepared(folder))

    def state():
        return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in sorted(Path(cohort.path).rglob("*")) if path.is_file()}

    before = state()
    view = make_view(cohort, tmp_path, ["body_000", "body_002"], ["body_003"])
    assert [image.split for image in headrace.open(view)] == ["train", "test", "train", "val"]
    assert make_view(cohort, tmp_path, ["body_002", "body_000"], ["body_003"]) == view
    assert sorted(path.name for path in tmp_path.iterdir()) == [Path(view).name]
    assert state() == before
    loader = headrace.Loader(task="segmentation", data={"store": view, "train": "val"}, patch={"size": [16, 16, 16], "spacing_mm": [3, 6.25, 6.25]},
                             sampling={"batch": 4, "batches_per_epoch": 2}, transforms=[{"window_hu": {}}], threads=1)
    assert {case for batch in loader for case in batch["meta"].images} == {"body_003"}


def test_normalisation_and_augmentation_follow_the_plans():
    plan = read_plan(PLANS, "3d_fullres", CONFIGURATION)
    axes = plan.network_axes(Axes((0, 1, 2), (False, True, True)))
    assert axes == Axes((1, 0, 2), (True, False, True))
    config = run_config(plan, axes, ["HU"], (), Augmentation((-np.pi / 6, np.pi / 6), False, (0, 1, 2)))
    assert config["patch"] == {"size": [24, 16, 20], "spacing_mm": [2.993197202682495, 6.25, 6.25]}
    names = [next(iter(entry)) for entry in config["transforms"]]
    assert names == ["window_hu", "normalize", "affine", "gaussian_noise", "blur", "brightness", "contrast", "low_resolution", "gamma", "gamma"]
    affine = config["transforms"][2]["affine"]
    assert affine["rotate_deg"] == pytest.approx([-30, 30]) and affine["flip"] and affine["scale"] == [0.7, 1.4]
    assert affine["rotate_probability"] == affine["scale_probability"] == 0.2
    some = run_config(plan, axes, ["HU"], (), Augmentation((-0.5, 0.5), False, (0, 1)))["transforms"][2]["affine"]
    assert not some["flip"]
    known = PLANS["foreground_intensity_properties_per_channel"]["0"]
    two = {**PLANS, "foreground_intensity_properties_per_channel": {"0": known, "1": known}}
    pet = run_config(read_plan(two, "x", {**CONFIGURATION, "normalization_schemes": ["CTNormalization", "NoNormalization"]}), axes, ["HU", "SUV"],
                     ("CT", "PET"), None)
    assert [next(iter(entry)) for entry in pet["transforms"]] == ["window_hu", "normalize", "normalize"]
    assert pet["transforms"][2]["normalize"] == {"method": "none", "channel": "PET"}


@pytest.mark.parametrize("change, message", [
    ({"patch_size": [64, 64]}, "3d_fullres or 3d_lowres with this trainer, and 2d with nnUNetTrainer"),
    ({"previous_stage": "3d_lowres"}, "a cascade gets the earlier stage's prediction"),
    ({"normalization_schemes": ["ZScoreNormalization"]}, "channel 0 is normalised by ZScoreNormalization, from each image by itself"),
])
def test_plans_that_can_not_be_followed_are_refused(change, message):
    with pytest.raises(headrace.UnsupportedError, match=message):
        read_plan(PLANS, "3d_fullres", {**CONFIGURATION, **change})


def test_readers_decide_the_axes():
    turned = read_plan({**PLANS, "image_reader_writer": "NibabelIOWithReorient", "transpose_forward": [0, 1, 2]}, "x", CONFIGURATION)
    assert turned.network_axes(Axes((2, 1, 0), (True, True, True))) == RAS
    with pytest.raises(headrace.UnsupportedError, match="Tiff3DIO, whose axes this trainer does not know"):
        read_plan({**PLANS, "image_reader_writer": "Tiff3DIO"}, "x", CONFIGURATION)
    flat = Augmentation((-np.pi, np.pi), True, (0, 1, 2))
    with pytest.raises(headrace.UnsupportedError, match="flat along the patient's x axis"):
        run_config(turned, Axes((2, 1, 0), (False, False, False)), ["HU"], (), flat)
    assert run_config(turned, RAS, ["HU"], (), flat)["transforms"][2]["affine"]["in_plane"]


def test_axes_of_different_orders_are_refused(dataset, tmp_path, capsys):
    raw = dataset(("LPS", "PIL"))
    assert nnunet.main(["prepare", "901", "--jobs", "1"]) == 0
    folder = tmp_path / "nnUNet_preprocessed" / raw.name
    plan = read_plan(PLANS, "3d_fullres", CONFIGURATION)
    with pytest.raises(headrace.UsageError, match="cases 'body_000' and 'body_001' have their axes in different orders"):
        network_axes(read_prepared(folder), ["body_000", "body_001"], plan, folder)
    turned = read_plan({**PLANS, "image_reader_writer": "SimpleITKIOWithReorient"}, "x", CONFIGURATION)
    assert set(network_axes(read_prepared(folder), ["body_000", "body_001"], turned, folder).values()) == {RAS.taken([1, 0, 2])}


def changed_label(path):
    image = sitk.ReadImage(str(path))
    array = sitk.GetArrayFromImage(image)
    array[5, 6, 7] = 2 - array[5, 6, 7] % 2
    out = sitk.GetImageFromArray(array)
    out.CopyInformation(image)
    sitk.WriteImage(out, str(path))


def moved(path):
    image = sitk.ReadImage(str(path))
    image.SetOrigin([at + 1 for at in image.GetOrigin()])
    sitk.WriteImage(image, str(path))


def brighter(path):
    sitk.WriteImage(sitk.ReadImage(str(path)) + 2, str(path))


@pytest.mark.parametrize("change, message", [
    (lambda raw: changed_label(raw / "labelsTr/body_002.nii.gz"), r"case 'body_002': 1 voxels have another label in the store"),
    (lambda raw: moved(raw / "labelsTr/body_001.nii.gz"), "case 'body_001': .*or they lie elsewhere"),
    (lambda raw: brighter(raw / "imagesTr/body_003_0000.nii.gz"), "case 'body_003': .* differ from .* by more than rounding"),
    (lambda raw: [os.rename(raw / f"{of}/body_000{end}", raw / f"{of}/other{end}")
                  for of, end in (("imagesTr", "_0000.nii.gz"), ("labelsTr", ".nii.gz"))],
     "lacks case 'other' of the raw folder"),
])
def test_a_store_that_differs_is_refused_with_the_cases_name(dataset, tmp_path, capsys, change, message):
    raw = dataset()
    store = tmp_path / "own.zarr"
    headrace.ingest_volumes(raw, store)
    nnunet.prepare(901, store=store, jobs=1)
    record = tmp_path / "nnUNet_preprocessed" / raw.name / "headrace.json"
    record.unlink()
    change(raw)
    with pytest.raises(headrace.UsageError, match=message):
        nnunet.prepare(901, store=store, jobs=1)
    assert not record.exists()


def test_regions_ignored_voxels_and_names_of_values(dataset, tmp_path):
    labels = {"background": 0, "bowel": [1, 2], "lesion": [2], "ignore": 3}
    raw = dataset(labels=labels)
    path = raw / "labelsTr/body_001.nii.gz"
    image = sitk.ReadImage(str(path))
    array = sitk.GetArrayFromImage(image)
    array[:4] = 3
    out = sitk.GetImageFromArray(array)
    out.CopyInformation(image)
    sitk.WriteImage(out, str(path))
    values = label_values(json.loads((raw / "dataset.json").read_text()), raw)
    assert values.names == ("background", "label-1", "lesion") and values.ignore == 3
    prepared = nnunet.prepare(901, jobs=1)
    cohort = headrace.open(tmp_path / "nnUNet_preprocessed" / raw.name / prepared.store)
    assert cohort.classes == values.names
    stored = cohort["body_001"].labels().level(0)[...]
    assert np.array_equal(stored == 255, array == 3)
    folder = tmp_path / "nnUNet_preprocessed" / raw.name
    target = next(batches((raw, folder), regions=[(1, 2), (2,), (3,)], ignore=3, batch=8, aimed=8))["target"][0]
    assert target.shape[1] == 3 and target[:, 0].any()


def test_what_the_store_can_not_hold_is_refused(dataset, capsys):
    raw = dataset(channels=("T2",))
    assert nnunet.main(["prepare", raw.name]) == 1
    error = capsys.readouterr().err
    assert 'says "T2", expected "CT"' in error and str(raw) in error and "headrace-nnunet-" not in error


def test_commands_say_what_is_missing(dataset, tmp_path, monkeypatch, capsys):
    raw = dataset()
    assert nnunet.main(["prepare", "77"]) == 2 and "no data set '77'; there are: Dataset901_Phantom" in capsys.readouterr().err
    (raw / "labelsTr/body_001.nii.gz").unlink()
    assert nnunet.main(["prepare", "901"]) == 1 and "of case 'body_001', not there" in capsys.readouterr().err
    monkeypatch.delenv("nnUNet_raw")
    assert nnunet.main(["prepare", "901"]) == 2 and "the variable nnUNet_raw is None" in capsys.readouterr().err
    with pytest.raises(headrace.NotFoundError, match="headrace.nnunet prepare Dataset901_Phantom"):
        read_prepared(tmp_path / "nnUNet_preprocessed" / raw.name)
    path = nnunet.install(tmp_path / "trainers")
    assert [one.name for one in path.parent.iterdir()] == ["nnUNetTrainerHeadrace.py"] and compile(path.read_text(), path, "exec")


def test_a_store_with_a_new_version_must_be_prepared_again(dataset, tmp_path):
    raw = dataset()
    nnunet.prepare(901, jobs=1)
    folder = tmp_path / "nnUNet_preprocessed" / raw.name
    table = tmp_path / "split.csv"
    table.write_text("image,split\nbody_000,test\n")
    headrace.ingest_labels(folder / "headrace.zarr", table=table)
    with pytest.raises(headrace.UsageError, match="labels or images have changed since"):
        open_prepared(folder, read_prepared(folder))
    nnunet.prepare(901, jobs=1)
    assert len(open_prepared(folder, read_prepared(folder))) == 4


def test_an_error_under_way_comes_out_of_next(prepared):
    made = batches(prepared)
    made._parts[0].close()
    with pytest.raises(headrace.UsageError, match="the loader is closed"):
        next(made)
    with pytest.raises(headrace.UsageError, match="the batches are closed"):
        next(made)


def test_the_thread_is_on_the_callers_gpu(prepared, monkeypatch):
    """What it takes of page-locked memory would else make a context on GPU 0, of every process. Without a GPU it fails after that."""
    chosen = []
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 3)
    monkeypatch.setattr(torch.cuda, "set_device", lambda gpu: chosen.append((gpu, threading.current_thread() is threading.main_thread())))
    made = batches(prepared, pin=True)
    if not torch.cuda.is_available():
        with pytest.raises(RuntimeError):
            next(made)
    assert chosen == [(3, False)]
