"""Training batches and tiles of a store, made ahead of the model by threads of the C++ library."""

from __future__ import annotations

import atexit
import inspect
import json
import os
import threading
import weakref
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from . import _core
from ._batch_meta import BatchMeta
from ._first_guesses import check_guesses
from ._patch_list import read_patch_list
from ._plain import path_text
from ._ranks import find_rank, natural
from ._run_config import Config, check_keywords, overlaid, read_run_config
from ._tensors import TensorKind, converter, current_stream, device_name, tensor_kind

__all__ = ["BatchMeta", "Loader"]

# Loaders that are not closed: their threads must end before the interpreter does.
_open_loaders: weakref.WeakSet[Loader] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for loader in list(_open_loaders):
        loader.close()
        if loader._made_in == os.getpid():
            with loader._lock:  # no daemon thread is left in C++, where Python could not end it
                pass


class Source(Protocol):
    """What makes batches in order, ahead of the loader that takes them."""

    def next(self, inputs: _core.RunInputs, stream: int) -> tuple[Any, Any, Any, Mapping[str, Any]] | None:
        """Images, labels or None, meta, views by name; None at the end. `stream`: the CUDA stream that they are for."""

    def stats(self) -> str:
        """JSON."""

    def close(self) -> None:
        """Ends it, at any time, from any thread."""


