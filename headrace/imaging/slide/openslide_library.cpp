#include "headrace/imaging/slide/openslide_library.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/core/folder_walk.hpp"
#include "headrace/core/log.hpp"

namespace headrace::imaging {
namespace {

template <typename F>
bool find(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(::dlsym(library, name));
  return function != nullptr;
}

bool load(const std::string& path, OpenSlideLibrary& functions) {
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return false;
  auto& f = functions;
  f.path = path;
  const bool complete =
      find(library, "openslide_get_version", f.get_version) &&
      find(library, "openslide_detect_vendor", f.detect_vendor) &&
      find(library, "openslide_open", f.open) && find(library, "openslide_close", f.close) &&
      find(library, "openslide_get_error", f.get_error) &&
      find(library, "openslide_get_level_count", f.get_level_count) &&
      find(library, "openslide_get_level_dimensions", f.get_level_dimensions) &&
      find(library, "openslide_get_level_downsample", f.get_level_downsample) &&
      find(library, "openslide_read_region", f.read_region) &&
      find(library, "openslide_get_property_value", f.get_property_value) &&
      find(library, "openslide_get_property_names", f.get_property_names) &&
      find(library, "openslide_get_associated_image_names", f.get_image_names) &&
      find(library, "openslide_get_associated_image_dimensions", f.get_image_dimensions) &&
      find(library, "openslide_read_associated_image", f.read_image);
  if (!complete) {
    ::dlclose(library);
    return false;
  }
  find(library, "openslide_get_icc_profile_size", f.get_icc_profile_size);
  find(library, "openslide_read_icc_profile", f.read_icc_profile);
  find(library, "openslide_get_associated_image_icc_profile_size", f.get_image_icc_size);
  find(library, "openslide_read_associated_image_icc_profile", f.read_image_icc);
  log::debug("OpenSlide {} from {}", f.get_version(), path);
  return true;
}

/// The wheel's library in <venv>/lib/python3.*/site-packages, if it is there.
std::vector<std::string> wheel_libraries() {
  std::vector<std::string> found;
  std::error_code ignored;
  for (const auto& entry : list_folder_if_there(std::string(HR_VENV) + "/lib")) {
    if (entry.path().filename().string().rfind("python3", 0) != 0) continue;
    const auto library = entry.path() / "site-packages/openslide_bin/libopenslide.so.1";
    if (std::filesystem::exists(library, ignored)) found.push_back(library.string());
  }
  return found;
}

struct Suggestion {
  std::mutex mutex;
  std::string path;
};

Suggestion& suggestion() {
  static Suggestion one;
  return one;
}

struct Loaded {
  OpenSlideLibrary functions;
  bool ok = false;
  std::string refused;
};

Loaded load_first() {
  Loaded loaded;
  if (const char* named = std::getenv("HEADRACE_OPENSLIDE"); named != nullptr && *named != '\0') {
    loaded.ok = load(named, loaded.functions);
    if (!loaded.ok) {
      const char* why = ::dlerror();
      loaded.refused = fmt::format("HEADRACE_OPENSLIDE names {}, which cannot be loaded: {}", named,
                                   why != nullptr ? why : "it is not OpenSlide 3.4 or later");
    }
    return loaded;
  }
  auto candidates = wheel_libraries();
  {
    const std::lock_guard lock(suggestion().mutex);
    if (!suggestion().path.empty()) candidates.insert(candidates.begin(), suggestion().path);
  }
  candidates.insert(candidates.end(), {"libopenslide.so.1", "libopenslide.so.0"});
  for (const auto& candidate : candidates) {
    if (load(candidate, loaded.functions)) {
      loaded.ok = true;
      break;
    }
  }
  return loaded;
}

}  // namespace

const OpenSlideLibrary* openslide_library() {
  static const Loaded loaded = load_first();
  if (!loaded.refused.empty()) fail(ErrorCode::usage, "{}", loaded.refused);
  return loaded.ok ? &loaded.functions : nullptr;
}

void suggest_openslide(const std::string& path) {
  const std::lock_guard lock(suggestion().mutex);
  suggestion().path = path;
}

}  // namespace headrace::imaging
