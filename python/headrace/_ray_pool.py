"""The actors of a loader: which of them work, and new ones for those that ended."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ._core import Error
from ._ray_actor import Failure, LoaderActor, Opened
from ._ray_library import exceptions, ray
from ._ray_spec import LoaderSpec
from ._ray_store import check_store

_ATTEMPTS = 4  # of an actor that ends before it has opened its store
_SAY_AFTER = 10.0  # seconds without any actor
_FOR_OTHERS = 5.0  # seconds that the first actor waits for the others
_log = logging.getLogger("headrace")


class ActorError(Error):
    """Ray gave no actors, or they ended again and again."""


@dataclass(frozen=True)
class ActorOptions:
    """What each actor takes of the cluster."""

    cpus: float
    """Cores, and threads of its loader (at least one)."""
    resources: Mapping[str, float]
    """Further ones by name, by which nodes are chosen."""
    outstanding: int
    """Batches that are asked of it at once."""
    wait: float
    """Seconds without any actor after which that is an error."""


@dataclass(eq=False)
class Member:
    """An actor."""

    handle: Any
    greeting: Any
    """Its answer to `open`; None: it is there, and works."""
    node: str = ""
    """Address of its machine; "": not known yet."""
    pid: int = 0
    deaths: int = 0
    """Of those before it in this place, since one has opened its store."""


class ActorPool:
    """Actors of one spec. For one thread.

    Actors that end are made anew wherever the cluster has room: now, or when a machine has joined. What they make does not depend
    on which of them makes it.
    """

    def __init__(self, spec: LoaderSpec, actors: int, options: ActorOptions, batch_bytes: int) -> None:
        self._options, self._batch_bytes = options, batch_bytes
        self._spec = ray.put(spec)
        self._class = ray.remote(LoaderActor)
        self._members: list[Member] = []
        self._alone_since, self._said, self._worked = time.monotonic(), False, False
        self.living: list[Member] = []
        """Those that work."""
        self.changes = 0
        """How often `living` has changed."""
        self.resize(actors)

    def __len__(self) -> int:
        return len(self._members)

    def resize(self, actors: int) -> None:
        """Another number of them. Those that leave finish what they were asked for, if anybody still waits for it."""
        while len(self._members) < actors:
            self._members.append(self._new_member())
        kept, gone = self._members[:actors], self._members[actors:]
        self._members = kept
        self._set_living([member for member in self.living if member not in gone])

    def refresh(self, seconds: float = 0) -> None:
        """Takes in the actors that have opened their stores; waits so long for one.

        Errors: those of opening, while no actor has worked; ActorError.
        """
        waiting = {member.greeting: member for member in self._members if member.greeting is not None}
        if waiting and ray.wait(list(waiting), timeout=seconds)[0]:
            for greeting in ray.wait(list(waiting), num_returns=len(waiting), timeout=0)[0]:
                self._greeted(waiting[greeting])
        if not self.living:
            self._check_patience()

    def gather(self, seconds: float) -> None:
        """The same, and at the beginning waits a little for the others, so that batches are not dealt anew for each of them."""
        first = not self._worked
        self.refresh(seconds)
        end = time.monotonic() + _FOR_OTHERS
        while first and self.living and len(self.living) < len(self._members) and time.monotonic() < end:
            self.refresh(seconds)

    def lost(self, member: Member, error: Exception) -> None:
        """One has ended: another takes its place."""
        if member not in self._members:
            return
        _log.warning("a loader actor on %s ended (%s): another takes its place", member.node or "a node of Ray", reason_of(error))
        self._members[self._members.index(member)] = self._new_member(member.deaths + 1)
        self._set_living([other for other in self.living if other is not member])

    def leave_out(self, member: Member) -> None:
        """One does not answer: it is asked again when it does."""
        if member in self.living:
            _log.warning("the loader actor on %s does not answer: its batches are asked of others", member.node)
            member.greeting = member.handle.open.remote()
            self._set_living([other for other in self.living if other is not member])

    def close(self) -> None:
        """Ends all of them. May be called again."""
        members, self._members = self._members, []
        self._set_living([])
        for member in members if ray.is_initialized() else []:
            ray.kill(member.handle)

    def _new_member(self, deaths: int = 0) -> Member:
        options = self._options
        handle = self._class.options(
            num_cpus=options.cpus,
            resources=dict(options.resources),
            max_restarts=0,
            max_task_retries=0,
            scheduling_strategy="SPREAD",  # also keeps them out of the placement group of a caller
        ).remote(self._spec, max(1, int(options.cpus)))
        return Member(handle, handle.open.remote(), deaths=deaths)

    def _greeted(self, member: Member) -> None:
        try:
            answer = ray.get(member.greeting)
        except exceptions.RayTaskError:
            raise
        except exceptions.RayError as error:
            if member.deaths + 1 >= _ATTEMPTS:
                raise ActorError(f"{_ATTEMPTS} loader actors, one after the other, ended before they had opened their store: {reason_of(error)}") from None
            self.lost(member, error)
            return
        if isinstance(answer, Failure):
            self._not_opened(member, answer)
            return
        assert isinstance(answer, Opened)
        member.greeting, member.node, member.pid, member.deaths = None, answer.node, answer.pid, 0
        here = 1 + sum(other.node == answer.node for other in self.living)
        check_store(answer.node_id, "a node's actors", here * self._options.outstanding, self._batch_bytes)
        self._worked = True
        self._set_living([other for other in self._members if other.greeting is None])

    def _not_opened(self, member: Member, failure: Failure) -> None:
        """The first actors must all open the store; later, one on a machine that can't is left out."""
        if not self._worked or not self.living:
            member.greeting = member.handle.open.remote()  # for who tries again
            raise failure.error() from None
        _log.warning("a loader actor is left out: %s", failure.error())
        self._members.remove(member)

    def _set_living(self, living: list[Member]) -> None:
        if living != self.living:
            self.living, self.changes = living, self.changes + 1
        if living:
            self._alone_since, self._said = time.monotonic(), False

    def _check_patience(self) -> None:
        alone = time.monotonic() - self._alone_since
        asked = f"{len(self._members)} of {self._options.cpus:g} CPUs" + "".join(f", {name} {n:g}" for name, n in self._options.resources.items())
        if alone > self._options.wait:
            free = {name: round(n, 2) for name, n in ray.available_resources().items() if name == "CPU" or name in self._options.resources}
            raise ActorError(f"no loader actor works since {alone:.0f} s: {asked} are asked for, and free in the cluster are {free or 'none'}")
        if alone > _SAY_AFTER and not self._said:
            self._said = True
            _log.warning("no loader actor works yet: %s are asked for", asked)


def reason_of(error: Exception) -> str:
    """The line of one of Ray's errors that says why."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return next((line for line in lines if line.startswith(("The actor is dead because", "The node", "ModuleNotFoundError"))), lines[0] if lines else type(error).__name__)
