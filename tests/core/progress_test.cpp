#include "headrace/core/progress.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace headrace {
namespace {

using std::chrono::milliseconds;

struct Shown {
  std::string title, unit, note;
  std::uint64_t done, begun_at, total;
  double seconds;
  bool last;
};

/// Displays that write down what they are shown, while it lives.
class ProgressTest : public ::testing::Test {
 protected:
  class Display : public ProgressDisplay {
   public:
    explicit Display(ProgressTest& test) : test_(test) {}
    milliseconds first() const override { return test_.first_; }
    milliseconds every() const override { return test_.every_; }
    void show(const ProgressState& s, bool last) override {
      test_.shown_.push_back({std::string(s.title), std::string(s.unit), std::string(s.note),
                              s.done, s.begun_at, s.total, s.seconds, last});
    }

   private:
    ProgressTest& test_;
  };

  ProgressTest() {
    show_progress_by([this] { return std::make_unique<Display>(*this); });
  }
  ~ProgressTest() override { show_progress_by({}); }

  milliseconds first_{0}, every_{0};
  std::vector<Shown> shown_;
};

TEST_F(ProgressTest, ShowsWhatWasDoneAndTheEnd) {
  {
    Progress progress("train", 10, "steps");
    progress.begin_at(4);
    progress.note("loss 0.53");
    progress.advance();
    progress.advance(2);
  }
  ASSERT_EQ(shown_.size(), 3u);
  EXPECT_EQ(shown_[0].title, "train");
  EXPECT_EQ(shown_[0].unit, "steps");
  EXPECT_EQ(shown_[0].note, "loss 0.53");
  EXPECT_EQ(shown_[0].done, 5u);
  EXPECT_EQ(shown_[0].begun_at, 4u);
  EXPECT_EQ(shown_[0].total, 10u);
  EXPECT_GE(shown_[0].seconds, 1e-3);
  EXPECT_FALSE(shown_[0].last);
  EXPECT_EQ(shown_[1].done, 7u);
  EXPECT_EQ(shown_[2].done, 7u);
  EXPECT_TRUE(shown_[2].last);
}

TEST_F(ProgressTest, ShowsNothingBeforeItsTime) {
  first_ = std::chrono::hours(1);
  { Progress("reading", 10, "tiles").advance(); }
  ASSERT_EQ(shown_.size(), 1u);
  EXPECT_TRUE(shown_[0].last);
  shown_.clear();
  first_ = milliseconds(0);
  every_ = std::chrono::hours(1);
  {
    Progress progress("reading", 10, "tiles");
    for (int i = 0; i < 5; ++i) progress.advance();
  }
  ASSERT_EQ(shown_.size(), 2u);
  EXPECT_EQ(shown_[0].done, 1u);
}

TEST_F(ProgressTest, CountsWhatSeveralThreadsDo) {
  {
    Progress progress("reading", 2000, "tiles");
    const auto work = [&] {
      for (int i = 0; i < 1000; ++i) progress.advance();
    };
    std::thread other(work);
    work();
    other.join();
  }
  EXPECT_EQ(shown_.back().done, 2000u);
}

TEST_F(ProgressTest, IsSilentWithoutADisplay) {
  show_progress_by({});
  { Progress("reading", 10, "tiles").advance(); }
  EXPECT_TRUE(shown_.empty());
}

}  // namespace
}  // namespace headrace
