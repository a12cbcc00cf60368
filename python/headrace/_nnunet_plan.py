"""What nnU-Net's plans ask of a batch, and the run configs by which a `headrace.Loader` makes it. Needs no nnunetv2."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ._core import UnsupportedError, UsageError
from ._run_config import read_run_config

_SMALLEST_EDGE = 8  # of a loader's patch; thinner ones are cut from the middle of one of this size
# Readers of nnU-Net that keep the file's voxel order, and those that turn every image to RAS.
_AS_IN_FILE, _TURNED_TO_RAS = ("SimpleITKIO", "NibabelIO"), ("SimpleITKIOWithReorient", "NibabelIOWithReorient")


@dataclass(frozen=True)
class Axes:
    """How the axes of an array lie in the store's (z, y, x), which grow upwards, to the back and to the patient's left."""

    store: tuple[int, int, int]
    """The store's axis along which each axis of the array runs."""
    mirrored: tuple[bool, bool, bool]
    """Whether it runs against it."""

    def taken(self, transpose: Sequence[int]) -> Axes:
        """Those of the array transposed by NumPy's rule: its axis i is axis transpose[i] of this one."""
        first, second, third = transpose
        return Axes((self.store[first], self.store[second], self.store[third]),
                    (self.mirrored[first], self.mirrored[second], self.mirrored[third]))


RAS = Axes((0, 1, 2), (False, True, True))


@dataclass(frozen=True)
class NetworkPlan:
    """A configuration of plans. Axes are those of the network: of the image as nnU-Net's reader gives it, after `transpose`."""

    name: str
    batch: int
    patch: tuple[int, int, int]
    spacing_mm: tuple[float, float, float]
    transpose: tuple[int, int, int]
    reader_turns: bool
    """Whether the reader turns every image to RAS before; else the order is that of each file."""
    normalization: tuple[tuple[float, float, float, float] | None, ...]
    """For each channel: clipped to the first two, mean, standard deviation; None: values as they are."""

    def network_axes(self, file_axes: Axes) -> Axes:
        return (RAS if self.reader_turns else file_axes).taken(self.transpose)

    @property
    def read_size(self) -> tuple[int, int, int]:
        """Voxels that are read; where a patch is thinner than a loader's may be, its middle is used."""
        z, y, x = (edge if edge >= _SMALLEST_EDGE else _SMALLEST_EDGE + edge % 2 for edge in self.patch)
        return z, y, x


@dataclass(frozen=True)
class Augmentation:
    """What nnU-Net's trainer decides of the geometry of training samples."""

    rotation_rad: tuple[float, float]
    in_plane: bool
    """`do_dummy_2d_data_aug`: turned about the network's first axis alone."""
    mirror_axes: tuple[int, ...]
    """Axes of the network that are mirrored in half of the samples each."""

    @property
    def mirrors_all(self) -> bool:
        return set(self.mirror_axes) == {0, 1, 2}


def read_plan(plans: Mapping[str, Any], name: str, configuration: Mapping[str, Any]) -> NetworkPlan:
    """Of the plans' JSON, the name of a configuration, and the configuration with what it inherits.

    Errors: UnsupportedError where batches of a headrace.Loader can't be what the plans ask for.
    """
    where = f"{plans.get('dataset_name', 'plans')}, configuration {name}"
    if configuration.get("previous_stage"):
        raise UnsupportedError(f"{where}: a cascade gets the earlier stage's prediction as further channels, which this trainer does not feed. "
                               "Train the earlier stage or 3d_fullres with it, and the cascade with nnUNetTrainer")
    patch = [int(edge) for edge in configuration["patch_size"]]
    if len(patch) != 3:
        raise UnsupportedError(f"{where}: its patch {patch} has {len(patch)} axes, and Headrace makes patches of volumes. Train 3d_fullres or "
                               "3d_lowres with this trainer, and 2d with nnUNetTrainer")
    reader = plans.get("image_reader_writer", "SimpleITKIO")
    if reader not in (*_AS_IN_FILE, *_TURNED_TO_RAS):
        raise UnsupportedError(f"{where}: nnU-Net reads its images by {reader}, whose axes this trainer does not know; "
                               f"it knows {', '.join((*_AS_IN_FILE, *_TURNED_TO_RAS))}")
    spacing = [float(edge) for edge in configuration["spacing"]]
    z, y, x = plans["transpose_forward"]
    return NetworkPlan(name, int(configuration["batch_size"]), (patch[0], patch[1], patch[2]), (spacing[0], spacing[1], spacing[2]), (z, y, x),
                       reader in _TURNED_TO_RAS, _normalization(plans, configuration, where))


