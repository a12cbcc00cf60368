"""`headrace track`: options in, exit code out."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from .. import _command, _core
from .._core import MalformedError, UsageError
from .follow import Follower
from .group import holds_run, runs_in
from .group_results import has_results, send_results
from .target import FIELDS, KINDS, Target

FOOTER = f"""RUN is the folder of a run that trains, has ended or was killed, or one of folds or of a sweep, whose runs are grouped. Every
figure is there once, however often the command runs or is killed: RUN/tracking keeps what was sent. Without --to, what the
run's tracking: and earlier calls name gets what is missing.

Only the host and port of --url are connected to; without it, nothing is. Sent are figures by class, the config's numbers,
and hashes. Never: ids of images and cases, names and paths of files. Cohorts, scanners and phases are numbered, unless
--fields has {', '.join(FIELDS)}. Passwords come from the environment: MLFLOW_TRACKING_USERNAME and
MLFLOW_TRACKING_PASSWORD, MLFLOW_TRACKING_TOKEN, WANDB_API_KEY.

Examples:
  headrace track runs/a --to mlflow --url http://127.0.0.1:5000 --experiment liver
  headrace track runs/a --to tensorboard                     # RUN/tracking/tensorboard
  headrace track runs/a runs/b --to wandb --folder wandb-runs --experiment liver
  headrace track runs/a                                      # sends what is missing
  headrace track runs/a --follow --to mlflow --url https://mlflow.example.org --ca-file site.pem

Exit codes: 0 all was sent, 1 failed or sent in part, 2 usage."""


def _parser() -> _command.Parser:
    parser = _command.Parser("track", "Brings runs to MLflow, Weights & Biases or TensorBoard, also while they train.", FOOTER)
    parser.add_argument("runs", metavar="RUN", nargs="+", type=Path)
    parser.add_argument("--to", choices=KINDS)
    parser.add_argument("--url", default="", help="of the server: mlflow; wandb where it shall not be offline")
    parser.add_argument("--folder", default="", help="for the files of tensorboard and of wandb offline (default: RUN/tracking)")
    parser.add_argument("--experiment", "--project", default="headrace", help="what the tracker puts the runs under (default: headrace)")
    parser.add_argument("--name", default="", help="of its files in RUN/tracking, where a run goes to two of one kind (default: as --to)")
    parser.add_argument("--fields", metavar="NAMES", default="", help="what may be sent by name, with commas: " + ", ".join(FIELDS))
    parser.add_argument("--pictures", action="store_true", help="send the report's pictures, which are pixels of patients")
    parser.add_argument("--ca-file", default="", help="certificates (PEM) to trust in place of the system's")
    parser.add_argument("--wait", type=int, default=60, metavar="SECONDS", help="how long to go on with a server that fails (default: 60)")
    parser.add_argument("--config", type=Path, help="take tracking: of this run config")
    parser.add_argument("--follow", action="store_true", help="go on until the training has ended")
    parser.add_argument("--entry", help=argparse.SUPPRESS)
    return parser


def _targets(options: Any, run: Path) -> list[Target]:
    """Where a run goes: by the options, else by --config, else where it went before and what its own config names."""
    if options.to:
        entry = {key: getattr(options, key) for key in ("to", "url", "folder", "experiment", "name", "ca_file", "pictures")}
        fields = [one.strip() for one in options.fields.split(",") if one.strip()]
        return [Target.read({**entry, "fields": fields, "wait_s": options.wait}, "headrace track")]
    if options.config is not None:
        config = json.loads(_core.load_run_config(str(options.config)))
        found = [Target.read(entry, str(options.config)) for entry in config.get("tracking") or []]
        if not found:
            raise UsageError(f"{options.config}: has no tracking:. Name a tracker there, or by --to.")
        return found
    return _known(run)


def _read(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except ValueError as error:
        raise MalformedError(f"{path}: is not JSON ({error}).") from error
    if not isinstance(value, dict):
        raise MalformedError(f"{path}: is not a JSON object.")
    return value


def _known(run: Path) -> list[Target]:
    found: dict[str, Target] = {}
    config = run / "config.json"
    entries = [(config, entry) for entry in _read(config).get("tracking") or []]
    entries += [(state, _read(state).get("target") or {}) for state in sorted(run.glob("tracking/*.json"))]
    for path, entry in entries:
        target = Target.read(entry, str(path))
        found[target.file_name] = target
    if not found:
        raise UsageError(f"{run}: was sent nowhere yet and has no tracking: in its config. Name a tracker: --to {', '.join(KINDS)}.")
    return list(found.values())


def _main() -> int:
    options = _parser().parse()
    if options.entry is not None:
        os.nice(19)
        (run,) = options.runs
        target = Target.read(json.loads(options.entry))
        return 0 if (send_results(run, target) if has_results(run) else Follower(run, target, parent=0).run()) else 1
    if not options.to and (options.url or options.folder):
        raise UsageError(f"--url and --folder belong to --to: {', '.join(KINDS)}.")
    by_folder = {folder: [(run, target) for run in runs_in(folder) for target in _targets(options, run)] for folder in options.runs}
    every = [pair for pairs in by_folder.values() for pair in pairs]
    if options.follow and len(every) > 1:
        raise UsageError(f"--follow is for one run and one tracker, and here are {len(every)}. Start one headrace track for each, or state "
                         "tracking: in the run config.")
    sent = [Follower(run, target, follow=options.follow).run() for run, target in every]
    for folder, pairs in by_folder.items():
        if not holds_run(folder):
            sent += [send_results(folder, target) for target in {target.file_name: target for _, target in pairs}.values()]
    return 0 if all(sent) else 1


def main() -> int:
    return _command.run(_main)


if __name__ == "__main__":
    sys.exit(main())
