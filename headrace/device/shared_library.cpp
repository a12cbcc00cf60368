#include "headrace/device/shared_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>

namespace headrace::device {

SharedLibrary::SharedLibrary(const char* variable, const char* file) : file_(file) {
  const char* chosen = variable == nullptr ? nullptr : std::getenv(variable);
  if (chosen != nullptr && *chosen != '\0') file_ = chosen;
  handle_ = dlopen(file_.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ != nullptr) return;
  const char* text = dlerror();
  missing_ = fmt::format("{} cannot be loaded ({})", file_, text == nullptr ? "no reason" : text);
  if (variable != nullptr) missing_ += fmt::format("; {} may name the file", variable);
}

void* SharedLibrary::address_of(const char* name) {
  if (handle_ == nullptr) return nullptr;
  void* address = dlsym(handle_, name);
  if (address == nullptr && missing_.empty()) {
    missing_ = fmt::format("{} is another version: it has no {}", file_, name);
  }
  return address;
}

}  // namespace headrace::device