def _normalization(plans: Mapping[str, Any], configuration: Mapping[str, Any], where: str) -> tuple[tuple[float, float, float, float] | None, ...]:
    schemes: list[tuple[float, float, float, float] | None] = []
    for channel, scheme in enumerate(configuration["normalization_schemes"]):
        if scheme == "NoNormalization":
            schemes.append(None)
            continue
        if scheme != "CTNormalization":
            raise UnsupportedError(
                f"{where}: channel {channel} is normalised by {scheme}, from each image by itself, which a headrace.Loader does not do. Of a CT or a "
                "PET in SUV name the channel \"CT\" in dataset.json, so that nnU-Net plans one normalisation for all images (CTNormalization), and "
                "plan again. For MR take nnUNetTrainer")
        known = plans["foreground_intensity_properties_per_channel"][str(channel)]
        low, high, mean, std = (float(known[key]) for key in ("percentile_00_5", "percentile_99_5", "mean", "std"))
        if not low < high or not std > 0:
            raise UnsupportedError(f"{where}: channel {channel} has the percentiles {low:g} and {high:g} and the standard deviation {std:g} under "
                                   "its labels: one value, from which no network learns. Look at the images")
        schemes.append((low, high, mean, std))
    return tuple(schemes)


def foreground_samples(batch: int, percent: float) -> int:
    """How many samples of a batch nnU-Net's loader centres on a class: the last ones."""
    return batch - round(batch * (1 - percent))


def sampling_of(aimed: bool) -> dict[str, Any]:
    """The section sampling, without batch and seed, of the samples that are centred on a class, or of the others.

    As in nnU-Net, all voxels of a class in an image are equally likely centres; of the others, all images and all places inside of one are.
    """
    if aimed:
        return {"foreground": 1.0, "balance": "class", "lesion_size_power": 1.0}
    return {"foreground": 0.0, "balance": "image", "background": 1.0}


def run_config(plan: NetworkPlan, axes: Axes, units: Sequence[str], channels: Sequence[str], augmentation: Augmentation | None) -> dict[str, Any]:
    """The sections patch, transforms and model of a run config.

    axes: those of the network. units, channels: of the store's channels, "HU" or "SUV", and their names (none where there is one channel).
    augmentation: None: validation, nothing random but the place.
    """
    size, spacing = [0, 0, 0], [0.0, 0.0, 0.0]
    for axis, edge, mm in zip(axes.store, plan.read_size, plan.spacing_mm):
        size[axis], spacing[axis] = edge, mm
    entries: list[dict[str, Any]] = []
    for number, (scheme, unit) in enumerate(zip(plan.normalization, units)):
        channel = {"channel": channels[number]} if channels else {}
        entries += _normalizing(scheme, unit, channel)
    if augmentation is not None:
        entries += _augmenting(augmentation, axes, plan.name)
    # The network is nnU-Net's: a model that halves nothing has no say about the patch.
    return {"patch": {"size": size, "spacing_mm": spacing}, "transforms": entries,
            "model": {"widths": [8, 8], "strides": [[1, 1, 1], [1, 1, 1]]}}


def _normalizing(scheme: tuple[float, float, float, float] | None, unit: str, channel: Mapping[str, str]) -> list[dict[str, Any]]:
    if scheme is None:
        return [{"normalize": {"method": "none", **channel}}]
    low, high, mean, std = scheme
    width = high - low  # a window makes 0..1 of the values between its ends
    window = "window_suv" if unit == "SUV" else "window_hu"
    return [{window: {"low": low, "high": high, **channel}},
            {"normalize": {"method": "fixed", "mean": (mean - low) / width, "std": std / width, **channel}}]


def _augmenting(augmentation: Augmentation, axes: Axes, name: str) -> list[dict[str, Any]]:
    """nnU-Net's default list, with the plan's rotations and mirroring."""
    if augmentation.in_plane and axes.store[0] != 0:
        raise UnsupportedError(
            f"configuration {name}: its patch is flat along the patient's {('z', 'y', 'x')[axes.store[0]]} axis, about which alone nnU-Net would "
            "turn it, and Headrace turns flat patches about z alone. Bring the images into axial order, or take nnUNetTrainer")
    whole = read_run_config({"task": "segmentation", "data": {"store": "-"}, "patch": {"size": [32, 32, 32]},
                             "transforms": [{"normalize": {"method": "none"}}, {"preset": "nnunet"}]}, {})[0]
    degrees = [math.degrees(end) for end in augmentation.rotation_rad]
    entries: list[dict[str, Any]] = []
    for entry in whole["transforms"]:
        if "affine" in entry:
            geometry = {**entry["affine"], "rotate_deg": degrees, "in_plane": augmentation.in_plane, "flip": augmentation.mirrors_all}
            entries.append({"affine": geometry})
        elif "normalize" not in entry:
            entries.append(entry)
    return entries


def strides_of(scales: Sequence[Sequence[float]] | None, patch: Sequence[int]) -> list[tuple[int, int, int]]:
    """Voxels of the patch a voxel of each target of deep supervision, (z, y, x). Errors: UsageError (the patch does not divide by it)."""
    strides = []
    for scale in scales or [(1.0, 1.0, 1.0)]:
        z, y, x = (round(1 / part) for part in scale)
        if any(edge % stride for edge, stride in zip(patch, (z, y, x))):
            raise UsageError(f"patch {list(patch)} does not divide by the strides {[z, y, x]} of the network's deep supervision; plan again")
        strides.append((z, y, x))
    return strides
