#include "learn/ranks/rank_info.hpp"

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"

namespace headrace::ranks {
namespace {

std::optional<int> whole_number(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return std::nullopt;
  const std::string_view value(text);
  int number = 0;
  const auto parsed = std::from_chars(value.data(), value.data() + value.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != value.data() + value.size() || number < 0) {
    fail(ErrorCode::usage,
         "{} is '{}', no whole number from 0 on. The launcher sets it; unset it to train in one "
         "process.",
         name, value);
  }
  return number;
}

}  // namespace

RankInfo RankInfo::from_environment() {
  const auto rank = whole_number("RANK"), size = whole_number("WORLD_SIZE");
  if (!rank && !size) return {};
  if (!rank || !size) {
    fail(ErrorCode::usage,
         "{} is set, but {} is not. Set both, as torchrun does, or neither; headrace train "
         "{} N starts N processes itself.",
         rank ? "RANK" : "WORLD_SIZE", rank ? "WORLD_SIZE" : "RANK", Option{"processes"});
  }
  if (*size < 1 || *size > kMaxProcesses || *rank >= *size) {
    fail(ErrorCode::usage,
         "RANK {} of WORLD_SIZE {}: ranks count from 0, and {} processes at most.", *rank, *size,
         kMaxProcesses);
  }
  // Without a statement about machines there is one, and each rank is also the local one.
  const int local_size = whole_number("LOCAL_WORLD_SIZE").value_or(*size);
  const int local_rank = whole_number("LOCAL_RANK").value_or(*rank);
  if (local_size != *size || local_rank != *rank) {
    fail(ErrorCode::unsupported,
         "{} of {} processes are on this machine (RANK {}, LOCAL_RANK {}): training over several "
         "machines is not there yet. Start all of them on one.",
         local_size, *size, *rank, local_rank);
  }
  RankInfo rank_info{*rank, *size, ""};
  for (const char* name : {kStartVariable, "MASTER_PORT", "SLURM_JOB_ID", "SLURM_STEP_ID",
                           "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT"}) {
    const char* value = std::getenv(name);
    rank_info.start += fmt::format("{}={}\n", name, value == nullptr ? "" : value);
  }
  return rank_info;
}

}  // namespace headrace::ranks
