"""What a loader makes, as text that another process opens."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from . import _core
from ._checks import choice
from ._patch_list import PatchList, read_patch_list
from ._plain import path_text
from ._run_config import overlaid
from .loader import Loader

UINT8 = "uint8"  # which a loader does not know: made of its float32
ELEMENTS = ("float32", "bfloat16", "float16", UINT8)
_NOT_HERE = {
    "turn": "its actors take turns",
    "threads": "each actor has as many as `cpus`",
    "device": "actors make batches on CPUs, and tensors are moved where the model is",
}


@dataclass(frozen=True)
class LoaderSpec:
    """The batches of a `headrace.Loader`, so that any process that reaches the store makes them with the same bytes. Can be pickled.

    It holds no key, token or password: those are found by the process that opens it, in its environment and files.
    """

    config: str
    """The whole run config, JSON; paths are absolute, and the store's version is stated."""
    options: Mapping[str, Any]
    """Other arguments of Loader: split, tiles, augment, rank, world_size, labels, run."""
    patches: PatchList | None
    """The list whose patches are made; None: training samples or tiles."""
    element: str
    """Of the images that are sent: float32, bfloat16, float16, or uint8 (0 to 255, of slides without `normalize`)."""
    dataset_hash: str
    program: str
    """Version of Headrace, which must be the same in all processes."""

    def open(self, threads: int, loader: type[Loader] = Loader, **more: Any) -> Loader:
        """A loader of these batches on this machine's CPU. `more`: further arguments.

        Errors: those of Loader; UsageError where this process has another version of Headrace or sees another dataset.
        """
        if self.program != _core.__version__:
            raise _core.UsageError(f"headrace {_core.__version__} is installed here, and {self.program} where the batches are asked for: install the same")
        patches = None if self.patches is None else _as_specs(self.patches)
        kind: Any = "torch" if self.element == "bfloat16" else "numpy"  # NumPy has none
        options = {**self.options, "patches": patches, "device": "cpu", "threads": threads, "as_": kind, **more}
        opened = loader(json.loads(self.config), **options)
        if opened.dataset_hash != self.dataset_hash:
            opened.close()
            raise _core.UsageError(f"the store has dataset hash {opened.dataset_hash} here, and {self.dataset_hash} where the batches are asked for")
        return opened

    def __repr__(self) -> str:
        return f"LoaderSpec(dataset {self.dataset_hash[:12]}, {self.element})"  # no path: Ray shows what it is given


def _as_specs(patches: PatchList) -> list[tuple[Any, ...]]:
    size = () if patches.size is None else (patches.size.level, patches.size.width, patches.size.height)
    return [(image, int(x), int(y), *size) for image, x, y in zip(patches.images, patches.x, patches.y)]


def spec_of(loader: Loader, options: Mapping[str, Any], element: str) -> LoaderSpec:
    """That of a loader. `options`: the arguments that it was made with, sections of the config among them."""
    config = copy.deepcopy(loader.config)
    config["data"]["store"] = _absolute(config["data"]["store"])
    config["data"]["version"] = loader.dataset_hash  # a later one that is committed meanwhile is not taken
    network = config.get("network", {})
    if network.get("ca_file"):
        network["ca_file"] = _absolute(network["ca_file"])
    if (network.get("cache") or {}).get("folder"):
        network["cache"]["folder"] = _absolute(network["cache"]["folder"])
    kept = {name: options[name] for name in ("split", "tiles", "augment", "labels") if name in options}
    kept |= {"rank": loader.rank, "world_size": loader.world_size}
    if options.get("run") is not None:
        kept["run"] = _absolute(path_text(options["run"]))
    patches = options.get("patches")
    listed = None if patches is None else read_patch_list(patches)
    return LoaderSpec(json.dumps(config), kept, listed, element, loader.dataset_hash, _core.__version__)


def loader_options(options: Mapping[str, Any], element: str | None) -> dict[str, Any]:
    """Arguments of the Loader whose images are sent as `element`; None: as the config says.

    Errors: UsageError (no such element; arguments that have no meaning for actors).
    """
    if element is not None:
        choice("element", element, ELEMENTS)
    for name, instead in _NOT_HERE.items():
        if name in options:
            raise _core.UsageError(f"{name} is not for loaders of Ray: {instead}")
    section = {} if element is None else {"loader": {"element": "float32" if element == UINT8 else element}}
    return overlaid(options, {**section, "device": "cpu"})


def sent_element(loader: Loader, element: str | None) -> str:
    """Of the images that are sent. Errors: UsageError (uint8 of values that it can't hold)."""
    if element is None:
        element = loader.config["loader"]["element"]
        return "float32" if element == "auto" else element
    if element == UINT8 and "mpp" not in loader.config["patch"]:
        raise _core.UsageError("element is 'uint8', which is for slides: values of volumes need 'float32', 'bfloat16' or 'float16'")
    views = loader.config.get("views") or []
    chains = [loader.config.get("transforms") or [], *(view.get("transforms") or [] for view in views)]
    if element == UINT8 and any("normalize" in one for chain in chains for one in chain):
        raise _core.UsageError("element is 'uint8', and transforms has normalize, whose values it can't hold: leave normalize out, and do it where the model is")
    return element


def _absolute(path: str) -> str:
    return path if "://" in path else os.path.abspath(path)
