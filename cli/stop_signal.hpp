#pragma once
#include "learn/train/stop_listener.hpp"

namespace headrace::cli {

/// While it lives, SIGINT and SIGTERM do not kill the process but set a flag, so that work can end
/// at a point where it can be resumed. A second signal kills as usual. The request of the parent of
/// several processes (stop_request_signal) also sets the flag, and never kills, since it may come
/// in addition to the signal itself. One at a time.
class StopSignal : public train::StopListener {
 public:
  StopSignal();
  ~StopSignal() override;
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  int asked() noexcept override;
};

}  // namespace headrace::cli
