#pragma once
#include <cstdlib>
#include <iostream>
#include <set>
#include <string>

namespace headrace::fixtures {

/// Whether long matrices run whole: HEADRACE_TEST_ALL=1, as `make test-all` sets it.
inline bool whole_matrices() {
  const char* value = std::getenv("HEADRACE_TEST_ALL");
  return value != nullptr && std::string(value) != "" && std::string(value) != "0";
}

/// Which of `count` cases of a matrix run, from 0: all of them, or by default `few` (at least three) that lie evenly from the first to the last. Says
/// how many are left out.
inline std::set<int> cases_to_run(const std::string& matrix, int count, int few) {
  std::set<int> chosen;
  if (whole_matrices() || few < 3 || count <= few) {
    for (int i = 0; i < count; ++i) chosen.insert(i);
    return chosen;
  }
  for (int i = 0; i < few; ++i) chosen.insert(i * (count - 1) / (few - 1));
  std::cout << count - few << " cases of " << matrix << " left out; make test-all runs them\n";
  return chosen;
}

}  // namespace headrace::fixtures
