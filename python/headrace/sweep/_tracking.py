"""Brings a sweep's table to the trackers of its run config, whose followers bring the trials."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from .. import _command
from ._definition import Definition, checked


def send_to_trackers(program: str, definition: Definition, folder: Path) -> None:
    """Starts a process for each MLflow server, which goes on after the sweep has ended; what it says is in FOLDER/tracking/NAME.log."""
    for entry in checked(definition.config, "config").get("tracking") or []:
        if entry["to"] != "mlflow":
            continue
        log = folder / "tracking" / f"{entry['name'] or entry['to']}.log"
        try:
            log.parent.mkdir(exist_ok=True)
            with open(log, "ab") as said:
                subprocess.Popen([program, "track", str(folder), "--entry", json.dumps(entry)], stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                                 start_new_session=True)
        except OSError as error:  # the sweep is done, whatever its tracker does
            _command.say(f"the table is not sent ({error}); headrace track {folder} sends it", warning=True)
