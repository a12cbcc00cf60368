"""nnU-Net's trainer with batches of a headrace store. Needs nnunetv2."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import torch
from nnunetv2.training.nnUNetTrainer.nnUNetTrainer import nnUNetTrainer  # type: ignore[import-not-found,import-untyped,unused-ignore]
from nnunetv2.utilities.default_n_proc_DA import get_allowed_n_proc_DA  # type: ignore[import-not-found,import-untyped,unused-ignore]

from ._core import NotFoundError, UnsupportedError, UsageError
from ._nnunet_batches import EPOCH, BatchForm, Batches
from ._nnunet_plan import Augmentation, Axes, NetworkPlan, foreground_samples, read_plan, run_config, sampling_of, strides_of
from ._nnunet_store import Prepared, make_view, network_axes, open_prepared, read_prepared
from .loader import Loader
from .store import Cohort

__all__ = ["HeadraceBatches", "nnUNetTrainerHeadrace"]


class HeadraceBatches:
    """Lets a trainer of nnU-Net take its batches from a store: `class Mine(HeadraceBatches, nnUNetTrainer_250epochs): pass`.

    Its get_dataloaders gives headrace.Loaders; all else is the trainer's: network, loss, optimiser, schedule, validation, prediction. A checkpoint
    has the loaders' place, so a continued training goes on with the samples that an undisturbed one would have drawn.
    """

    headrace_seed = 0
    """All draws of samples and of their augmentation follow from it."""

    _headrace_place: dict[str, Any] | None = None
    _headrace_facts: dict[str, Any] | None = None

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if nnUNetTrainer in cls.__mro__ and cls.__mro__.index(nnUNetTrainer) < cls.__mro__.index(HeadraceBatches):
            raise UsageError(f"class {cls.__name__}: HeadraceBatches stands after a trainer of nnU-Net, whose loader would be taken. Put it first")

    def get_dataloaders(self: Any) -> tuple[Batches, Batches]:
        """Endless batches to train and to validate with. Errors: headrace.Error, before anything is read, where they can't be nnU-Net's."""
        _check_default(type(self), self.probabilistic_oversampling)
        plan = read_plan(self.plans_manager.plans, self.configuration_name, self.configuration_manager.configuration)
        rotation, in_plane, _, mirror_axes = self.configure_rotation_dummyDA_mirroring_and_inital_patch_size()
        augmentation = Augmentation((float(rotation[0]), float(rotation[1])), bool(in_plane), tuple(mirror_axes or ()))
        folder = Path(self.preprocessed_dataset_folder_base)
        prepared = read_prepared(folder)
        cohort = open_prepared(folder, prepared)
        train, val = self.do_split()
        axes = network_axes(prepared, [*train, *val], plan, folder)
        _check_truth(folder / "gt_segmentations", prepared, [*train, *val], self.dataset_json["file_ending"])
        view = self._headrace_view(cohort, folder, train, val)
        self._headrace_facts = {"version": 1, "dataset_hash": _hash_of(view), "seed": self.headrace_seed}
        places = self._headrace_places()
        made = self._headrace_batches(plan, augmentation, cohort, view, "train", axes), \
            self._headrace_batches(plan, None, cohort, view, "train" if set(val) <= set(train) else "val", axes)
        for batches, place in zip(made, places):
            batches.seek(place)
        return made

    def _headrace_view(self: Any, cohort: Cohort, folder: Path, train: list[str], val: list[str]) -> str:
        """Rank 0 makes it, the others find it."""
        views = folder / "headrace-views"
        views.mkdir(exist_ok=True)
        if not self.is_ddp:
            return make_view(cohort, views, train, val)
        found: list[Any] = [make_view(cohort, views, train, val) if self.local_rank == 0 else None]
        torch.distributed.broadcast_object_list(found, src=0)
        return str(found[0])

    def _headrace_batches(self: Any, plan: NetworkPlan, augmentation: Augmentation | None, cohort: Cohort, view: str, split: str,
                          axes: dict[str, Axes]) -> Batches:
        units = [cohort.images[0].level(0, channel).unit for channel in range(len(plan.normalization))]
        config = run_config(plan, next(iter(axes.values())), units, cohort.channels, augmentation)
        aimed = foreground_samples(self.batch_size, self.oversample_foreground_percent)
        threads, parts = _threads(training=augmentation is not None), []
        seed = (self.headrace_seed * 1024 + self.local_rank) * 4 + (0 if augmentation else 2)
        for number, samples in enumerate((self.batch_size - aimed, aimed)):
            if samples == 0:
                continue
            sampling = {**sampling_of(number == 1), "seed": seed + number, "batch": samples, "batches_per_epoch": EPOCH}
            parts.append(Loader({**config, "task": "segmentation", "data": {"store": view, "train": split}, "sampling": sampling},
                                threads=max(1, round(threads * samples / self.batch_size)), device="cpu", as_="numpy", rank=0, world_size=1))
        regions: list[Any] = []
        if self.label_manager.has_regions:
            regions = [values if isinstance(values, (tuple, list)) else (values,) for values in self.label_manager.foreground_regions]
            if self.label_manager.has_ignore_label:
                regions.append((self.label_manager.ignore_label,))
        scales = self._get_deep_supervision_scales()
        mirror_axes = augmentation.mirror_axes if augmentation else ()
        all_mirrored = augmentation is not None and augmentation.mirrors_all
        form = BatchForm(plan.patch, axes, strides_of(scales, plan.patch), scales is not None, self.label_manager.ignore_label, regions,
                         () if all_mirrored else mirror_axes, all_mirrored, self.device.type == "cuda", seed)
        return Batches(parts, form)

    def _headrace_places(self: Any) -> tuple[int, int]:
        """Batches given before, for training and for validation."""
        place = self._headrace_place
        if place is None:  # a new training, or one that began with another trainer
            return self.current_epoch * self.num_iterations_per_epoch, self.current_epoch * self.num_val_iterations_per_epoch
        for key, here in self._headrace_facts.items():
            if place.get(key) != here:
                raise UsageError(f"the checkpoint's {key} is {place.get(key)!r}, and now it is {here!r}: labels, cases or the split have changed "
                                 "since, so it can't go on with its samples. Put them back, or train anew without --c")
        return int(place["train"]), int(place["val"])

    def save_checkpoint(self: Any, filename: str) -> None:
        """nnU-Net's, with the key `headrace`: dataset hash, seed, and how many batches were given."""
        super().save_checkpoint(filename)  # type: ignore[misc]
        if self.local_rank != 0 or self.disable_checkpointing or self._headrace_facts is None:
            return
        checkpoint = torch.load(filename, map_location="cpu", weights_only=False)
        checkpoint["headrace"] = {**self._headrace_facts, "train": self.dataloader_train.given, "val": self.dataloader_val.given}
        aside = f"{filename}.part"
        torch.save(checkpoint, aside)
        os.replace(aside, filename)

    def load_checkpoint(self: Any, filename_or_checkpoint: Any) -> None:
        super().load_checkpoint(filename_or_checkpoint)  # type: ignore[misc]
        checkpoint = filename_or_checkpoint
        if not isinstance(checkpoint, dict):
            checkpoint = torch.load(checkpoint, map_location="cpu", weights_only=False)
        self._headrace_place = checkpoint.get("headrace")

    def on_train_end(self: Any) -> None:
        super().on_train_end()  # type: ignore[misc]
        self.dataloader_train.close()
        self.dataloader_val.close()


