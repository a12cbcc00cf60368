"""nnUNetTrainerHeadrace within nnunetv2: its batches beside nnU-Net's own data, training, continuing, validation, prediction."""
import importlib.util
import json
import os

import numpy as np
import pytest
import SimpleITK as sitk
import torch
from nnunet_data import phantoms, run_nnunet, small_plan, variables, write_dataset
from scipy.ndimage import map_coordinates
from scipy.stats import ks_2samp

from headrace import nnunet

pytestmark = pytest.mark.skipif(importlib.util.find_spec("nnunetv2") is None, reason="not run: nnunetv2 is not installed")

SPLIT = {"train": ["body_000", "body_001", "body_003"], "val": ["body_002"]}  # not the one that nnU-Net would draw
ARCHITECTURE = {"n_stages": 3, "features_per_stage": [4, 8, 8], "conv_op": "torch.nn.modules.conv.Conv3d", "kernel_sizes": [[3, 3, 3]] * 3,
                "strides": [[1, 1, 1], [2, 2, 2], [2, 2, 2]], "n_conv_per_stage": [1, 1, 1], "n_conv_per_stage_decoder": [1, 1], "conv_bias": True,
                "norm_op": "torch.nn.modules.instancenorm.InstanceNorm3d", "norm_op_kwargs": {"eps": 1e-05, "affine": True}, "dropout_op": None,
                "dropout_op_kwargs": None, "nonlin": "torch.nn.LeakyReLU", "nonlin_kwargs": {"inplace": True}}
NETWORK = {"network_class_name": "dynamic_network_architectures.architectures.unet.PlainConvUNet", "arch_kwargs": ARCHITECTURE,
           "_kw_requires_import": ["conv_op", "norm_op", "dropout_op", "nonlin"]}

SHORT = '''
import torch
from headrace.nnunet import nnUNetTrainerHeadrace


class nnUNetTrainerHeadraceShort(nnUNetTrainerHeadrace):
    def __init__(self, plans, configuration, fold, dataset_json, device=torch.device("cpu")):
        super().__init__(plans, configuration, fold, dataset_json, device)
        self.num_epochs, self.num_iterations_per_epoch, self.num_val_iterations_per_epoch, self.save_every = 3, 2, 2, 1
'''


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Folders of nnU-Net with a data set that is planned, preprocessed and prepared, and a trainer of three short epochs."""
    root = tmp_path_factory.mktemp("nnunet")
    trainers = nnunet.install(root / "trainers").parent
    (trainers / "short.py").write_text(SHORT)
    os.environ["nnUNet_extTrainer"] = str(trainers)
    raw = write_dataset(root, phantoms(root / "phantoms"), ("LPS", "RAS"))
    x, y, z = sitk.ReadImage(str(raw / "imagesTr/body_002_0000.nii.gz")).GetSpacing()
    small_plan(root, spacing=[y, z, x], patch_size=[16, 24, 16], batch_size=2, architecture=NETWORK)
    (root / "nnUNet_preprocessed" / raw.name / "splits_final.json").write_text(json.dumps([SPLIT]))
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables(root).items():
            patch.setenv(name, value)
        nnunet.prepare(901, jobs=1)
    yield root
    del os.environ["nnUNet_extTrainer"]


BATCHES = """
import json, sys, torch
import numpy as np
from nnunetv2.run.run_training import get_trainer_from_args
from headrace import nnunet
from headrace._nnunet_batches import assembled
from nnunetv2.training.nnUNetTrainer.nnUNetTrainer import nnUNetTrainer

trainer = get_trainer_from_args("901", "3d_fullres", 0, "nnUNetTrainerHeadraceShort", device=torch.device("cpu"))
trainer.initialize()
for ours, theirs in zip(trainer.get_dataloaders(), nnUNetTrainer.get_dataloaders(trainer)):
    a, b = next(ours), next(theirs)
    assert set(a) == set(b), (set(a), set(b))
    assert a["data"].shape == b["data"].shape and a["data"].dtype == b["data"].dtype
    assert [(t.shape, t.dtype) for t in a["target"]] == [(t.shape, t.dtype) for t in b["target"]]
    ours.close()
