// Which GPU a process takes, by what launchers set, with the host in the place of several GPUs.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

#include "headrace/core/error.hpp"
#include "headrace/device/cuda_device.hpp"
#include "tests/core/error_of.hpp"
#include "tests/device/fake_gpus.hpp"

namespace headrace::device::cuda {
namespace {

using Variables = std::map<std::string, std::string>;

class ProcessDevice : public ::testing::Test {
 protected:
  void TearDown() override {
    set({});
    fixtures::set_gpus(1);
  }
  static void set(const Variables& variables) {
    for (const char* name : {"LOCAL_RANK", "SLURM_LOCALID"}) unsetenv(name);
    for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
  }
  static int of(const Variables& variables) {
    set(variables);
    return process_device();
  }
  static std::string refused(const Variables& variables) {
    return error_of(ErrorCode::usage, [&] { of(variables); });
  }
};

TEST_F(ProcessDevice, IsTheLocalRank) {
  fixtures::set_gpus(4);
  EXPECT_EQ(of({}), 0);
  EXPECT_EQ(of({{"LOCAL_RANK", ""}}), 0);
  EXPECT_EQ(of({{"LOCAL_RANK", "3"}}), 3);
  EXPECT_EQ(of({{"SLURM_LOCALID", "2"}}), 2);
  EXPECT_EQ(of({{"LOCAL_RANK", "1"}, {"SLURM_LOCALID", "0"}}), 1) << "torchrun inside of a job";
}

/// LibTorch counts GPUs in a build without CUDA too.
TEST_F(ProcessDevice, IsOneOfThoseThatALibraryCounts) {
  fixtures::set_gpus(1);
  set({{"LOCAL_RANK", "3"}});
  EXPECT_EQ(process_device_of(4), 3);
  EXPECT_EQ(process_device_of(1), 0);
  EXPECT_EQ(error_of(ErrorCode::usage, [] { process_device_of(2); })
                .rfind("LOCAL_RANK is 3, but this process sees 2 GPUs", 0),
            0u);
}

/// srun --gpus-per-task=1, or CUDA_VISIBLE_DEVICES set by rank.
TEST_F(ProcessDevice, IsTheOnlyOneThatTheProcessSees) {
  fixtures::set_gpus(1);
  for (const char* rank : {"0", "1", "7"}) {
    EXPECT_EQ(of({{"LOCAL_RANK", rank}}), 0);
    EXPECT_EQ(of({{"SLURM_LOCALID", rank}}), 0);
  }
}

TEST_F(ProcessDevice, OfSeveralIsRefusedWhereThereAreFewer) {
  fixtures::set_gpus(2);
  EXPECT_EQ(refused({{"LOCAL_RANK", "2"}}),
            "LOCAL_RANK is 2, but this process sees 2 GPUs, 0 to 1. Start one process a GPU, or "
            "show each process its own alone (by Slurm, or by "
            "CUDA_VISIBLE_DEVICES)");
  EXPECT_EQ(refused({{"SLURM_LOCALID", "5"}}).rfind("SLURM_LOCALID is 5, but", 0), 0u);
}

TEST_F(ProcessDevice, OfNoWholeNumberIsRefused) {
  fixtures::set_gpus(1);
  for (const char* rank : {"-1", "one", "0x1", "1 ", "99999999999"}) {
    EXPECT_EQ(refused({{"LOCAL_RANK", rank}}),
              "LOCAL_RANK is '" + std::string(rank) + "': expected the number of a GPU, from 0 on");
  }
}

}  // namespace
}  // namespace headrace::device::cuda
