// Disks that fail while an image is read: every format says so, as an error of the disk and not of the file.
#include <gmock/gmock.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <vector>

#include "headrace/core/posix.hpp"
#include "headrace/imaging/picture/image_file.hpp"
#include "headrace/imaging/slide/slide_reader.hpp"
#include "headrace/imaging/tiff/encoded_tiles.hpp"
#include "headrace/imaging/tiff/tiff_picture.hpp"
#include "headrace/imaging/volume/volume_reader.hpp"
#include "headrace/storage/open_store.hpp"
#include "tests/core/error_of.hpp"
#include "tests/imaging/sample_files.hpp"

namespace headrace::imaging {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

int reads = 0, good_reads = 0, bad_reads = 0;

/// The disk fails after some reads; the real calls are put back at the end.
class ReadFaults : public ::testing::Test {
 protected:
  ~ReadFaults() override { posix::calls() = real_; }

  /// `bad`: how many fail; the disk is good again after them.
  void fail_after(int good, int bad = 1 << 30) {
    reads = 0;
    good_reads = good;
    bad_reads = bad;
    posix::calls().pread = [](int fd, void* dst, std::size_t count, off_t offset) -> ssize_t {
      const int number = reads++ - good_reads;
      if (number >= 0 && number < bad_reads) return errno = EIO, -1;
      return ::pread(fd, dst, count, offset);
    };
  }

  void good_again() { posix::calls() = real_; }

  posix::Calls real_ = posix::calls();
};

struct Case {
  std::string file;
  std::function<void(const std::string& path)> read;
};

TEST_F(ReadFaults, EveryFormatSaysThatTheDiskFailed) {
  const auto slices = [](const std::string& path) {
    const auto volume = open_volume(path);
    std::vector<double> slice(static_cast<std::size_t>(volume->info().grid.slice_voxels()));
    for (std::int64_t z = 0; z < volume->info().grid.shape_zyx[0]; ++z)
      volume->read_slice(z, slice.data());
  };
  const auto tiff = [](const std::string& path) {
    const auto picture = open_tiff_picture(storage::open_input(path));
    const auto& info = picture->info();
    std::vector<std::uint8_t> pixels(static_cast<std::size_t>(info.height * info.width * 3));
    picture->read_rgb(0, 0, info.height, info.width, pixels.data(), info.width * 3);
  };
  const std::vector<Case> cases{
      {"nuclei/images/dsb_00ae65c1c663.png", [](const std::string& path) { read_rgb(path); }},
      {"nuclei/images/dsb_00ae65c1c663.png", [](const std::string& path) { read_labels(path); }},
      {"odd/tiff/imagetiff-tiled-jpeg-ycbcr.tif", tiff},
      {"odd/tiff/imagetiff-tiled-rect-rgb-u8.tif", tiff},
      {"slides/derived/cmu-lzw-pred-256.tif", tiff},
      {"slides/derived/cmu-aperio-style-4level.svs", tiff},
      {"ct/sarcoma/sts-002.nii.gz", slices},
  };
  for (const Case& c : cases) {
    const std::string path = sample(c.file);
    fail_after(1 << 30);
    c.read(path);
    const int needed = reads;
    ASSERT_GT(needed, 0) << c.file;
    // The first, the last, and some between them: for good, and once.
    for (int good = 0; good < needed; good += std::max(1, (needed - 1) / 12)) {
      for (const int bad : {1 << 30, 1}) {
        fail_after(good, bad);
        const std::string text = error_of(ErrorCode::io, [&] { c.read(path); });
        good_again();
        EXPECT_THAT(text, AllOf(HasSubstr(path), HasSubstr("Input/output error")))
            << c.file << " after " << good << " of " << needed << ", " << bad << " fail";
      }
    }
  }
}

TEST_F(ReadFaults, ATileOfASlideToo) {
  const std::string path = sample("slides/CMU-1-Small-Region.svs");
  const auto slide = SlideReader::open(path);
  const EncodedTiles* tiles = slide->encoded_tiles();
  ASSERT_NE(tiles, nullptr);
  fail_after(0);
  const std::string text = error_of(ErrorCode::io, [&] { tiles->tile(0, 0, 0); });
  good_again();
  EXPECT_THAT(text, HasSubstr("Input/output error"));
  EXPECT_FALSE(tiles->tile(0, 0, 0).empty());
}

}  // namespace
}  // namespace headrace::imaging
