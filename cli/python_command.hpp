#pragma once

namespace headrace::cli {

/// Replaces this program by Python, which runs `headrace.COMMAND` of the package with the words of
/// the command line after (and options before) `command`. It is Python because what such a command
/// drives is (Optuna, the trackers' clients). The process stays the same one, so signals and the
/// exit code are the command's. The package finds this program by the variable HEADRACE.
///
/// Which Python: HEADRACE_PYTHON, which the wheel's script sets to its own; else that of the build,
/// then an active virtual environment's, then python3. Which package: of a build the one in its
/// folder `python`, of a wheel the one that this Python has.
/// errors  unsupported (no package, or no Python)
[[noreturn]] void run_with_python(const char* command);

}  // namespace headrace::cli
