#include "learn/model/torch_errors.hpp"

#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <new>
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

}  // namespace

bool lacks_memory(const std::exception& error) {
  if (dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr) return true;
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return true;
  constexpr int kCudaErrorMemoryAllocation = 2;
  const auto* of_device = dynamic_cast<const c10::AcceleratorError*>(&error);
  if (of_device != nullptr && of_device->get_error_code() == kCudaErrorMemoryAllocation)
    return true;
  // The others have no type of their own: those of the CPU, of cuBLAS, and of cuDNN in older and in
  // newer words.
  const auto* torch = dynamic_cast<const c10::Error*>(&error);
  const std::string_view text = torch != nullptr ? torch->what_without_backtrace() : error.what();
  constexpr std::array<std::string_view, 4> kTexts{
      "can't allocate memory", "CUBLAS_STATUS_ALLOC_FAILED", "CUDNN_STATUS_ALLOC_FAILED",
      "_ALLOCATION_FAILED"};
  return std::any_of(kTexts.begin(), kTexts.end(),
                     [&](std::string_view one) { return text.find(one) != text.npos; });
}

void throw_in_words(const std::exception& error) {
  const auto* torch = dynamic_cast<const c10::Error*>(&error);
  if (torch == nullptr) return;
  const std::string text = first_line(*torch);
  if (lacks_memory(error)) {
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
