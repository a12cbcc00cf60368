#pragma once
#include <functional>
#include <string>
#include <vector>

#include "learn/ranks/process_group.hpp"

namespace headrace::fixtures {

/// A start of its own each time.
std::string new_start();

/// Runs `body` in `size` threads of one group; what each threw, by rank: "" for nothing. As in
/// train(), an error goes to the others; it is followed by " (said)" where this rank reports it.
std::vector<std::string> in_threads(int size,
                                    const std::function<void(ranks::ProcessGroup&)>& body);

/// The same in forked processes; `killed` gives the signal by which a process ends, and the text of
/// such a process is "signal N". For a process without other threads.
std::vector<std::string> in_processes(int size,
                                      const std::function<void(ranks::ProcessGroup&)>& body);

/// Names of what teams left in /dev/shm.
std::vector<std::string> left_behind();

}  // namespace headrace::fixtures
