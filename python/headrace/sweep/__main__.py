"""`headrace sweep`: options in, exit code out."""

from __future__ import annotations

import sys
from pathlib import Path

from .. import _command, _core
from ._definition import read_definition
from ._folder import Folder, check_same_sweep
from ._leases import usable_cores, usable_gpus
from ._results import Results
from ._runner import check_trains
from ._schedule import Sweep
from ._tracking import send_to_trackers

FOOTER = """SWEEP.yaml:
  config: run.yaml                                  # or the run config itself
  search:                                           # config keys; numbers are places in lists
    train.lr: {log: [0.0001, 0.01]}                 # also float, int, int_log: [lowest, highest]
    model.widths: [[16, 32], [32, 64]]              # a list: one of these
    transforms.0.affine.scale.1: {float: [1.0, 1.5], step: 0.1}
  method: tpe                                       # or random, grid
  trials: 16
  figure: mean_dice                                 # a path in eval.json
  prune: {method: median, after: 2}                 # or hyperband; after: validations
  processes_at_once: 2
  threads_per_trial: 4

Every trial is a run folder, DIR/trials/NNNN/run. The same command again goes on where a sweep was
stopped or killed, and ends with the same trials and the same best as one that was not.
SIGINT and SIGTERM let every training write a checkpoint first.

Examples:
  headrace sweep sweep.yaml --out sweeps/a
  headrace sweep sweep.yaml --out sweeps/a --jobs 1 --json
  headrace sweep sweep.yaml --out sweeps/a --retry

Exit codes: 0 done, 1 every trial failed, or stopped, 2 usage (SWEEP.yaml, another sweep in DIR)."""


def _main() -> int:
    parser = _command.Parser("sweep", "Trains many runs to find the best settings: grid, random or TPE, with pruning.", FOOTER)
    parser.add_argument("sweep", metavar="SWEEP.yaml", help="what is searched over, by which method, for which figure")
    parser.add_argument("--out", metavar="DIR", required=True, help="folder of the sweep, made or gone on with")
    parser.add_argument("--jobs", metavar="N", type=int, help="trials at once, at most [default: processes_at_once]; changes no result")
    parser.add_argument("--retry", action="store_true", help="run the trials that failed again")
    parser.add_argument("--json", action="store_true", help="print one JSON object, the one of DIR/sweep.json")
    options = parser.parse()
    if options.jobs is not None and options.jobs < 1:
        raise _core.UsageError(f"--jobs {options.jobs}: expected a number from 1 on.")
    program = _command.program()
    check_trains(program)

    folder = Folder(options.out)
    stored = folder.stored()
    gpus = usable_gpus()
    definition = read_definition(options.sweep, len(usable_cores()), len(gpus), stored["definition"] if stored else None)
    optuna = _command.needed("optuna", "sweep", "sklearn")  # which Optuna takes at the end, for the importance of parameters
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    folder.hold()
    stored = folder.stored()  # again: only now no other process changes it
    if stored:
        check_same_sweep(stored, definition, optuna.__version__, folder.path)
    jobs = options.jobs or definition.at_once
    if definition.looks_back() and jobs > definition.at_once:
        _command.say(f"--jobs {jobs}: {definition.at_once} at once, by processes_at_once, which decides what a trial knows", warning=True)
        jobs = definition.at_once
    sweep = Sweep(definition, folder, optuna, [program, *(["--isa", options.isa] if options.isa else [])], jobs)
    results = Results(sweep)
    results.save()
    if sweep.trials:
        _command.say(f"goes on with {sum(trial.ended() for trial in sweep.trials)} of {definition.trials} trials done")
    if options.retry:
        sweep.try_failed_again()
    if not sweep.run(results.save):
        print(f"headrace: stopped with {sum(trial.ended() for trial in sweep.trials)} of {definition.trials} trials done; the same command goes on.",
              file=sys.stderr)
        return 1
    results.finish()
    send_to_trackers(program, definition, folder.path)
    if options.json:
        sys.stdout.write((folder.path / "sweep.json").read_text())
    else:
        print(results.table())
        print(f"report {Path(options.out) / 'sweep.html'}")
    if all(trial.state == "failed" for trial in sweep.trials):
        print(f"headrace: all {len(sweep.trials)} trials failed; the first: {sweep.trials[0].why}", file=sys.stderr)
        return 1
    return 0


def main() -> int:
    return _command.run(_main)


if __name__ == "__main__":
    sys.exit(main())
