"""How much the batches on their way take of the object stores of Ray's nodes."""

from __future__ import annotations

import math

from ._core import UsageError
from ._ray_library import ray
from .loader import Loader

_BYTES = {"float32": 4, "bfloat16": 2, "float16": 2, "uint8": 1}
_MOST = 0.8  # of a store: its memory has gaps, and others use it


def batch_bytes(loader: Loader, element: str, labels: bool) -> int:
    """Of a full batch of this process's share."""
    samples = -(-loader.batch_size // loader.world_size)
    shape, patch = loader.image_shape, loader.config["patch"]
    pixels = math.prod(shape[2:] if "mpp" in patch else shape[1:])
    views = loader.config.get("views") or []  # the first one is the image
    others: int = sum(view.get("crops", 1) * shape[1] * math.prod(view.get("size") or patch["size"]) for view in views[1:])
    values: int = math.prod(shape) + others
    return samples * (values * _BYTES[element] + pixels * labels)


def check_store(node_id: str, what: str, batches: int, of_bytes: int) -> None:
    """Errors: UsageError where a node's store can't hold so many batches: Ray would move them to its disk and back."""
    node = next((node for node in ray.nodes() if node["NodeID"] == node_id), None)
    if node is None:  # it has left meanwhile
        return
    store = int(node["Resources"].get("object_store_memory", 0))
    if batches * of_bytes > _MOST * store:
        raise UsageError(
            f"{what} needs room for {batches} batches of {of_bytes / 1e6:.0f} MB, and the object store of node {node['NodeManagerAddress']} has "
            f"{store / 1e6:.0f} MB: start it with a larger --object-store-memory, or take fewer actors, outstanding=1, element='uint8' or a smaller batch"
        )
