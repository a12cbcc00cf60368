// A disk that fails while DICOM is read, header or pixels, is no damaged file, and none of the next file's.
#include <gmock/gmock.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <vector>

#include "headrace/core/posix.hpp"
#include "headrace/imaging/dicom/dcmtk_file.hpp"
#include "headrace/imaging/dicom/frame_decoder.hpp"
#include "tests/core/error_of.hpp"
#include "tests/imaging/sample_files.hpp"

namespace headrace::imaging {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

int reads = 0, bad_read = 0;

class DicomFaults : public ::testing::Test {
 protected:
  ~DicomFaults() override { posix::calls() = real_; }

  /// One read fails, counted from 0.
  void fail_at(int number) {
    reads = 0;
    bad_read = number;
    posix::calls().pread = [](int fd, void* dst, std::size_t count, off_t offset) -> ssize_t {
      if (reads++ == bad_read) return errno = EIO, -1;
      return ::pread(fd, dst, count, offset);
    };
  }
  void good_again() { posix::calls() = real_; }

  posix::Calls real_ = posix::calls();
};

void decode(const std::string& path) {
  FrameDecoder decoder(path);
  std::vector<std::int32_t> pixels(static_cast<std::size_t>(decoder.rows() * decoder.columns()));
  for (int frame = 0; frame < decoder.frames(); ++frame) decoder.decode(frame, pixels.data());
}

/// As the reader of structure sets does: every point of every contour.
void read_points(const std::string& path) {
  const auto file = load_dicom(path, true);
  DcmItem& data = *file->getDataset();
  for (long roi = 0; roi < items_of(data, DCM_ROIContourSequence); ++roi) {
    DcmItem& contours = *item_of(data, DCM_ROIContourSequence, roi);
    for (long i = 0; i < items_of(contours, DCM_ContourSequence); ++i) {
      DcmItem& contour = *item_of(contours, DCM_ContourSequence, i);
      const auto count = number_of(contour, DCM_NumberOfContourPoints);
      ASSERT_TRUE(count);
      ASSERT_TRUE(numbers_of(contour, DCM_ContourData, 3 * static_cast<unsigned long>(*count)));
    }
  }
}

TEST_F(DicomFaults, AreTheDisksInHeaderPixelsAndPoints) {
  std::vector<std::pair<std::string, void (*)(const std::string&)>> cases{
      {sample("ct/liver-3slice/01.dcm"), decode}, {sample("ct/sts-008/RS.dcm"), read_points}};
  for (const auto& entry : std::filesystem::directory_iterator(sample("ct/transfer-syntaxes")))
    if (entry.path().extension() == ".dcm") cases.emplace_back(entry.path().string(), decode);
  ASSERT_GE(cases.size(), 4U);
  for (const auto& [path, read] : cases) {
    fail_at(-1);
    try {
      read(path);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported) << error.what();
      continue;  // a transfer syntax that is not read
    }
    const int needed = reads;
    ASSERT_GT(needed, 0) << path;
    for (int number = 0; number < needed; number += std::max(1, (needed - 1) / 12)) {
      fail_at(number);
      const std::string text = error_of(ErrorCode::io, [&] { read(path); });
      good_again();
      EXPECT_THAT(text, AllOf(HasSubstr(path), HasSubstr("Input/output error")))
          << number << " of " << needed;
    }
  }
}

TEST_F(DicomFaults, AreForgottenWhenTheNextFileIsOpened) {
  const TempFolder folder;
  const std::string good = sample("ct/liver-3slice/01.dcm");
  const std::string cut = folder.write("cut.dcm", file_text(good).substr(0, 300));
  fail_at(0);
  error_of(ErrorCode::io, [&] { decode(good); });
  good_again();
  EXPECT_THAT(error_of(ErrorCode::corrupt, [&] { decode(cut); }), HasSubstr("cut.dcm"));
}

}  // namespace
}  // namespace headrace::imaging