keys, data, target, places = [], [], [], []
again = trainer.get_dataloaders()[1]
passes = [iter(part) for part in again._parts]
for number in range(6):
    parts = [next(one) for one in passes]
    batch = assembled([{**part, "image": part["image"].copy()} for part in parts], again._form, number)
    keys += batch["keys"]; data.append(batch["data"][:, 0].numpy()); target.append(batch["target"][0][:, 0].numpy())
    places += [place.tolist() for part in parts for place in part["meta"].places]
data_by_case = {key: trainer.dataset_class(trainer.preprocessed_dataset_folder, [key]).load_case(key) for key in sorted(set(keys))}
np.savez(sys.argv[1], keys=keys, data=np.concatenate(data), target=np.concatenate(target), places=np.array(places),
         **{f"image_{key}": case[0][:][0] for key, case in data_by_case.items()},
         **{f"labels_{key}": case[1][:][0] for key, case in data_by_case.items()})
"""


def test_batches_are_nnunets_data_in_form_and_content(root, tmp_path):
    """Expected: nnU-Net's own preprocessed case, whose spacing is the file's, at the same place; the split's case of validation, in order LPS."""
    run_nnunet(root, BATCHES, tmp_path / "batches.npz")
    found = np.load(tmp_path / "batches.npz")
    plans = json.loads((root / "nnUNet_preprocessed/Dataset901_Phantom/nnUNetPlans.json").read_text())
    transpose = plans["transpose_forward"]
    assert set(found["keys"]) == {"body_002"} and len(found["keys"]) == 12
    for key, data, target, place in zip(found["keys"], found["data"], found["target"], found["places"]):
        image, labels = found[f"image_{key}"], found[f"labels_{key}"]
        at = np.meshgrid(*[place[transpose[axis]] - 0.5 + np.arange(edge) - (edge - 1) / 2 for axis, edge in enumerate(data.shape)], indexing="ij")
        # nnU-Net clips before it interpolates, this is after it: they differ where a clipped voxel is a neighbour
        inside = np.logical_and.reduce([(grid > -0.5) & (grid < edge - 0.5) for grid, edge in zip(at, image.shape)])
        off = np.abs(data - np.where(inside, map_coordinates(image, at, order=1, mode="nearest"), 0))
        assert np.median(off) < 2e-3 and (off > 0.02).mean() < 0.2 and off.max() < 1
        assert (target != map_coordinates(np.maximum(labels, 0), at, order=0, mode="constant", cval=0)).mean() < 0.002
        assert np.abs(data - data[:, :, ::-1]).mean() > 10 * off.mean()


BOTH_PLACES = """
import sys, torch
import headrace
import numpy as np
from nnunetv2.run.run_training import get_trainer_from_args
from nnunetv2.training.nnUNetTrainer.nnUNetTrainer import nnUNetTrainer

trainer = get_trainer_from_args("901", "3d_fullres", 0, "nnUNetTrainerHeadraceShort", device=torch.device("cpu"))
trainer.initialize()
np.random.seed(3)
found = {}
for name, ours, theirs in zip(("train", "val"), trainer.get_dataloaders(), nnUNetTrainer.get_dataloaders(trainer)):
    loader, transpose = theirs.data_loader, trainer.plans_manager.transpose_forward
    shapes = {key: loader._data.load_case(key)[0].shape[1:] for key in loader.indices}
    patch = np.array(loader.final_patch_size)
    boxes = [(key, loader.get_bbox(shapes[key], False, None)) for _ in range(300) for key in loader.get_indices()]
    found[f"{name}_nnunet_keys"] = [key for key, _ in boxes]
    # Of both the corner of the patch that the network gets, as a part of where it can lie; a voxel is half a one from its edges.
    middles = np.array([(np.array(low) + high) // 2 - patch // 2 + 0.5 for _, (low, high) in boxes])
    found[f"{name}_nnunet"] = middles / (np.array([shapes[key] for key, _ in boxes]) - patch + 1)
    metas = [part["meta"] for part, _ in zip(ours._parts[0], range(600))]
    found[f"{name}_keys"] = keys = [key for meta in metas for key in meta.images]
    stored = {image.id: np.array(image.shape) for image in headrace.open(trainer.preprocessed_dataset_folder_base + "/headrace.zarr").images}
    places = np.concatenate([meta.places for meta in metas]) / [stored[key] for key in keys]
    found[name] = (places[:, transpose] * [shapes[key] for key in keys] - patch / 2) / (np.array([shapes[key] for key in keys]) - patch)
np.savez(sys.argv[1], **found)
"""


