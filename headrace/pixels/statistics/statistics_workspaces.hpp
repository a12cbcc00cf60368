#pragma once
#include "headrace/core/limited_pool.hpp"
#include "headrace/device/staged_workspace.hpp"
#include "headrace/pixels/statistics/statistics_device.hpp"

namespace headrace::pixels {

/// A workspace of a device that gathers statistics. One thread at a time.
class StatisticsWorkspace : public device::StagedWorkspace<StatisticsQueue> {
 public:
  using StagedWorkspace::StagedWorkspace;
  /// Every pointer of the pass lies in an area of this.
  void gather(const StatisticsPass& pass) { queue().gather(pass); }
};

/// The workspaces of a device that the images at work share: few, so that the memory of the device
/// and the pinned memory of the host are bounded however many images there are. Safe from any
/// thread; a thread that holds a workspace must not wait for a second, nor start a loop of the
/// pool.
class StatisticsWorkspaces {
 public:
  static constexpr int kMost = 4;

  /// device: must outlive this. threads: number at work. Errors: memory.
  StatisticsWorkspaces(StatisticsDevice& device, int threads);

  class Lease : public LimitedPool<StatisticsWorkspace>::Lease {
   public:
    explicit Lease(StatisticsWorkspaces& workspaces)
        : LimitedPool<StatisticsWorkspace>::Lease(workspaces.workspaces_) {}
  };

 private:
  LimitedPool<StatisticsWorkspace> workspaces_;
};

}  // namespace headrace::pixels
