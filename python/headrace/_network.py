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