def test_samples_without_a_class_lie_where_nnunets_loader_puts_them(root, tmp_path):
    """Expected: the same shares of cases, and the same distribution of places, as of nnU-Net's own get_bbox."""
    run_nnunet(root, BOTH_PLACES, tmp_path / "places.npz", nnUNet_n_proc_DA="0")
    found = np.load(tmp_path / "places.npz")
    for name in ("train", "val"):
        ours, theirs = found[name], found[f"{name}_nnunet"]
        assert len(ours) == len(theirs) == 600 and ours.min() > -0.03 and ours.max() < 1.03  # nnU-Net rounds sizes to voxels
        assert theirs.min() > -0.1 and theirs.max() < 1  # an odd padding is rounded to a voxel outside
        for axis in range(3):
            assert ks_2samp(ours[:, axis], theirs[:, axis]).pvalue > 1e-3, (name, axis)
        keys = [(found[which] == case).sum() for which in (f"{name}_keys", f"{name}_nnunet_keys") for case in SPLIT[name]]
        assert all(abs(count - 600 / len(SPLIT[name])) < 50 for count in keys)  # 4 standard deviations


TRAIN = """
import sys, torch
from nnunetv2.run.run_training import run_training
if __name__ == "__main__":
    torch.manual_seed(0)
    torch.set_num_threads(1)
    run_training("901", "3d_fullres", 0, "nnUNetTrainerHeadraceShort", device=torch.device("cpu"), continue_training=sys.argv[1] == "c",
                 only_run_validation=sys.argv[1] == "val")
"""
PREDICT = """
import sys, torch
from nnunetv2.inference.predict_from_raw_data import nnUNetPredictor
if __name__ == "__main__":
    torch.set_num_threads(1)
    predictor = nnUNetPredictor(device=torch.device("cpu"), perform_everything_on_device=False, allow_tqdm=False)
    predictor.initialize_from_trained_model_folder(sys.argv[1], (0,), "checkpoint_final.pth")
    predictor.predict_from_files([[sys.argv[2]]], [sys.argv[3]], num_processes_preprocessing=1, num_processes_segmentation_export=1)
"""
PLACES = """
import json, sys, torch, hashlib
from nnunetv2.run.run_training import get_trainer_from_args, maybe_load_checkpoint
if __name__ == "__main__":
    trainer = get_trainer_from_args("901", "3d_fullres", 0, "nnUNetTrainerHeadraceShort", device=torch.device("cpu"),
                                    continue_training=sys.argv[1] != "-")
    trainer.initialize()
    if sys.argv[1] != "-":
        trainer.load_checkpoint(sys.argv[1])
    made = trainer.get_dataloaders()
    hashes = [[hashlib.sha256(batch["data"].numpy().tobytes() + batch["target"][0].numpy().tobytes()).hexdigest() for batch, _ in zip(one, range(6))]
              for one in made]
    print("HASHES", json.dumps(hashes))
"""


def trained(root):
    return root / "nnUNet_results/Dataset901_Phantom/nnUNetTrainerHeadraceShort__nnUNetPlans__3d_fullres"


@pytest.fixture(scope="module")
def run(root):
    """Trained for three epochs and validated by nnU-Net's own entry point, which found the trainer by nnUNet_extTrainer."""
    return run_nnunet(root, TRAIN, "-")


def test_it_trains_validates_and_predicts_with_nnunets_own_commands(root, run, tmp_path):
    folder = trained(root) / "fold_0"
    assert "Using trainer 'nnUNetTrainerHeadraceShort'" in run and "Mean Validation Dice" in run
    summary = json.loads((folder / "validation/summary.json").read_text())
    assert [os.path.basename(case["prediction_file"]) for case in summary["metric_per_case"]] == ["body_002.nii.gz"]
    case = root / "nnUNet_raw/Dataset901_Phantom/imagesTr/body_002_0000.nii.gz"
    run_nnunet(root, PREDICT, trained(root), case, tmp_path / "body_002.nii.gz")
    predicted, validated, image = (sitk.ReadImage(str(path)) for path in (tmp_path / "body_002.nii.gz", folder / "validation/body_002.nii.gz", case))
    assert predicted.GetDirection() == image.GetDirection() and predicted.GetOrigin() == image.GetOrigin()
    assert np.array_equal(sitk.GetArrayFromImage(predicted), sitk.GetArrayFromImage(validated))  # which came of nnU-Net's preprocessed data


