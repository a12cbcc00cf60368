#pragma once
#include <fmt/format.h>

#include <exception>
#include <string>
#include <utility>

namespace headrace {

enum class ErrorCode {
  usage,        ///< the caller asked for something that does not exist or does not fit
  not_found,    ///< a file, key or image is not there
  malformed,    ///< input does not follow its format
  unsupported,  ///< valid input that this build or version does not handle
  corrupt,      ///< stored data fails its check
  io,           ///< the operating system refused a read or write
  memory,       ///< an allocation failed or a stated bound would be exceeded
  device,       ///< CUDA or a GPU library
  cancelled,    ///< stopped on request
  diverged,     ///< the training loss is no longer finite
  internal      ///< a bug in Headrace
};

/// The one exception type. The text states what is wrong, where, what was found against what was
/// expected, and what to do.
class Error : public std::exception {
 public:
  Error(ErrorCode code, std::string text) : code_(code), text_(std::move(text)) {}

  /// Prepends where it happened, as the error goes up the calls: "image case-17, level 2: …".
  Error& at(const std::string& context);

  ErrorCode code() const noexcept { return code_; }
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  ErrorCode code_;
  std::string text_;
};

/// Throws Error with a formatted text.
template <typename... Args>
[[noreturn]] void fail(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(code, fmt::format(format, std::forward<Args>(args)...));
}

/// Process exit code of an error: 2 for usage, 4 for corrupt, 1 for everything else.
int exit_code(ErrorCode code) noexcept;

/// Runs `body`; an Error that leaves it gets `context` in front.
template <typename Body>
decltype(auto) with_context(const std::string& context, Body&& body) {
  try {
    return std::forward<Body>(body)();
  } catch (Error& error) {
    error.at(context);
    throw;
  }
}

}  // namespace headrace
