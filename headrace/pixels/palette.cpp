#include "headrace/pixels/palette.hpp"

#include <fmt/format.h>

namespace headrace::pixels {
namespace {

constexpr std::array<Rgb, 9> kColours{{{148, 158, 170},
                                       {22, 150, 110},
                                       {226, 178, 34},
                                       {240, 130, 40},
                                       {214, 56, 74},
                                       {122, 54, 160},
                                       {38, 112, 200},
                                       {14, 170, 190},
                                       {190, 80, 150}}};

}  // namespace

Rgb class_colour(std::size_t class_index) noexcept {
  if (class_index == 0) return kColours[0];
  return kColours[1 + (class_index - 1) % (kColours.size() - 1)];
}

std::string css(Rgb colour) {
  return fmt::format("#{:02x}{:02x}{:02x}", colour[0], colour[1], colour[2]);
}

}  // namespace headrace::pixels