class Loader:
    """Batches as `headrace batches` makes them, to the last bit, in order.

    `config`: the path of a RUN.yaml, or a mapping with its keys. Sections of it as keyword arguments (`sampling={"batch": 8}`) lie
    over it, or make it alone. Other arguments:

    - `split`: None or the config's `data.train`: training samples, epoch after epoch; another one: its tiles in their fixed order.
      `tiles=True`: tiles of the training split, too.
    - `patches`: a list of patches to make instead, in its order and without random transforms, in any form that `features` takes
      (a CSV or Parquet file with the columns image, x and y, a table, PatchSpecs, …). x, y: the first pixel on level 0; the size
      is `patch`'s. `augment=True`: each epoch in an order of its own, with the config's transforms.
    - `epoch`, `start`: the first batch; `start` counts from the beginning of `epoch`.
    - `count`: one `for` gives this many batches instead of the rest of an epoch; of tiles at most what there is.
    - `rank`, `world_size`: this process makes its part of the samples of every batch. Left out: of torch.distributed where it is
      initialised, else of the variables RANK and WORLD_SIZE, else all.
    - `turn=(i, n)`: of the batches, number i of every n: for n consumers of one process that take turns.
    - `labels=False`: no labels, also where `data.labels` names some.
    - `device`: auto, cpu or cuda; `threads`: 0 for every core. Left out: the config's.
    - `run`: a folder of a training run; its preprocessing and classes are used instead of those of the store.
    - `as_`: "torch", "numpy" or "dlpack" (objects with `__dlpack__`); left out: torch where it is installed.

    A batch is a dict: `image`, (sample, context, 3, y, x) of slides, (sample, channel, z, y, x) of volumes, float32 where the config
    has no other loader.element; of a config with `views` also `views`, a dict of (sample, crop, 3, y, x) by name, of which the first is
    `image`; `label`, uint8 (sample, y, x) or (sample, z, y, x), 255 is ignore, absent without labels; `meta`, a
    BatchMeta.

    Tensors are views of the loader's memory and may be written to. It goes back to the loader when the last of a batch's tensors
    dies. Who keeps batches gets fresh memory for each further one; a kept tensor is never written by the loader. On a GPU a batch
    belongs to the torch stream that is current when it is given.

    A `for` over training samples goes on where the last one stopped, and ends with the epoch. A `for` over tiles begins with
    the first. Any thread may iterate; each batch is given once. Waiting releases the GIL and hears Ctrl-C. The loader has no
    meaning in a forked process; make it after the fork. Loaders that are not closed are closed when the interpreter exits.

    Errors: UsageError (keys, names and limits as in RUN.yaml), NotFoundError, and those of the batches: CorruptError, StorageError, …;
    after one, a new `for` tries the same batch again.
    """

    def __init__(
        self,
        config: Config = None,
        *,
        split: str | None = None,
        tiles: bool | None = None,
        patches: Any = None,
        augment: bool = False,
        epoch: int = 0,
        start: int = 0,
        count: int | None = None,
        rank: int | None = None,
        world_size: int | None = None,
        turn: tuple[int, int] = (0, 1),
        labels: bool = True,
        device: Any = None,
        threads: int | None = None,
        run: str | os.PathLike[str] | None = None,
        as_: TensorKind | None = None,
        **sections: Any,
    ) -> None:
        self._source: Source | None = None
        self._source_next: int | None = None
        self._lock, self._closed, self._made_in = threading.Lock(), False, os.getpid()
        check_guesses(sections, sections.get("store"))
        check_keywords(sections, list(inspect.signature(Loader).parameters)[:-1])
        options = {"device": None if device is None else device_name(device), "threads": threads}
        given = {key: value for key, value in options.items() if value is not None}
        self.config, name = read_run_config(config, overlaid(sections, {"loader": given}) if given else sections)
        self._turn, self._labels = _checked_turn(turn), bool(labels)
        if turn[1] > 1 and self.config["loader"]["threads"] == 0:
            self.config["loader"]["threads"] = max(1, len(os.sched_getaffinity(0)) // turn[1])
        kind = tensor_kind(as_, self.config["loader"])
        self._convert, self._on_gpu = converter(kind), self.config["loader"]["device"] == "cuda"
        self.rank, self.world_size = find_rank(rank, world_size)
        self.split = self.config["data"]["train"] if split is None else split
        listed = None if patches is None else _listed(patches)
        if listed is not None and (split is not None or tiles is not None):
            raise _core.UsageError("patches are a list of their own: leave split and tiles out")
        if augment and listed is None:
            raise _core.UsageError("augment belongs to patches; training samples are always augmented")
        tiled = "" if listed is not None else self._tiled(tiles)
        self._inputs = _core.RunInputs(json.dumps(self.config), name, tiled, "" if run is None else path_text(run), listed, augment)
        self._facts = self._run_facts()
        self._count = None if count is None else natural("count", count)
        self._home = self._number(natural("epoch", epoch), natural("start", start))
        self._next, self._placed = self._home, True
        self._check_start(start, self.batches_per_epoch - 1)
        self._passes = 0
        self._begin()

    def _begin(self) -> None:
        """Batches are made from now on, ahead of the first `for`."""
        self._source_at(self._next)
        _open_loaders.add(self)

    def _check_start(self, start: int, most: int) -> None:
        if self.tiled and start > most:
            last = self.batches_per_epoch - 1
            raise _core.UsageError(f"start is {start}: split '{self.split}' has {last + 1} batches, the last is {last}")

    def _tiled(self, tiles: bool | None) -> str:
        """The split whose tiles are made; empty: training samples."""
        training = self.split == self.config["data"]["train"]
        if tiles is False and not training:
            raise _core.UsageError(f"training samples are drawn from data.train, '{self.config['data']['train']}', and split is '{self.split}'")
        return self.split if tiles or not training else ""

    # What it makes.

    @property
    def classes(self) -> list[str]:
        """Class names, by label value."""
        return self._inputs.classes

    @property
    def image_shape(self) -> tuple[int, ...]:
        """Of one sample: (context, 3, y, x) of slides, (channel, z, y, x) of volumes."""
        return tuple(self._inputs.image_shape)

    @property
    def dataset_hash(self) -> str:
        """SHA-256 of the store's version."""
        return self._inputs.dataset_hash

    @property
    def config_hash(self) -> str:
        """SHA-256 of what decides a result in the config."""
        return self._inputs.config_hash

    @property
    def batch_size(self) -> int:
        """Samples of a full batch, over all processes."""
        return int(self.config["sampling" if self._inputs.random else "eval"]["batch"])

    @property
    def batches_per_epoch(self) -> int:
        """Of the whole run, whatever the number of processes."""
        return -(-self._inputs.samples // self.batch_size)

    def __len__(self) -> int:
        """Batches of a `for` from the beginning of an epoch."""
        index, every = self._turn
        whole = self.batches_per_epoch if self._count is None else self._count
        if self.tiled:
            whole = min(whole, self.batches_per_epoch)
        return max(0, -(-(whole - index) // every))

    @property
    def tiled(self) -> bool:
        """Whether it gives tiles in their fixed order; False: training samples."""
        return not self._inputs.random

    @property
    def place(self) -> tuple[int, int]:
        """Epoch of the next batch, and its number there; after the last tile the number of all batches."""
        if not self.tiled:
            return divmod(self._next, self.batches_per_epoch)
        epoch = self._home // self.batches_per_epoch
        return epoch, self._next - self._number(epoch, 0)

    @property
    def epoch(self) -> int:
        """Epoch of the next batch."""
        return self.place[0]

    def stats(self) -> dict[str, Any]:
        """How time was spent since batches were last begun: the members of C++'s StallStats, times in seconds."""
        self._check_process()
        return {} if self._source is None else json.loads(self._source.stats())

    # Iteration.

    def __iter__(self) -> Iterator[dict[str, Any]]:
        self._check_process()
        with self._lock:
            if self.tiled and not self._placed:
                self._next = self._home
            self._placed = False
            epoch_end = (self._next // self.batches_per_epoch + 1) * self.batches_per_epoch
            if self.tiled:
                epoch_end = self._number(self._home // self.batches_per_epoch + 1, 0)
            end = epoch_end if self._count is None else self._next + self._count
            self._passes += 1
            return _Pass(self, self._passes, end if self._inputs.random else min(end, epoch_end))

    def _take(self, number_of_pass: int, end: int) -> dict[str, Any] | None:
        """The next batch of pass `number_of_pass` before number `end`; None where there is none."""
        self._check_process()
        with self._lock:
            if number_of_pass != self._passes:
                raise _core.UsageError("another `for` over this loader has begun since. Make a second Loader for a second pass at the same time")
            number, (index, every) = self._next, self._turn
            if number + index >= end:
                if number < end + every:  # else another thread's `for` is further on
                    self._next = end
                if self.tiled and self._source is not None:
                    self._source.close()  # no thread waits for a `for` that may never come
                return None
            source = self._source_at(number)
            self._source_next = None  # it is elsewhere if this does not end well
            made = source.next(self._inputs, current_stream() if self._on_gpu else 0)
            assert made is not None
            self._next = self._source_next = number + every
        return self._batch_of(*made)

    def _batch_of(self, image: Any, label: Any, meta: Any, views: Mapping[str, Any]) -> dict[str, Any]:
        batch: dict[str, Any] = {"image": self._convert(image)}
        if views:
            batch["views"] = {name: self._convert(view) for name, view in views.items()}
        if label is not None:
            batch["label"] = self._convert(label)
        batch["meta"] = BatchMeta(meta, self._facts, self.batch_size)
        return batch

    def _source_at(self, number: int) -> Source:
        """Batches from the one of this number on, counted from the beginning of epoch 0."""
        if self._closed:
            raise _core.UsageError("the loader is closed. Make another one")
        if self._source is not None and self._source_next == number:
            return self._source
        if self._source is not None:
            self._source.close()
        self._source = self._new_source(number)
        self._source_next = number
        if self._closed:  # by another thread, meanwhile
            self._source.close()
        return self._source

    def _new_source(self, number: int) -> Source:
        """What makes the batches from this one on."""
        index, every = self._turn
        first = divmod(number, self.batches_per_epoch)
        turn = ((number if self._inputs.random else first[1]) + index) % every
        return _core.BatchSource(self._inputs, self._labels, first, (self.rank, self.world_size), (turn, every))

    # The place in the run.

    def _number(self, epoch: int, batch: int) -> int:
        return epoch * self.batches_per_epoch + batch

    def seek(self, epoch: int, start: int = 0) -> None:
        """The next `for` begins with batch `start` of `epoch`."""
        number = self._number(natural("epoch", epoch), natural("start", start))
        self._check_start(start, self.batches_per_epoch)  # that one: there is no more
        self._next, self._placed = number, True
        if self.tiled:
            self._home = self._number(epoch, 0)

    def _run_facts(self) -> dict[str, Any]:
        """What decides which samples there are."""
        split = self.split if self.tiled else None
        return {"version": 1, "dataset_hash": self.dataset_hash, "seed": self.config["sampling"]["seed"], "split": split}

    def state_dict(self) -> dict[str, Any]:
        """The place of the next batch, in samples of the whole run: any number of processes goes on with the same samples."""
        epoch, batch = self.place
        return {**self._facts, "epoch": epoch, "sample": batch * self.batch_size}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """The next `for` goes on there. The size of batches may be another one if one begins at that sample.

        Errors: UsageError (a state of another dataset, seed or split).
        """
        for key, here in self._facts.items():
            if state.get(key) != here:
                raise _core.UsageError(f"the state's {key} is {state.get(key)!r}, and this loader's {here!r}: it goes on with other samples")
        missing = [key for key in ("epoch", "sample") if key not in state]
        if missing:
            raise _core.UsageError(f"the state has no '{missing[0]}': it is not that of a headrace.Loader")
        sample = natural("sample", state["sample"])
        batch, rest = divmod(sample, self.batch_size)
        if rest and sample < self._inputs.samples:
            raise _core.UsageError(f"the state is at sample {sample} of its epoch, where no batch of {self.batch_size} begins")
        self.seek(state["epoch"], batch + bool(rest))

    # Its end.

    def _check_process(self) -> None:
        if os.getpid() != self._made_in:
            raise _core.UsageError(
                f"the loader was made in process {self._made_in}, and this is {os.getpid()}, forked from it without the loader's "
                "threads. Make the loader after the fork"
            )

    def close(self) -> None:
        """Ends the threads. Batches that were given stay valid. May be called again, by any thread."""
        self._closed = True
        if self._source is not None:
            self._source.close()
        _open_loaders.discard(self)

    def __enter__(self) -> Loader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise _core.UsageError("a Loader can't be copied or sent to another process: make it there, as headrace.torch.dataset does")

    def __repr__(self) -> str:
        what = "training samples" if self._inputs.random else "tiles"
        return f"Loader({what} of '{self.split}': {self.batches_per_epoch} batches of {self.batch_size}, rank {self.rank} of {self.world_size})"


class _Pass(Iterator[dict[str, Any]]):
    """One `for` over a loader; may be shared by threads."""

    def __init__(self, loader: Loader, number: int, end: int) -> None:
        self._loader, self._number, self._end = loader, number, end
        self._done = False

    def __next__(self) -> dict[str, Any]:
        batch = None if self._done else self._loader._take(self._number, self._end)
        if batch is None:
            self._done = True
            raise StopIteration
        return batch


def _listed(given: Any) -> tuple[list[str], list[int], list[int], tuple[int, int, int] | None]:
    """A list of patches as the library takes it."""
    listed = read_patch_list(given)
    return list(listed.images), [int(x) for x in listed.x], [int(y) for y in listed.y], listed.size


def _checked_turn(turn: tuple[int, int]) -> tuple[int, int]:
    if not isinstance(turn, (tuple, list)) or len(turn) != 2:
        raise _core.UsageError(f"turn is {turn!r}: expected (i, n)")
    index, every = turn
    if not 0 <= natural("turn", index) < natural("turn", every):
        raise _core.UsageError(f"turn is {turn!r}: expected (i, n), i from 0 to n - 1")
    return index, every
