"""Which hosts this process may speak to."""
import os
from typing import Optional, Union

from . import _core
from ._plain import path_text


def allow_hosts(*hosts: str, ca_file: Optional[Union[str, "os.PathLike[str]"]] = None) -> None:
    """Allows connections to hosts, beside those of URLs that are given and those of a config's ``network.hosts``.

    Nothing is spoken to that is not named: a store's references.json may name a host, but that is not enough.

    :param hosts: such as ``"slides.site:8443"``; without a port the scheme's.
    :param ca_file: certificates of the authorities that are trusted (PEM), instead of the system's.
    :raises headrace.UsageError: a host that is none.

    For the whole process, from the next request on. Safe from any thread.
    """
    _core.allow_hosts(list(hosts), "" if ca_file is None else path_text(ca_file))


def use_s3(endpoint: str = "", *, region: str = "", addressing: str = "auto", anonymous: bool = False, profile: str = "") -> None:
    """Says how buckets of ``s3://`` are reached, and allows connections to the endpoint.

    Keys are those of the environment (``AWS_ACCESS_KEY_ID``, ``AWS_SECRET_ACCESS_KEY``, ``AWS_SESSION_TOKEN``) or of
    ``~/.aws/credentials``; they are never an argument, since arguments stand in notebooks and logs.

    :param endpoint: such as ``"https://s3.site:9000"``; without it ``AWS_ENDPOINT_URL`` or Amazon's of the region, whose host
        :func:`allow_hosts` has to name.
    :param region: else ``AWS_REGION``, or us-east-1.
    :param addressing: where the bucket's name stands in a URL: ``"path"``, ``"host"``, or ``"auto"``.
    :param anonymous: requests are not signed, for buckets that anybody may read.
    :param profile: whose keys are used.
    :raises headrace.UsageError: an endpoint that is none.

    For the whole process, for stores that are opened from now on; what was said before, also by a config, holds no more. Safe from
    any thread.
    """
    _core.use_s3(endpoint, region, addressing, anonymous, profile)


def use_cache(folder: Optional[Union[str, "os.PathLike[str]"]], *, size_gb: float = 100) -> None:
    """Keeps what is read from servers in a folder of this machine, so that it is read from there the next time.

    A file of the folder holds ranges of one object, each page with its checksum; damaged ones are read anew. Several processes may
    share a folder. :func:`verify` reads past it.

    :param folder: made where it is absent, best on a fast disk of this machine. It will hold pixels of patients. None: nothing is kept
        from now on.
    :param size_gb: what it may hold, of 1e9 bytes. Where it is full, files go that nobody used for ten minutes, then nothing more is
        kept.
    :raises headrace.UsageError: a size that is not from 0.001 to 1e6.
    :raises headrace.StorageError: the folder can't be made or written.

    For the whole process, for objects that are opened from now on. Safe from any thread.
    """
    _core.use_cache("" if folder is None else path_text(folder), float(size_gb))