class nnUNetTrainerHeadrace(HeadraceBatches, nnUNetTrainer):  # type: ignore[misc]
    """nnUNetv2_train … -tr nnUNetTrainerHeadrace"""


def _check_default(trainer: type, probabilistic: bool) -> None:
    """What a trainer beside HeadraceBatches changes of samples would be passed over."""
    changed = [method for method in ("get_training_transforms", "get_validation_transforms", "get_tr_and_val_datasets")
               if getattr(trainer, method) is not getattr(nnUNetTrainer, method)]
    if getattr(super(HeadraceBatches, trainer), "get_dataloaders") is not nnUNetTrainer.get_dataloaders:
        changed.append("get_dataloaders")
    if probabilistic:
        changed.append("probabilistic_oversampling")
    if changed:
        raise UnsupportedError(f"{trainer.__name__} has its own {' and '.join(changed)}, and headrace makes nnU-Net's default samples. "
                               "Take that trainer without HeadraceBatches")


def _hash_of(view: str) -> str:
    from .store import open as open_store

    return open_store(view).dataset_hash


def _threads(training: bool) -> int:
    """As many as nnU-Net would start processes, but not more than there are cores."""
    allowed: int = max(1, min(get_allowed_n_proc_DA(), len(os.sched_getaffinity(0))))
    return allowed if training else max(1, allowed // 2)


def _check_truth(folder: Path, prepared: Prepared, cases: list[str], ending: str) -> None:
    """nnU-Net validates by the labels of its preprocessed folder: they must be those that the store has."""
    for name in dict.fromkeys(cases):
        path = folder / f"{name}{ending}"
        try:
            found = hashlib.sha256(path.read_bytes()).hexdigest()
        except FileNotFoundError:
            raise NotFoundError(f"{path}: not there. Run nnUNetv2_plan_and_preprocess first: nnU-Net validates by it") from None
        if found != prepared.cases[name].labels_sha256:
            raise UsageError(f"{path}: other labels than those with which the store was compared. Run nnUNetv2_plan_and_preprocess, then "
                             f"python -m headrace.nnunet prepare {folder.parent.name}")
