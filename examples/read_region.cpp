// Reads a region of a slide of a store and writes it as a binary PPM picture.
//   read_region STORE IMAGE LEVEL Y X HEIGHT WIDTH OUT.ppm
#include <headrace/headrace.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <vector>

int main(int argc, char** argv) try {
  if (argc != 9) {
    std::fprintf(stderr, "usage: read_region STORE IMAGE LEVEL Y X HEIGHT WIDTH OUT.ppm\n");
    return 2;
  }
  const auto cohort = headrace::cohort::Cohort::open(argv[1]);
  const std::size_t image = cohort->find_image(argv[2]);
  const std::int64_t y = std::atoll(argv[4]), x = std::atoll(argv[5]);
  const std::int64_t height = std::atoll(argv[6]), width = std::atoll(argv[7]);

  // The array is (channel, y, x). Strides, in elements, put the channels side by side; what lies outside the slide reads as white.
  std::vector<std::byte> pixels(static_cast<std::size_t>(3 * height * width));
  const auto level = cohort->image_array(image, static_cast<std::size_t>(std::atoll(argv[3])));
  level->read({{0, y, x}, {3, height, width}, pixels.data(), {1, 3 * width, 3}, {}});

  std::ofstream out(argv[8], std::ios::binary);
  out << "P6\n" << width << ' ' << height << "\n255\n";
  out.write(reinterpret_cast<const char*>(pixels.data()),
            static_cast<std::streamsize>(pixels.size()));
  if (!out.flush()) {
    std::fprintf(stderr, "read_region: %s can't be written\n", argv[8]);
    return 1;
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "read_region: %s\n", error.what());
  return 1;
}
