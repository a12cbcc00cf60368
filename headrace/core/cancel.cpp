#include "headrace/core/cancel.hpp"

#include <utility>

#include "headrace/core/error.hpp"

namespace headrace {
namespace {

thread_local std::shared_ptr<const CancelRequest> current_request;

}  // namespace

CancelScope::CancelScope(std::shared_ptr<const CancelRequest> request)
    : outer_(std::exchange(current_request, std::move(request))) {}

CancelScope::~CancelScope() { current_request = std::move(outer_); }

std::shared_ptr<const CancelRequest> CancelScope::current() { return current_request; }

void stop_if_cancelled() {
  if (current_request && current_request->asked()) fail(ErrorCode::cancelled, "stopped on request");
}

}  // namespace headrace
