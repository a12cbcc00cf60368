#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace headrace::imaging {

struct OpenSlideHandle;  // openslide_t of the library

/// The functions of OpenSlide in use, found in the shared library at run time (prototypes of
/// openslide.h 4.0; 3.4.1 has all but the ICC functions, which are then null). The last group tells
/// what may name a patient: private_facts.hpp alone calls it.
struct OpenSlideLibrary {
  std::string path;  ///< the loaded file
  const char* (*get_version)() = nullptr;
  const char* (*detect_vendor)(const char* filename) = nullptr;
  OpenSlideHandle* (*open)(const char* filename) = nullptr;
  void (*close)(OpenSlideHandle*) = nullptr;
  const char* (*get_error)(OpenSlideHandle*) = nullptr;
  std::int32_t (*get_level_count)(OpenSlideHandle*) = nullptr;
  void (*get_level_dimensions)(OpenSlideHandle*, std::int32_t level, std::int64_t* w,
                               std::int64_t* h) = nullptr;
  double (*get_level_downsample)(OpenSlideHandle*, std::int32_t level) = nullptr;
  void (*read_region)(OpenSlideHandle*, std::uint32_t* dest, std::int64_t x, std::int64_t y,
                      std::int32_t level, std::int64_t w, std::int64_t h) = nullptr;
  const char* (*get_property_value)(OpenSlideHandle*, const char* name) = nullptr;
  std::int64_t (*get_icc_profile_size)(OpenSlideHandle*) = nullptr;
  void (*read_icc_profile)(OpenSlideHandle*, void* dest) = nullptr;

  const char* const* (*get_property_names)(OpenSlideHandle*) = nullptr;
  const char* const* (*get_image_names)(OpenSlideHandle*) = nullptr;
  void (*get_image_dimensions)(OpenSlideHandle*, const char* name, std::int64_t* w,
                               std::int64_t* h) = nullptr;
  void (*read_image)(OpenSlideHandle*, const char* name, std::uint32_t* dest) = nullptr;
  std::int64_t (*get_image_icc_size)(OpenSlideHandle*, const char* name) = nullptr;
  void (*read_image_icc)(OpenSlideHandle*, const char* name, void* dest) = nullptr;
};

/// The library, loaded at the first call: the file that HEADRACE_OPENSLIDE names, else the one that
/// suggest_openslide named, else the openslide-bin wheel of the build's virtual environment (it reads DICOM slides), else the
/// system's libopenslide. Null when there is none. Errors: usage (HEADRACE_OPENSLIDE is set and
/// can't be loaded).
const OpenSlideLibrary* openslide_library();

/// Names a file to try, for programs that know where one is (a Python package beside them). For the
/// whole process, before the first call of openslide_library; later it changes nothing. Safe from
/// any thread.
void suggest_openslide(const std::string& path);

}  // namespace headrace::imaging
