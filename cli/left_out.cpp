#include "cli/left_out.hpp"

#include <fmt/format.h>

namespace headrace::cli {

void print_left_out(const std::vector<ingest::BadInput>& left_out) {
  if (left_out.empty()) return;
  fmt::print("{} {} left out:\n", left_out.size(),
             left_out.size() == 1 ? "input was" : "inputs were");
  for (const auto& bad : left_out) fmt::print("  {}\n", bad.reason);
}

}  // namespace headrace::cli
