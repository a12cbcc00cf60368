"""Samples as a `ray.data.Dataset`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from . import _core
from ._checks import positive_number, positive_whole
from ._loader_facts import LoaderFacts
from ._ray_actor import NumberedLoader
from ._ray_library import check_connected
from ._ray_spec import LoaderSpec, loader_options, sent_element, spec_of
from ._ray_store import batch_bytes
from ._ray_wire import pack
from ._run_config import Config, overlaid


def dataset(
    config: Config = None,
    *,
    batches: int | None = None,
    batches_per_task: int = 16,
    cpus: float = 1,
    resources: Mapping[str, float] | None = None,
    element: str | None = None,
    **options: Any,
) -> Any:
    """The samples of some batches of `headrace.ray.loader` as a `ray.data.Dataset`, for programs that are built around one.

    `batches`: how many, from `epoch` and `start` on; None: the rest of the epoch, or all tiles of the split. A read task makes
    `batches_per_task` of them and takes `cpus` and `resources` of a node. `config`, `element` and further arguments are those of
    `headrace.ray.loader`; bfloat16 is refused, since Ray Data has none.

    A row is a sample: `image` (of a config with `views` one column for each, of its name) and, where there are labels, `label`, as a Loader's without the first axis; `epoch`, `batch` and `sample`,
    its numbers. Its bytes are those of a Loader. The order of rows, and which of them are in memory at once, are Ray's; a `Dataset`
    keeps no place to go on from: use `headrace.ray.loader` where these matter.

    Errors: those of `headrace.ray.loader`; within a task Ray adds its own traceback.
    """
    check_connected()
    # Of what a task makes ahead beyond its end nothing is used.
    facts = LoaderFacts(config, **loader_options(overlaid(options, {"loader": {"prefetch": 1}}), element))
    sent = sent_element(facts, element)
    if sent == "bfloat16":
        raise _core.UsageError("Ray Data has no bfloat16: use element='float16', 'float32' or 'uint8'")
    spec = spec_of(facts, options, sent)
    epoch, start = facts.place
    left = facts.batches_per_epoch - start
    count = left if batches is None else positive_whole("batches", batches)
    first = epoch * facts.batches_per_epoch + start
    last = first + (min(count, left) if facts.tiled else count)
    step = positive_whole("batches_per_task", batches_per_task)
    ranges = [range(begin, min(begin + step, last)) for begin in range(first, last, step)]
    threads = max(1, int(positive_number("cpus", cpus)))
    source = _datasource(spec, ranges, threads, facts.batch_size, batch_bytes(facts, sent, options.get("labels", True)))
    import ray.data  # type: ignore[import-not-found,unused-ignore]

    return ray.data.read_datasource(
        source, override_num_blocks=len(ranges), ray_remote_args={"num_cpus": cpus, "resources": dict(resources or {}), "scheduling_strategy": "SPREAD"}
    )


def _datasource(spec: LoaderSpec, ranges: list[range], threads: int, samples: int, bytes_each: int) -> Any:
    """Of `ray.data.Datasource`, which is imported by need: it takes a second."""
    from ray.data import Datasource, ReadTask  # type: ignore[import-not-found,unused-ignore]
    from ray.data.block import BlockMetadata  # type: ignore[import-not-found,unused-ignore]

    base: Any = Datasource

    class Batches(base):  # type: ignore[misc]
        """Each read task makes the batches of one range."""

        def estimate_inmemory_data_size(self) -> int:
            return sum(map(len, ranges)) * bytes_each

        def get_read_tasks(self, parallelism: int, per_task_row_limit: int | None = None, data_context: Any = None) -> list[Any]:
            tasks = []
            for numbers in ranges:
                metadata = BlockMetadata(len(numbers) * samples, len(numbers) * bytes_each, None, None)
                tasks.append(ReadTask(_Read(spec, numbers, threads), metadata, per_task_row_limit=per_task_row_limit))
            return tasks

    return Batches()


class _Read:
    """Makes a range of batches, each a block."""

    def __init__(self, spec: LoaderSpec, numbers: range, threads: int) -> None:
        self._spec, self._numbers, self._threads = spec, numbers, threads

    def __call__(self) -> Iterator[Any]:
        from ray.data.block import BlockAccessor

        with self._spec.open(self._threads, NumberedLoader) as loader:
            assert isinstance(loader, NumberedLoader)
            for number in self._numbers:
                sent = pack(loader.batch_at(number, 1), self._spec.element)
                meta = sent.meta
                rows: dict[str, Any] = {name or "image": np.ascontiguousarray(one.values.transpose(one.axes)) for name, one in sent.images.items()}
                if sent.label is not None:
                    rows["label"] = sent.label
                rows |= {"epoch": np.full(len(meta.samples), meta.epoch), "batch": np.full(len(meta.samples), meta.index), "sample": meta.samples}
                yield BlockAccessor.batch_to_block(rows)
