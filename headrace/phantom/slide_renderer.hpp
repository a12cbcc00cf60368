#pragma once
#include <cstdint>
#include <vector>

#include "headrace/phantom/scanner_look.hpp"
#include "headrace/phantom/slide_anatomy.hpp"

namespace headrace::phantom {

/// Renders any region of one slide, as pixels or as labels: the same values for any choice of
/// region. Safe from any thread.
class SlideRenderer {
 public:
  SlideRenderer(const SlideSpec& spec, const ScannerLook& look);

  /// RGB, rows `stride` bytes apart.
  void render(std::int64_t y0, std::int64_t x0, std::int64_t height, std::int64_t width,
              std::uint8_t* dst, std::int64_t stride) const;
  /// Classes 0 to 5, exactly those of the pixels that render() draws.
  void render_labels(std::int64_t y0, std::int64_t x0, std::int64_t height, std::int64_t width,
                     std::uint8_t* dst, std::int64_t stride) const;

 private:
  SlideAnatomy anatomy_;
  ScannerLook look_;
  std::vector<std::uint16_t> transmission_;  // 65535 · 10^-od, by od · 1024
  std::vector<std::int16_t> sensor_noise_;   // by byte, 64ths of a grey value
};

}  // namespace headrace::phantom
