#pragma once
#include <string>

namespace headrace::cli {

/// For the user, replaces this process by `count` others: starts `program` with `arguments` (of
/// main, null at the end) that many times, each with RANK, WORLD_SIZE, LOCAL_RANK and
/// LOCAL_WORLD_SIZE, waits for all, and returns the exit code: 0, or that of the first that failed.
///
/// SIGINT and SIGTERM, to this process or to the group, become one stop_request_signal to each; a
/// second one kills them. If one fails, those that do not notice it themselves get SIGTERM. If this
/// process is killed, the others get SIGTERM. For a process without other threads.
/// `asked`: set to whether there was such a signal, even one that came too late to stop anything.
/// errors  io (no process can be started), cancelled (killed: names the process and the signal)
int run_processes(int count, const std::string& program, char* const* arguments,
                  bool* asked = nullptr);

/// Whether run_processes started this process.
bool started_here() noexcept;

/// The signal that asks a process started by run_processes to stop; its value is the signal that
/// the user sent. It may come in addition to that one.
int stop_request_signal() noexcept;

}  // namespace headrace::cli
