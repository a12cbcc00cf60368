"""What the program's commands in Python share: options, the program itself, one sentence for an error, exit codes."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import shlex
import shutil
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import NoReturn

from . import _core

EXTRAS = {"optuna": "optuna>=5.0,<5.1", "sklearn": "scikit-learn>=1.4", "wandb": "wandb>=0.31,<0.32"}  # as pyproject.toml, by module
_quiet = False


class Parser(argparse.ArgumentParser):
    """The options of `headrace COMMAND`, with --quiet, --isa and --help as every command has them. A mistake raises UsageError."""

    def __init__(self, command: str, description: str, footer: str) -> None:
        super().__init__(prog=f"headrace {command}", description=description, epilog=footer, allow_abbrev=False,
                         formatter_class=argparse.RawDescriptionHelpFormatter)
        self.add_argument("--quiet", action="store_true", help="log warnings and errors only")
        self.add_argument("--isa", metavar="LEVEL", help="of the programs that are started: run kernels at this level of the CPU")

    def parse(self, words: Sequence[str] | None = None) -> argparse.Namespace:
        """The options, of `sys.argv` where no words are given. Errors: UsageError."""
        global _quiet
        options = self.parse_args(words)
        _quiet = options.quiet
        return options

    def error(self, message: str) -> NoReturn:
        raise _core.UsageError(f"{message[:1].upper()}{message[1:]}. See {self.prog} --help.")


def say(line: str, *, warning: bool = False) -> None:
    """One line of log on standard error, as the program's own: nothing with --quiet but warnings."""
    if warning or not _quiet:
        print(f"{'W' if warning else 'I'} {line}", file=sys.stderr, flush=True)


def program() -> str:
    """The path of the program `headrace`: what called this command, else the one beside the package, else that of PATH. Errors: NotFoundError."""
    named = os.environ.get("HEADRACE")
    if named:
        return named
    package = Path(__file__).parent
    beside = (package.parent.parent / "headrace", package.parent / "headrace_program" / "headrace")  # of a build, of a wheel
    found = next((str(path) for path in beside if path.is_file()), None) or shutil.which("headrace")
    if not found:
        raise _core.NotFoundError("The program headrace is not there: neither beside this package nor on PATH. Name it by the variable HEADRACE.")
    return found


def needed(module: str, command: str, *also: str) -> ModuleType:
    """A package that not every Python has; those of `also` must be there, too, and are not loaded. Errors: UnsupportedError, with the command that
    installs all that is missing."""
    missing = [name for name in also if importlib.util.find_spec(name) is None]
    why = f"no module named '{missing[0]}'" if missing else ""
    try:
        found = importlib.import_module(module)
    except ImportError as error:
        missing, why = [module, *missing], str(error)
    if missing:
        asked = " ".join(shlex.quote(EXTRAS.get(name, name)) for name in missing)
        raise _core.UnsupportedError(f"headrace {command} needs the package {missing[0]}, which {sys.executable} lacks ({why}): "
                                     f"{shlex.quote(sys.executable)} -m pip install {asked}")
    return found


def run(main: Callable[[], int]) -> int:
    """The exit code of a command: its own, else 2 for UsageError, 4 for CorruptError, 1 for what else fails, with one sentence on standard error.
    SIGINT ends the process by that signal, as it would any program."""
    try:
        return main()
    except _core.Error as error:
        print(f"headrace: {error}", file=sys.stderr)
        return 2 if isinstance(error, _core.UsageError) else 4 if isinstance(error, _core.CorruptError) else 1
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
        return 130
    except BrokenPipeError:  # whoever read the results went away
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        print(f"headrace: {error.filename or 'the system'}: {error.strerror or error}.", file=sys.stderr)
        return 1
