#include "learn/measure/slide/tumour_rule.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace headrace::measure {
namespace {

TEST(TumourRule, OtherTissueIsAClassAboveZeroThatIsNotTumour) {
  TumourRule rule;
  const std::vector<std::pair<std::vector<bool>, bool>> cases{{{}, false},
                                                              {{false}, false},
                                                              {{true}, false},
                                                              {{false, true}, false},
                                                              {{false, true, true}, false},
                                                              {{false, false}, true},
                                                              {{true, false, true}, true},
                                                              {{false, true, false}, true}};
  for (const auto& [tumour, other] : cases) {
    rule.tumour = tumour;
    EXPECT_EQ(rule.other_tissue(), other);
  }
}

}  // namespace
}  // namespace headrace::measure
