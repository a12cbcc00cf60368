#pragma once
#include <cstdint>
#include <string>
#include <utility>

#include "headrace/imaging/slide/slide_reader.hpp"

namespace headrace::imaging {

/// A slide of one level; pixels outside the picture are white. Its maker states `info_`.
class OneLevelSlide : public SlideReader {
 public:
  const SlideInfo& info() const override { return info_; }
  void read(int level, std::int64_t y0, std::int64_t x0, std::int64_t height, std::int64_t width,
            std::uint8_t* dst, std::int64_t stride) const override;

 protected:
  explicit OneLevelSlide(std::string path) : path_(std::move(path)) {}
  virtual void read_inside(std::int64_t y0, std::int64_t x0, std::int64_t height,
                           std::int64_t width, std::uint8_t* dst, std::int64_t stride) const = 0;

  std::string path_;
  SlideInfo info_;
};

}  // namespace headrace::imaging
