#include "headrace/imaging/slide/private_facts.hpp"

#include <algorithm>

#include "headrace/core/error.hpp"
#include "headrace/imaging/slide/openslide_library.hpp"
#include "headrace/imaging/slide/transparent_outside.hpp"

namespace headrace::imaging {
namespace {

constexpr std::int64_t kMaxPixels = std::int64_t{1} << 28;
constexpr std::int64_t kMaxIccBytes = 16 << 20;

class OpenSlideFacts : public PrivateFacts {
 public:
  OpenSlideFacts(const OpenSlideLibrary& library, std::string path)
      : library_(library), path_(std::move(path)) {
    const Handle handle = open_handle();
    for (auto name = library_.get_property_names(handle.get()); *name != nullptr; ++name) {
      const char* value = library_.get_property_value(handle.get(), *name);
      properties_.emplace_back(*name, value != nullptr ? value : "");
    }
    for (auto name = library_.get_image_names(handle.get()); *name != nullptr; ++name)
      images_.emplace_back(*name);
  }

  const Properties& properties() const override { return properties_; }
  const std::vector<std::string>& images() const override { return images_; }

  Image read(const std::string& image) const override {
    if (std::find(images_.begin(), images_.end(), image) == images_.end())
      fail(ErrorCode::usage, "{}: has no associated image {}", path_, image);
    const Handle handle = open_handle();  // a damaged image must not close the others' handle
    Image made;
    library_.get_image_dimensions(handle.get(), image.c_str(), &made.width, &made.height);
    check(handle, image);
    if (made.width < 1 || made.height < 1 || made.width > kMaxPixels / made.height) {
      fail(ErrorCode::memory, "{}: associated image {} has {}x{} pixels; at most {} are read",
           path_, image, made.width, made.height, kMaxPixels);
    }
    made.rgba.resize(static_cast<std::size_t>(made.width * made.height * 4));
    library_.read_image(handle.get(), image.c_str(),
                        reinterpret_cast<std::uint32_t*>(made.rgba.data()));
    check(handle, image);
    argb_to_rgba(made.rgba.data(), made.width * made.height);
    if (library_.get_image_icc_size == nullptr || library_.read_image_icc == nullptr) return made;
    const std::int64_t bytes = library_.get_image_icc_size(handle.get(), image.c_str());
    if (bytes > 0 && bytes <= kMaxIccBytes) {
      made.icc_profile.resize(static_cast<std::size_t>(bytes));
      library_.read_image_icc(handle.get(), image.c_str(), made.icc_profile.data());
    }
    return made;
  }

 private:
  using Handle = std::shared_ptr<OpenSlideHandle>;

  Handle open_handle() const {
    OpenSlideHandle* raw = library_.open(path_.c_str());
    if (raw == nullptr) fail(ErrorCode::malformed, "{}: OpenSlide does not know this file", path_);
    Handle handle(raw, library_.close);
    if (const char* why = library_.get_error(raw))
      fail(ErrorCode::malformed, "{}: OpenSlide cannot open it: {}", path_, why);
    return handle;
  }

  void check(const Handle& handle, const std::string& image) const {
    if (const char* why = library_.get_error(handle.get())) {
      fail(ErrorCode::corrupt, "{}: associated image {} cannot be read: {}", path_, image, why);
    }
  }

  const OpenSlideLibrary& library_;
  std::string path_;
  Properties properties_;
  std::vector<std::string> images_;
};

}  // namespace

std::unique_ptr<PrivateFacts> PrivateFacts::open(const std::string& path) {
  const OpenSlideLibrary* library = openslide_library();
  if (library == nullptr) {
    fail(ErrorCode::unsupported,
         "{}: properties and associated images of slides need OpenSlide, which was not found; "
         "install libopenslide or pip's openslide-bin",
         path);
  }
  return std::make_unique<OpenSlideFacts>(*library, path);
}

}  // namespace headrace::imaging
