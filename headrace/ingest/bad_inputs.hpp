#pragma once
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/core/threads.hpp"

namespace headrace::ingest {

/// What becomes of inputs that can't be ingested: they end the run, all of them named, before
/// anything is stored; or they are left out and listed.
enum class OnError { stop, skip };

/// "stop" or "skip". Errors: usage (names --on-error).
OnError parse_on_error(const std::string& text);

/// An input that can't be ingested, and why.
struct BadInput {
  std::string input;  ///< the file, with the table's line in front where there is one
  ErrorCode code = ErrorCode::malformed;
  std::string reason;  ///< the error's whole text
};

/// Whether an error says that a source is bad, not that the run can't go on: a full or failing disk
/// (io), a missing device and our own faults would be the next input's as well.
bool is_of_source(ErrorCode code) noexcept;

/// Collects bad inputs. Safe from any thread; what it gives depends on neither threads nor time.
class BadInputs {
 public:
  explicit BadInputs(OnError on_error) : on_error_(on_error) {}

  /// Runs body. An Error of the source is kept under `input`, and false returned; others pass.
  /// While an input is looked at, nothing is written, so that there an io error is the source's.
  bool look(const std::string& input, const std::function<void()>& body);
  /// Keeps what another one found.
  void add(BadInput bad);

  /// With OnError::stop, or where no input is `good`: one error that names each bad one (as it is,
  /// where there is but one). Else says of each that it is left out.
  void check(std::size_t good) const;
  /// Runs body. Where it fails after bad inputs were kept, with OnError::stop these are the error:
  /// what is wrong with the run as a whole may follow from them.
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

/// Takes out of `cases` those without a look, and gives the looks of the others, in their order.
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
