#include "headrace/ingest/inputs/bad_inputs.hpp"

#include <algorithm>
#include <tuple>

#include "headrace/core/foreign_error.hpp"
#include "headrace/core/log.hpp"
#include "headrace/core/option_name.hpp"

namespace headrace::ingest {

bool is_of_source(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::usage:
    case ErrorCode::not_found:
    case ErrorCode::malformed:
    case ErrorCode::unsupported:
    case ErrorCode::corrupt:
    case ErrorCode::memory:
      return true;
    case ErrorCode::io:
    case ErrorCode::device:
    case ErrorCode::cancelled:
    case ErrorCode::diverged:
    case ErrorCode::internal:
      break;
  }
  return false;
}

bool BadInputs::look(const std::string& input, const std::function<void()>& body) {
  try {
    body();
    return true;
  } catch (const Error& error) {
    if (!is_of_source(error.code()) && error.code() != ErrorCode::io) throw;
    add({input, error.code(), error.what()});
    return false;
  } catch (const std::exception& error) {
    const auto known = error_from(error);
    if (!known) throw;
    add({input, known->code(), known->what()});
    return false;
  }
}

void BadInputs::add(BadInput bad) {
  const std::lock_guard lock(mutex_);
  bad_.push_back(std::move(bad));
}

std::vector<BadInput> BadInputs::sorted() const {
  const std::lock_guard lock(mutex_);
  auto bad = bad_;
  std::sort(bad.begin(), bad.end(), [](const BadInput& a, const BadInput& b) {
    return std::tie(a.input, a.reason) < std::tie(b.input, b.reason);
  });
  return bad;
}

void BadInputs::check(std::size_t good) const {
  const auto bad = sorted();
  if (bad.empty()) return;
  if (on_error_ == OnError::skip && good > 0) {
    for (const BadInput& one : bad) log::warning("left out: {}", one.reason);
    return;
  }
  if (bad.size() == 1) throw Error(bad[0].code, bad[0].reason);
  std::string list;
  for (const BadInput& one : bad) list += "\n  " + one.reason;
  // Damage as soon as one file is damaged, and not a usage error as soon as one is at fault.
  const auto damaged = std::find_if(bad.begin(), bad.end(),
                                    [](const auto& b) { return b.code == ErrorCode::corrupt; });
  const auto other =
      damaged != bad.end() ? damaged : std::find_if(bad.begin(), bad.end(), [](const auto& b) {
        return b.code != ErrorCode::usage;
      });
  fail(other == bad.end() ? ErrorCode::usage : other->code,
       "{} of {} inputs can't be ingested; correct them or leave them out{}:{}", bad.size(),
       bad.size() + good,
       good > 0 ? fmt::format(", or go on without them by {} skip", Option{"on_error"}) : "", list);
}

}  // namespace headrace::ingest
