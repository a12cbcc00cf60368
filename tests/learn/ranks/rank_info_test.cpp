#include "learn/ranks/rank_info.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "headrace/core/error.hpp"

namespace headrace::ranks {
namespace {

using Variables = std::map<std::string, std::string>;

RankInfo place_in(const Variables& variables) {
  for (const char* name : {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_PORT",
                           "SLURM_JOB_ID", "SLURM_STEP_ID", kStartVariable}) {
    unsetenv(name);
  }
  for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
  const auto clean = [&] {
    for (const auto& [name, value] : variables) unsetenv(name.c_str());
  };
  try {
    RankInfo rank_info = RankInfo::from_environment();
    clean();
    return rank_info;
  } catch (...) {
    clean();
    throw;
  }
}

TEST(RankInfo, IsAloneWithoutALauncher) {
  for (const Variables& variables : {Variables{}, Variables{{"LOCAL_RANK", "1"}}}) {
    const RankInfo rank_info = place_in(variables);
    EXPECT_EQ(rank_info.rank, 0);
    EXPECT_EQ(rank_info.size, 1);
  }
}

TEST(RankInfo, IsWhatALauncherSays) {
  const Variables torchrun{{"RANK", "2"},
                           {"WORLD_SIZE", "4"},
                           {"LOCAL_RANK", "2"},
                           {"LOCAL_WORLD_SIZE", "4"},
                           {"MASTER_PORT", "29500"}};
  const RankInfo rank_info = place_in(torchrun);
  EXPECT_EQ(rank_info.rank, 2);
  EXPECT_EQ(rank_info.size, 4);
  EXPECT_EQ(rank_info.start, place_in(torchrun).start);
  Variables other = torchrun;
  other["MASTER_PORT"] = "29501";
  EXPECT_NE(rank_info.start, place_in(other).start);
  EXPECT_EQ(place_in({{"RANK", "1"}, {"WORLD_SIZE", "2"}}).size, 2);
}

struct Refused {
  const char* name;
  Variables variables;
  ErrorCode code;
  const char* says;
};

class PlaceRefuses : public ::testing::TestWithParam<Refused> {};

TEST_P(PlaceRefuses, InOneSentence) {
  try {
    place_in(GetParam().variables);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), GetParam().code);
    EXPECT_NE(std::string(error.what()).find(GetParam().says), std::string::npos) << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Each, PlaceRefuses,
    ::testing::Values(
        Refused{
            "RankAlone", {{"RANK", "0"}}, ErrorCode::usage, "RANK is set, but WORLD_SIZE is not"},
        Refused{"SizeAlone",
                {{"WORLD_SIZE", "2"}},
                ErrorCode::usage,
                "WORLD_SIZE is set, but RANK is not"},
        Refused{"NoNumber",
                {{"RANK", "one"}, {"WORLD_SIZE", "2"}},
                ErrorCode::usage,
                "RANK is 'one', no whole number"},
        Refused{"TooHigh",
                {{"RANK", "2"}, {"WORLD_SIZE", "2"}},
                ErrorCode::usage,
                "RANK 2 of WORLD_SIZE 2: ranks count from 0"},
        Refused{"TooMany",
                {{"RANK", "2"}, {"WORLD_SIZE", "1000"}},
                ErrorCode::usage,
                "256 processes at most"},
        Refused{
            "SeveralMachines",
            {{"RANK", "0"}, {"WORLD_SIZE", "8"}, {"LOCAL_RANK", "0"}, {"LOCAL_WORLD_SIZE", "4"}},
            ErrorCode::unsupported,
            "4 of 8 processes are on this machine"},
        Refused{"ASecondMachine",
                {{"RANK", "5"}, {"WORLD_SIZE", "8"}, {"LOCAL_RANK", "1"}},
                ErrorCode::unsupported,
                "several machines is not there yet"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace headrace::ranks
