"""Batches in order, each asked of an actor by its number."""

from __future__ import annotations

import json
import time
from collections import Counter, deque
from collections.abc import Mapping
from typing import Any, NamedTuple

from . import _core
from ._ray_actor import Failure
from ._ray_library import exceptions, ray
from ._ray_pool import ActorError, ActorPool, Member, reason_of
from ._ray_wire import SentBatch, unpack

_ATTEMPTS = 4  # for a batch; each of another actor where there is one
_WAITS, _TIMES_LONGER, _LEAST_PATIENCE = 100, 4, 3.0  # so many times the longest of the last waits, at least so many seconds
_SLICE = 0.5  # seconds between two looks at the actors
_WORTH_ANOTHER_TRY = ("StorageError", "OutOfMemoryError")  # which another machine may not have; of wrong configs and data all have the same


class Ask(NamedTuple):
    """A batch that is asked of an actor."""

    ref: Any
    member: Member


class BatchRequests:
    """The batches from number `first` on, counted from epoch 0, up to `end` where there is one. A loader's source.

    Number n is asked of one actor, which knows by how much further on the next one lies that it will be asked for, and makes that
    one ahead. At most `outstanding` batches for each actor are asked for and not taken yet. When actors come, go or end, all that
    is not asked for yet is dealt anew, and what only an ended one was asked for is asked of others.

    One thread at a time calls it; `close`: any.
    """

    def __init__(self, pool: ActorPool, first: int, end: int | None, per_epoch: int, outstanding: int, patience: float, as_torch: bool) -> None:
        self._pool, self._outstanding, self._patience, self._as_torch = pool, outstanding, patience, as_torch
        self._front = self._next = self._dealt_from = first
        self._end, self._per_epoch = end, per_epoch
        self._asks: dict[int, list[Ask]] = {}
        self._tries: Counter[int] = Counter()
        self._order: list[Member] = []
        self._changes = -1
        self._closed = False
        self._counts = {"batches": 0, "samples": 0, "bytes_received": 0, "asked_again": 0}
        self._wait_s, self._began = 0.0, time.monotonic()
        self._waits: deque[float] = deque(maxlen=_WAITS)
        self._go_on()

    def next(self, inputs: _core.RunInputs, stream: int) -> tuple[Any, Any, Any, Mapping[str, Any]] | None:
        """(image, label or None, meta, views by name); None at the end. Errors: those of the batch, as on one machine; ActorError."""
        if self._end is not None and self._front >= self._end:
            return None
        asked = time.monotonic()
        sent = self._front_batch()
        self._waits.append(time.monotonic() - asked)
        self._wait_s += self._waits[-1]
        del self._asks[self._front]
        self._tries.pop(self._front, None)
        self._front += 1
        self._go_on()
        self._counts["batches"] += 1
        self._counts["samples"] += len(sent.meta.samples)
        self._counts["bytes_received"] += sent.nbytes
        return unpack(sent, self._as_torch)

    def stats(self) -> str:
        times = {"data_wait_s": self._wait_s, "wall_s": time.monotonic() - self._began}
        return json.dumps({**self._counts, **times, "actors": len(self._pool.living)})

    def close(self) -> None:
        self._closed = True

    # Asking.

    def _go_on(self) -> None:
        """Asks for what may be asked for by now."""
        self._pool.refresh()
        if self._changes != self._pool.changes:
            self._changes, self._order, self._dealt_from = self._pool.changes, list(self._pool.living), self._next
        if not self._order:
            return
        for number, asks in self._asks.items():
            if not asks:
                self._ask(number, self._tries[number] + number)
        while self._next < self._front + self._outstanding * len(self._order) and (self._end is None or self._next < self._end):
            self._asks[self._next] = []
            self._ask(self._next, self._next - self._dealt_from)
            self._next += 1
        # Those that are made are brought to this machine from now on, not only when their turn comes.
        refs = [ask.ref for asks in self._asks.values() for ask in asks]
        ray.wait(refs, num_returns=len(refs), timeout=0)

    def _ask(self, number: int, turn: int) -> None:
        member = self._order[turn % len(self._order)]
        self._asks[number].append(Ask(member.handle.make.remote(number, len(self._order)), member))

    # Taking.

    def _front_batch(self) -> SentBatch:
        since, changes = time.monotonic(), self._changes
        while True:
            if self._closed:
                raise _core.UsageError("the loader is closed. Make another one")
            asks = self._asks.get(self._front, [])
            if not asks:
                self._pool.gather(_SLICE)
            elif ready := ray.wait([ask.ref for ask in asks], timeout=_SLICE)[0]:
                sent = self._answer(next(ask for ask in asks if ask.ref == ready[0]))
                if sent is not None:
                    return sent
            elif time.monotonic() - since > self._longest_wait() and len(self._order) > 1:
                self._do_without(asks[-1].member)
                since = time.monotonic()
            self._go_on()
            if changes != self._changes:
                since, changes = time.monotonic(), self._changes

    def _longest_wait(self) -> float:
        """Seconds after which an actor is taken to be gone. Ray knows that of a machine after 10 s and more; to ask two costs little."""
        return min(self._patience, max(_LEAST_PATIENCE, _TIMES_LONGER * max(self._waits, default=self._patience)))

    def _answer(self, ask: Ask) -> SentBatch | None:
        """None: it is to be asked for again. Errors: those that another actor would have, too."""
        try:
            answer = ray.get(ask.ref)
        except exceptions.RayTaskError:
            raise  # a bug, with its traceback
        except exceptions.RayActorError as error:
            self._ended(ask.member, error)
            return None
        except exceptions.RayError as error:  # it was lost on its way
            self._again(ask, ActorError(f"{self._name()} was asked for {_ATTEMPTS} times and got lost on its way: {reason_of(error)}"))
            return None
        if isinstance(answer, Failure):
            if answer.kind not in _WORTH_ANOTHER_TRY:
                raise answer.error() from None
            self._again(ask, answer.error())
            return None
        assert isinstance(answer, SentBatch)
        return answer

    def _again(self, ask: Ask, error: _core.Error) -> None:
        """The front batch is to be asked for again. Errors: `error`, when that has been done too often."""
        self._asks[self._front].remove(ask)
        self._tries[self._front] += 1
        self._counts["asked_again"] += 1
        if self._tries[self._front] >= _ATTEMPTS:
            raise error from None

    def _ended(self, member: Member, error: Exception) -> None:
        """An actor has ended: what it alone was asked for is to be asked for again. Which batch it ended over is not known: all count."""
        self._pool.lost(member, error)
        for number, asks in self._asks.items():
            left = [ask for ask in asks if ask.member is not member]
            if len(left) < len(asks):
                self._asks[number] = left
                self._tries[number] += 1
                self._counts["asked_again"] += 1
        if self._tries[self._front] >= _ATTEMPTS:
            raise ActorError(f"{_ATTEMPTS} loader actors, one after the other, ended over {self._name()}: {reason_of(error)}") from None

    def _do_without(self, member: Member) -> None:
        """An actor does not answer: what it alone was asked for is asked of others, too, and the first answer counts."""
        self._pool.leave_out(member)
        self._go_on()
        for number, asks in self._asks.items():
            if all(ask.member is member for ask in asks) and self._order:
                self._counts["asked_again"] += 1
                self._ask(number, number)

    def _name(self) -> str:
        epoch, batch = divmod(self._front, self._per_epoch)
        return f"batch {batch} of epoch {epoch}"
