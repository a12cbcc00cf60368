#pragma once
#include <string>

namespace headrace::device {

/// A library that is looked for when the program runs, since most machines do not have it: NVIDIA's
/// decoders, cuFile, the driver. Never a link dependency. Stays loaded; safe from any thread once
/// it is constructed.
class SharedLibrary {
 public:
  /// Looks at the file that the environment variable `variable` names (and nowhere else if it is
  /// set), else for `file` where the system looks for libraries. `variable` may be null.
  SharedLibrary(const char* variable, const char* file);

  /// Empty when the library is there with all functions asked for; else why not, in one sentence.
  const std::string& missing() const noexcept { return missing_; }
  bool there() const noexcept { return missing_.empty(); }

  /// Sets `function` to the one of this name; if there is no such name, the function is null and
  /// the library counts as missing.
  template <typename F>
  void find(const char* name, F& function) {
    function = reinterpret_cast<F>(address_of(name));
  }

 private:
  void* address_of(const char* name);

  std::string file_, missing_;
  void* handle_ = nullptr;
};

}  // namespace headrace::device
