#pragma once
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "headrace/core/enum_names.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/threads.hpp"

namespace headrace::ingest {

/// How inputs that can't be ingested are treated: they end the run before anything is stored, and
/// all are named; or they are left out and listed.
enum class OnError { stop, skip };

}  // namespace headrace::ingest

namespace headrace {
template <>
inline constexpr auto kNamesOf<ingest::OnError> =
    names<ingest::OnError>({{ingest::OnError::stop, "stop"}, {ingest::OnError::skip, "skip"}});
}  // namespace headrace

namespace headrace::ingest {

/// An input that can't be ingested, and why.
struct BadInput {
  std::string input;  ///< the file, with the table's line in front where there is one
  ErrorCode code = ErrorCode::malformed;
  std::string reason;  ///< the error's whole text
};

/// Whether an error means that a source is bad, not that the run can't go on: a full or failing
/// disk (io), a missing device and our own bugs would also affect the next input.
bool is_of_source(ErrorCode code) noexcept;

/// Collects bad inputs. Safe from any thread; its results depend on neither threads nor time.
class BadInputs {
 public:
  explicit BadInputs(OnError on_error) : on_error_(on_error) {}

  /// Whether a bad input ends the run.
  bool stops() const noexcept { return on_error_ == OnError::stop; }

  /// Runs body. An Error of the source is kept under `input`, and false is returned; other errors
  /// pass through. Nothing is written while an input is examined, so an io error there belongs to
  /// the source.
  bool look(const std::string& input, const std::function<void()>& body);
  /// Adds the findings of another collector.
  void add(BadInput bad);

  /// With OnError::stop, or where no input is `good`: throws one error that names each bad input (a
  /// single error unchanged). Else reports each bad input as left out.
  void check(std::size_t good) const;
  /// Runs body. If it fails after bad inputs were kept, OnError::stop throws an error about these
  /// instead: the failure of the whole run may follow from them.
  template <typename Body>
  decltype(auto) first(const Body& body) const {
    try {
      return body();
    } catch (const Error&) {
      if (on_error_ == OnError::stop) check(0);
      throw;
    }
  }
  /// Sorted by input.
  std::vector<BadInput> sorted() const;

 private:
  OnError on_error_;
  mutable std::mutex mutex_;
  std::vector<BadInput> bad_;
};

/// Removes the cases without a probe from `cases`, and returns the probes of the others, in
/// their order.
template <typename Case, typename Look>
std::vector<Look> keep_good(std::vector<Case>& cases, std::vector<std::optional<Look>>& looks) {
  std::vector<Case> good;
  std::vector<Look> kept;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (!looks[i]) continue;
    good.push_back(std::move(cases[i]));
    kept.push_back(std::move(*looks[i]));
  }
  cases = std::move(good);
  return kept;
}

}  // namespace headrace::ingest
