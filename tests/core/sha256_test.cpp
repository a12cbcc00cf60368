#include "headrace/core/sha256.hpp"

#include <gtest/gtest.h>

#include <string>

namespace headrace {
namespace {

// FIPS 180-4 example values (NIST CAVP, "SHA-256 short messages" and the million letters a).
const char* const kAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
const char* const kEmpty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const char* const kTwoBlocks = "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1";
const char* const kMillionA = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";

TEST(Sha256, PublishedVectors) {
  EXPECT_EQ(sha256_hex(""), kEmpty);
  EXPECT_EQ(sha256_hex("abc"), kAbc);
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"), kTwoBlocks);
  EXPECT_EQ(sha256_hex(std::string(1000000, 'a')), kMillionA);
}

TEST(Sha256, PiecesOfAnySizeGiveTheSameHash) {
  const std::string message(1000000, 'a');
  for (const std::size_t piece : {1, 63, 64, 65, 4096, 999999}) {
    Sha256 hash;
    for (std::size_t i = 0; i < message.size(); i += piece)
      hash.update(std::string_view(message).substr(i, piece));
    EXPECT_EQ(hash.hex(), kMillionA) << piece;
  }
}

TEST(Sha256, AnObjectIsReadyForANewMessageAfterHex) {
  Sha256 hash;
  hash.update("something else");
  hash.hex();
  hash.update("abc");
  EXPECT_EQ(hash.hex(), kAbc);
  EXPECT_EQ(hash.hex(), kEmpty);
}

TEST(Sha256, MovingKeepsWhatWasHashed) {
  Sha256 first;
  first.update("a");
  Sha256 second = std::move(first);
  second.update("bc");
  EXPECT_EQ(second.hex(), kAbc);
}

}  // namespace
}  // namespace headrace
