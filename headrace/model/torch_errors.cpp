#include "headrace/model/torch_errors.hpp"

#include <c10/util/Exception.h>

#include <string>
#include <string_view>

namespace headrace::model {
namespace {

/// Its first line: advice on LibTorch's own settings follows, and the list of calls.
std::string first_line(const c10::Error& error) {
  std::string text = error.what_without_backtrace();
  text = text.substr(0, text.find('\n'));
  // What is free is enough of the account that CUDA's allocator gives.
  constexpr std::string_view kFree = " is free.";
  if (const auto at = text.find(kFree); at != text.npos) text.resize(at + kFree.size());
  while (!text.empty() && (text.back() == '.' || text.back() == ' ')) text.pop_back();
  return text;
}

bool lacks_memory(const c10::Error& error, const std::string& text) {
  constexpr int kCudaErrorMemoryAllocation = 2;
  const auto* of_device = dynamic_cast<const c10::AcceleratorError*>(&error);
  return dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr ||
         (of_device != nullptr && of_device->get_error_code() == kCudaErrorMemoryAllocation) ||
         text.find("can't allocate memory") != text.npos;  // of the CPU: no type of its own
}

}  // namespace

void throw_in_words(const std::exception& error) {
  const auto* torch = dynamic_cast<const c10::Error*>(&error);
  if (torch == nullptr) return;
  const std::string text = first_line(*torch);
  if (lacks_memory(*torch, text)) {
    fail(ErrorCode::memory,
         "LibTorch: {}. Lower sampling.batch, patch.size or model.widths, or raise "
         "train.gradient_parts; for evaluation and prediction lower the number of tiles in a batch "
         "(eval.batch). On a GPU other programs may hold memory too.",
         text);
  }
  const bool of_device = dynamic_cast<const c10::AcceleratorError*>(torch) != nullptr;
  fail(of_device ? ErrorCode::device : ErrorCode::internal, "LibTorch: {}", text);
}

}  // namespace headrace::model
