#include "headrace/core/base64.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace headrace {
namespace {

TEST(Base64, FollowsTheVectorsOfRfc4648) {
  const std::pair<const char*, const char*> vectors[] = {{"", ""},
                                                         {"f", "Zg=="},
                                                         {"fo", "Zm8="},
                                                         {"foo", "Zm9v"},
                                                         {"foob", "Zm9vYg=="},
                                                         {"fooba", "Zm9vYmE="},
                                                         {"foobar", "Zm9vYmFy"}};
  for (const auto& [plain, coded] : vectors) {
    const auto bytes = std::as_bytes(std::span(std::string_view(plain)));
    EXPECT_EQ(to_base64(bytes), coded);
    const auto back = from_base64(coded);
    ASSERT_TRUE(back) << coded;
    EXPECT_TRUE(std::equal(back->begin(), back->end(), bytes.begin(), bytes.end())) << coded;
  }
  const std::byte high[] = {std::byte{0xff}, std::byte{0xef}, std::byte{0xbe}};
  EXPECT_EQ(to_base64(high), "/+++");
}

TEST(Base64, TextThatNoBytesGiveIsRefused) {
  for (const char* text :
       {"Z", "Zg", "Zg=", "Zh==", "Zm9v====", "=Zm9", "Zm9v Zg=", "Zm-_", "Zg==Zg=="})
    EXPECT_FALSE(from_base64(text)) << text;
}

}  // namespace
}  // namespace headrace
