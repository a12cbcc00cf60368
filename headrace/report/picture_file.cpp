#include "headrace/report/picture_file.hpp"

#include "headrace/imaging/image_file.hpp"

namespace headrace::report {

std::string picture_file(const pixels::Image8& image) {
  const auto bytes = imaging::encode_png(image);
  return {bytes.begin(), bytes.end()};
}

}  // namespace headrace::report
