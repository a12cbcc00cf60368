#include "headrace/train/stop_signal.hpp"

#include <csignal>

namespace headrace::train {
namespace {

volatile std::sig_atomic_t received_signal = 0;
struct sigaction old_int, old_term;

void on_signal(int signal) {
  received_signal = signal;
  sigaction(SIGINT, &old_int, nullptr);
  sigaction(SIGTERM, &old_term, nullptr);
}

}  // namespace

StopSignal::StopSignal() {
  received_signal = 0;
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, &old_int);
  sigaction(SIGTERM, &action, &old_term);
}

StopSignal::~StopSignal() {
  sigaction(SIGINT, &old_int, nullptr);
  sigaction(SIGTERM, &old_term, nullptr);
}

int StopSignal::received() noexcept { return received_signal; }

const char* StopSignal::name(int signal) noexcept {
  return signal == SIGTERM ? "SIGTERM" : "SIGINT";
}

}  // namespace headrace::train
