#include "headrace/core/crc32c.hpp"

#include <numeric>

#include "headrace/zarr/crc32c_pieces.hpp"
#include "tests/zarr/zarr_test_data.hpp"

namespace headrace::zarr {
namespace {

// RFC 3720, appendix B.4.
TEST(Crc32c, PublishedVectors) {
  std::vector<std::byte> zeros(32), ones(32, std::byte{0xff}), up(32), down(32);
  for (int i = 0; i < 32; ++i) {
    up[static_cast<std::size_t>(i)] = static_cast<std::byte>(i);
    down[static_cast<std::size_t>(i)] = static_cast<std::byte>(31 - i);
  }
  const std::vector<std::uint8_t> iscsi{0x01, 0xc0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
                                        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x14, 0x00, 0x00, 0x00,
                                        0x00, 0x00, 0x04, 0x00, 0x00, 0x00, 0x00, 0x14, 0x00, 0x00,
                                        0x00, 0x18, 0x28, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
                                        0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00};
  for (const auto function : {crc32c, crc32c_by_table}) {
    EXPECT_EQ(function(zeros), 0x8a9136aaU);
    EXPECT_EQ(function(ones), 0x62a8ab43U);
    EXPECT_EQ(function(up), 0x46dd794eU);
    EXPECT_EQ(function(down), 0x113fdb5cU);
    EXPECT_EQ(function(std::as_bytes(std::span(iscsi))), 0xd9963a56U);
    EXPECT_EQ(function({}), 0U);
  }
}

// "123456789" is the check value of the CRC catalogues.
TEST(Crc32c, CheckValue) {
  const std::string text = "123456789";
  EXPECT_EQ(crc32c(std::as_bytes(std::span(text))), 0xe3069283U);
}

TEST(Crc32c, BothWaysAgreeAtEveryLengthAndAlignment) {
  const auto bytes = test::smooth_bytes(20000, 3);
  for (std::size_t begin = 0; begin < 9; ++begin) {
    for (std::size_t size :
         {0, 1, 7, 8, 9, 63, 64, 65, 1000, 3071, 3072, 3080, 4096, 8191, 19000}) {
      const auto part = std::span<const std::byte>(bytes).subspan(begin, size);
      EXPECT_EQ(crc32c(part), crc32c_by_table(part)) << begin << " " << size;
    }
  }
}

// Shares of pieces, in any order, make the checksum: what a GPU computes.
TEST(Crc32c, OfPiecesIsTheSame) {
  const auto bytes = test::smooth_bytes(20000, 3);
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  for (const std::uint64_t size : {1, 3, 4, 1023, 1024, 1025, 4096, 19990}) {
    for (const std::uint64_t piece : {1, 7, 1024, 5000, 30000}) {
      std::uint32_t combined = crc32c_of_zeros(size);
      for (std::uint64_t end = size; end > 0;) {  // backwards
        const std::uint64_t part = std::min(piece, end);
        combined ^= crc32c_share({9 + end - part, part, size - end}, data);
        end -= part;
      }
      EXPECT_EQ(combined, crc32c(std::span(bytes).subspan(9, size))) << size << " by " << piece;
    }
  }
  // As a GPU would have to, also of more bytes than 32 bits count.
  const std::vector<std::byte> zeros(1000);
  EXPECT_EQ(crc32c_of_zeros(1000), crc32c(zeros));
  const std::uint64_t far = std::uint64_t{5} << 32;
  EXPECT_EQ(detail::crc32c_shift(far + 3),
            detail::crc32c_product(detail::crc32c_shift(far), detail::crc32c_shift(3)));
}

TEST(Crc32c, APieceOfNothingIsAStoredOne) {
  const std::vector<std::uint8_t> bytes{9, 0x78, 0x56, 0x34, 0x12};
  EXPECT_EQ(crc32c_share({1, 0, 0}, bytes.data()), 0x12345678U);
}

}  // namespace
}  // namespace headrace::zarr