def test_a_continued_training_draws_what_an_undisturbed_one_would(root, run):
    """Expected: batches from the beginning; the checkpoint of the end has given 6 to train and 6 to validate with."""
    def places(checkpoint):
        out = run_nnunet(root, PLACES, checkpoint)
        return json.loads(out.split("HASHES", 1)[1].splitlines()[0])

    checkpoint = torch.load(trained(root) / "fold_0/checkpoint_final.pth", weights_only=False)
    assert {key: checkpoint["headrace"][key] for key in ("version", "seed", "train", "val")} == {"version": 1, "seed": 0, "train": 6, "val": 6}
    first = places("-")
    middle = root / "middle.pth"
    checkpoint["headrace"].update(train=2, val=4)
    torch.save(checkpoint, middle)
    later = places(middle)
    assert later[0][:4] == first[0][2:] and later[1][:2] == first[1][4:]
    assert len(set(first[0] + later[0])) == 8
    checkpoint["headrace"]["dataset_hash"] = "0" * 64
    torch.save(checkpoint, middle)
    assert "the checkpoint's dataset_hash is '000" in run_nnunet(root, PLACES, middle, code=1)


def test_the_trainer_refuses_before_it_reads(root, run):
    record = root / "nnUNet_preprocessed/Dataset901_Phantom/headrace.json"
    text = record.read_text()
    try:
        record.unlink()
        assert "Run: python -m headrace.nnunet prepare Dataset901_Phantom" in run_nnunet(root, PLACES, "-", code=1)
        changed = json.loads(text)
        del changed["cases"]["body_002"]
        record.write_text(json.dumps(changed))
        assert "case 'body_002' is in nnU-Net's split, and was not there" in run_nnunet(root, PLACES, "-", code=1)
    finally:
        record.write_text(text)
    truth = record.parent / "gt_segmentations/body_001.nii.gz"
    kept = truth.read_bytes()
    try:
        truth.write_bytes(kept[:-1])
        assert "body_001.nii.gz: other labels than those with which the store was compared" in run_nnunet(root, PLACES, "-", code=1)
    finally:
        truth.write_bytes(kept)


OTHERS = """
import torch
from headrace import UnsupportedError, UsageError
from headrace.nnunet import HeadraceBatches
from nnunetv2.run.run_training import get_trainer_from_args
from nnunetv2.training.nnUNetTrainer.nnUNetTrainer import nnUNetTrainer
from nnunetv2.training.nnUNetTrainer.variants.benchmarking.nnUNetTrainerBenchmark_5epochs_noDataLoading import \\
    nnUNetTrainerBenchmark_5epochs_noDataLoading
from nnunetv2.training.nnUNetTrainer.variants.data_augmentation.nnUNetTrainerNoDA import nnUNetTrainerNoDA
from nnunetv2.training.nnUNetTrainer.variants.sampling.nnUNetTrainer_probabilisticOversampling import nnUNetTrainer_probabilisticOversampling

plain = get_trainer_from_args("901", "3d_fullres", 0, "nnUNetTrainerHeadraceShort", device=torch.device("cpu"))
for other in (nnUNetTrainerBenchmark_5epochs_noDataLoading, nnUNetTrainerNoDA, nnUNetTrainer_probabilisticOversampling):
    mixed = type("Mixed", (HeadraceBatches, other), {})
    trainer = mixed.__new__(mixed)
    trainer.__dict__.update(plain.__dict__, probabilistic_oversampling=other is nnUNetTrainer_probabilisticOversampling)
    try:
        trainer.get_dataloaders()
    except UnsupportedError as error:
        print("REFUSED", error)
try:
    type("Mixed", (nnUNetTrainerNoDA, HeadraceBatches), {})
except UsageError as error:
    print("REFUSED", error)
"""


def test_trainers_with_samples_of_their_own_are_refused(root):
    """Else what they change would be passed over without a word."""
    said = [line for line in run_nnunet(root, OTHERS).splitlines() if line.startswith("REFUSED")]
    assert [line.split(" and headrace")[0] for line in said] == [
        "REFUSED Mixed has its own get_dataloaders,", "REFUSED Mixed has its own get_training_transforms,",
        "REFUSED Mixed has its own probabilistic_oversampling,",
        "REFUSED class Mixed: HeadraceBatches stands after a trainer of nnU-Net, whose loader would be taken. Put it first"]
