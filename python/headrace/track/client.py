"""HTTP to one host and port and no other: no proxy of the environment, no redirect, certificates checked, every call bounded in time and size."""

from __future__ import annotations

import base64
import http.client
import json
import os
import signal
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Optional, Union
from urllib.parse import quote, urlencode, urlsplit

from .._core import UsageError

CALL_S = 10  # for a whole call, whatever the server does; more where much is sent
ANSWER_BYTES = 8 << 20


class Unavailable(Exception):
    """The server can't be reached, is slow, fails or answers nonsense: the same call may succeed later."""


class Lost(Unavailable):
    """What was taken before may be lost, too."""


class Refused(Exception):
    """The server understood and said no."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


class Client:
    """Not for several threads."""

    def __init__(self, url: str, ca_file: str = "") -> None:
        """Errors: UsageError (the CA file can't be read, or the password of the environment is none)."""
        parts = urlsplit(url)
        self.url, self._host, self._path = url, parts.hostname or "", parts.path.rstrip("/")
        self._port = parts.port or (443 if parts.scheme == "https" else 80)
        self._tls = certificates(ca_file) if parts.scheme == "https" else None
        self._connection: Optional[http.client.HTTPConnection] = None
        self._authorization = _authorization()

    def call(self, method: str, path: str, body: Union[Mapping[str, Any], bytes, None] = None, query: Optional[Mapping[str, str]] = None) -> Any:
        """The answer's JSON. Errors: Unavailable, Refused."""
        target = self._path + quote(path) + (f"?{urlencode(query)}" if query else "")
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        headers = {"Accept": "application/json", **self._authorization}
        if data is not None:
            headers["Content-Type"] = "application/octet-stream" if isinstance(body, bytes) else "application/json"
        try:
            with bounded(CALL_S + len(data or b"") / 1e6):
                status, location, answer = self._exchange(method, target, data, headers)
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.close()
            raise Unavailable(f"{self.url}: {self._said(str(error) or type(error).__name__)}") from None
        return self._read(status, location, answer)

    def _exchange(self, method: str, target: str, data: Optional[bytes], headers: Mapping[str, str]) -> tuple[int, str, bytes]:
        if self._connection is None:
            self._connection = (http.client.HTTPSConnection(self._host, self._port, timeout=CALL_S, context=self._tls) if self._tls
                                else http.client.HTTPConnection(self._host, self._port, timeout=CALL_S))
        self._connection.request(method, target, data, dict(headers))
        response = self._connection.getresponse()
        answer = response.read(ANSWER_BYTES + 1)
        if len(answer) > ANSWER_BYTES:
            raise ValueError(f"an answer of more than {ANSWER_BYTES >> 20} MiB")
        return response.status, response.getheader("Location") or "", answer

    def _read(self, status: int, location: str, answer: bytes) -> Any:
        if 300 <= status < 400:
            self.close()
            raise Unavailable(f"{self.url}: answers {status}, a redirect to {self._said(_host(location)) or 'elsewhere'}, which is not followed: "
                              "only the host that is named is connected to")
        try:
            value = json.loads(answer) if answer.strip() else {}
        except (ValueError, RecursionError):  # no JSON, or so deep that none can read it
            value = None
        if status in (401, 403):
            raise Unavailable(f"{self.url}: answers {status}: not allowed. Set MLFLOW_TRACKING_TOKEN, or MLFLOW_TRACKING_USERNAME and "
                              "MLFLOW_TRACKING_PASSWORD, where headrace runs")
        if 400 <= status < 500 and status not in (404, 408, 429) and isinstance(value, dict) and "error_code" in value:
            raise Refused(f"{self.url}: {self._said(value['error_code'])}: {self._said(value.get('message'))}", str(value["error_code"]))
        if status == 404 and isinstance(value, dict) and value.get("error_code") == "RESOURCE_DOES_NOT_EXIST":
            raise Refused(f"{self.url}: {self._said(value.get('message'))}", "RESOURCE_DOES_NOT_EXIST")
        if status != 200 or not isinstance(value, dict):
            raise Unavailable(f"{self.url}: answers {status} and not what an MLflow server does")
        return value

    def _said(self, words: Any) -> str:
        """What a server said, for a log that is kept: printable, and without the password that it may say back."""
        text = "".join(one if one.isprintable() else " " for one in str(words))
        for secret in {self._authorization.get("Authorization", "").partition(" ")[2], *(os.environ.get(name, "").strip() for name in _SECRETS)}:
            text = text.replace(secret, "…") if secret else text
        return text[:500]

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def certificates(ca_file: str) -> ssl.SSLContext:
    """What trusts those of a file, or else the system's. Errors: UsageError."""
    try:
        return ssl.create_default_context(cafile=ca_file or None)
    except (OSError, ssl.SSLError) as error:
        raise UsageError(f"ca_file {ca_file}: is no file of CA certificates in PEM ({error}).") from error


_SECRETS = ("MLFLOW_TRACKING_TOKEN", "MLFLOW_TRACKING_PASSWORD")


def _host(location: str) -> str:
    try:
        return urlsplit(location).netloc.rpartition("@")[2]
    except ValueError:
        return ""


def _authorization() -> dict[str, str]:
    """Errors: UsageError, which does not say the token: one from a file often ends in a line feed, and the HTTP package would print it."""
    token = os.environ.get("MLFLOW_TRACKING_TOKEN", "").strip()
    if token:
        if not token.isascii() or not token.isprintable():
            raise UsageError("MLFLOW_TRACKING_TOKEN holds characters that no token has: it must be one line of ASCII.")
        return {"Authorization": f"Bearer {token}"}
    name = os.environ.get("MLFLOW_TRACKING_USERNAME")
    if not name:
        return {}
    pair = f"{name}:{os.environ.get('MLFLOW_TRACKING_PASSWORD', '')}"
    return {"Authorization": "Basic " + base64.b64encode(pair.encode()).decode()}


@contextmanager
def bounded(seconds: float) -> Iterator[None]:
    """Ends what is inside after so many seconds, also where each single read is in time; and again a second later what tried on in spite of that."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def late(_signal: int, _frame: Any) -> None:
        raise TimeoutError(f"no answer within {seconds:g} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
