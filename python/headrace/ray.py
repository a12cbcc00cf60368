"""Batches made on several machines by Ray: `headrace.ray.loader` and `headrace.ray.dataset`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._checks import positive_number, positive_whole
from ._ray_dataset import dataset
from ._ray_library import check_connected, ray
from ._ray_pool import ActorError, ActorOptions, ActorPool
from ._ray_requests import BatchRequests
from ._ray_spec import LoaderSpec, loader_options, sent_element, spec_of
from ._ray_store import batch_bytes, check_store
from ._run_config import Config
from ._tensors import tensor_kind
from .loader import Loader, Source

__all__ = ["ActorError", "LoaderSpec", "RayLoader", "dataset", "loader"]

_AT_HAND = 2  # batches that the consumer holds: this one and, until it is replaced, the one before


class RayLoader(Loader):
    """A `headrace.Loader` whose batches are made by actors of a Ray cluster; made by `loader`."""

    def __init__(self, config: Config, options: Mapping[str, Any], actors: int, element: str | None, take: ActorOptions, patience: float) -> None:
        check_connected()
        self._options, self._element, self._take_of_cluster, self._patience = options, element, take, patience
        self._first_actors = positive_whole("actors", actors)
        super().__init__(config, **loader_options(options, element))

    def _begin(self) -> None:
        element = sent_element(self, self._element)
        self.spec = spec_of(self, self._options, element)
        # NumPy has no bfloat16, so these are tensors of torch for "dlpack", too.
        self._as_torch = element == "bfloat16" or tensor_kind(self._options.get("as_"), self.config["loader"]) == "torch"
        self._batch_bytes = batch_bytes(self, element, self._labels)
        self._check_own_store(self._first_actors)
        self._pool = ActorPool(self.spec, self._first_actors, self._take_of_cluster, self._batch_bytes)
        super()._begin()

    def _check_own_store(self, actors: int) -> None:
        batches = actors * self._take_of_cluster.outstanding + _AT_HAND
        check_store(ray.get_runtime_context().get_node_id(), "this process", batches, self._batch_bytes)

    def _new_source(self, number: int) -> Source:
        end = (self.place[0] + 1) * self.batches_per_epoch if self.tiled else None
        return BatchRequests(self._pool, number, end, self.batches_per_epoch, self._take_of_cluster.outstanding, self._patience, self._as_torch)

    def _batch_of(self, image: Any, label: Any, meta: Any, views: Mapping[str, Any]) -> dict[str, Any]:
        batch: dict[str, Any] = {"image": image}
        if views:
            batch["views"] = dict(views)
        if label is not None:
            batch["label"] = label
        return {**batch, "meta": meta}

    def resize(self, actors: int) -> None:
        """From now on as many actors; no batch changes. Waits while another thread waits for a batch."""
        self._check_process()
        with self._lock:
            self._check_own_store(positive_whole("actors", actors))
            self._pool.resize(actors)

    def actors(self) -> list[dict[str, Any]]:
        """Those that work: the address of each one's machine (`node`), and its process there (`pid`). Waits while another thread waits for a batch."""
        self._check_process()
        with self._lock:
            self._pool.refresh()
            return [{"node": member.node, "pid": member.pid} for member in self._pool.living]

    def stats(self) -> dict[str, Any]:
        """Since batches were last begun: `batches`, `samples`, `bytes_received`, `data_wait_s`, `wall_s`, as a Loader's; `actors` that work; and
        `asked_again`, batches that were asked of another actor, too.
        """
        return super().stats()

    def close(self) -> None:
        """Ends the actors. Batches that were given stay valid. May be called again, by any thread."""
        super().close()
        if hasattr(self, "_pool"):
            self._pool.close()


def loader(
    config: Config = None,
    *,
    actors: int = 2,
    cpus: float = 1,
    resources: Mapping[str, float] | None = None,
    element: str | None = None,
    outstanding: int = 2,
    patience: float = 30,
    wait: float = 300,
    **options: Any,
) -> RayLoader:
    """A loader with the interface and the batches of `headrace.Loader`, made by actors on the machines of a Ray cluster.

    `config` and further arguments are those of `headrace.Loader` (but `device`, `threads` and `turn`). This process must be connected
    to a cluster (`ray.init`). It opens the store, too, for its classes and its hash, and reads no pixels.

    - `actors`: how many make batches; `resize` changes it. Where the cluster has room for fewer, fewer work until it has.
    - `cpus`, `resources`: what each takes of a node, as Ray counts it; `cpus` is also the number of its threads.
    - `element`: of the images that are sent and given: "float32", "bfloat16" (torch alone, in the actors, too), "float16", or "uint8": the values
      0 to 1 of slides as 0 to 255, without `normalize`. None: `loader.element` of the config, on a CPU.
    - `outstanding`: batches that are asked of each actor and not taken yet; they lie in this machine's object store.
    - `patience`: seconds after which a batch is asked of another actor, too; sooner where batches have come sooner so far (4 times the
      longest of the last waits, at least 3 s).
    - `wait`: seconds without any actor after which that is an error.

    A batch depends on the config, the dataset and its number alone: not on the number of actors, nor on actors or machines that end.
    What such a one was asked for is asked of others, and a new one takes its place where the cluster has room. Errors of the config
    and of the data are raised as by a Loader, and not tried again.

    Arrays and tensors lie in the object store of this machine, without a further copy, and may be written to. Their memory goes
    back when the last of a batch dies; copy what is kept.

    Actors use keys and passwords of their own environment and files; none is sent to them. They may speak to the hosts that the
    config names.

    Errors: those of Loader, UsageError also where the object store of a node is too small; ActorError (no actors, or they end again and
    again). Threads: as a Loader. Not for Ray Client (`ray://`).
    """
    take = ActorOptions(
        cpus=positive_number("cpus", cpus),
        resources=dict(resources or {}),
        outstanding=positive_whole("outstanding", outstanding),
        wait=positive_number("wait", wait),
    )
    return RayLoader(config, options, actors, element, take, positive_number("patience", patience))
