#include "cli/stop_signal.hpp"

#include <csignal>

#include "cli/launch.hpp"

namespace headrace::cli {
namespace {

volatile std::sig_atomic_t received_signal = 0;
struct sigaction old_int, old_term, old_request;

void on_signal(int signal) {
  received_signal = signal;
  sigaction(SIGINT, &old_int, nullptr);
  sigaction(SIGTERM, &old_term, nullptr);
}

void on_request(int, siginfo_t* info, void*) {
  if (received_signal == 0) received_signal = info->si_value.sival_int;
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
  struct sigaction request {};
  request.sa_sigaction = on_request;
  sigemptyset(&request.sa_mask);
  request.sa_flags = SA_RESTART | SA_SIGINFO;
  sigaction(stop_request_signal(), &request, &old_request);
}

StopSignal::~StopSignal() {
  sigaction(stop_request_signal(), &old_request, nullptr);
  sigaction(SIGINT, &old_int, nullptr);
  sigaction(SIGTERM, &old_term, nullptr);
}

int StopSignal::asked() noexcept { return received_signal; }

}  // namespace headrace::cli
