#include "learn/report/picture_file.hpp"

#include <vector>

#include "headrace/imaging/picture/image_file.hpp"
#include "headrace/pixels/jpeg/jpeg_encoder.hpp"

namespace headrace::report {

std::string picture_file(const pixels::Image8& image) {
  const auto bytes = imaging::encode_png(image);
  return {bytes.begin(), bytes.end()};
}

std::string photo_file(const pixels::Image8& image) {
  constexpr int kQuality = 88;
  std::vector<std::byte> bytes;
  pixels::encode_jpeg(reinterpret_cast<const std::byte*>(image.pixels.data()), image.width * 3,
                      {image.height, image.width, 3}, kQuality, pixels::JpegSubsampling::s444,
                      "a picture", bytes);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace headrace::report
