#pragma once

namespace headrace::train {

/// While it lives, SIGINT and SIGTERM do not kill the process but set a flag, so that work can end
/// at a point where it can be resumed. A second signal kills as usual. The request of the parent of
/// several processes (ranks::stop_request_signal) also sets the flag, and never kills, since it may
/// come in addition to the signal itself. One at a time.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  /// The signal that came, or 0.
  static int received() noexcept;
  static const char* name(int signal) noexcept;
};

}  // namespace headrace::train
