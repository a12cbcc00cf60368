#include "learn/model/precision.hpp"

#include <c10/util/Exception.h>

#include <exception>
#include <string>

#include "headrace/core/error.hpp"
#include "headrace/core/log.hpp"
#include "learn/model/torch_errors.hpp"

namespace headrace::model {

void settle_precision(Runtime& runtime, AutoSwitch amp, bool deterministic,
                      const std::function<void(const Runtime&)>& attempt) {
  if (!runtime.bfloat16 || !deterministic) return;
  std::string refusal;
  try {
    return attempt(runtime);
  } catch (const std::exception& error) {  // LibTorch's, and those of cuDNN's own front end
    if (lacks_memory(error)) throw;        // which says nothing about algorithms
    const auto* torch = dynamic_cast<const c10::Error*>(&error);
    refusal = torch != nullptr ? torch->what_without_backtrace() : error.what();
  }
  refusal = refusal.substr(0, refusal.find('\n'));
  Runtime whole = runtime;
  whole.bfloat16 = false;
  attempt(whole);  // else bfloat16 is not what is refused
  if (amp == AutoSwitch::on) {
    fail(
        ErrorCode::unsupported,
        "train.amp: on, but LibTorch refuses a deterministic step in bfloat16 on this GPU ({}). Set "
        "train.amp: off for float32, or train.deterministic: false for other algorithms.",
        refusal);
  }
  runtime = whole;
  log::warning(
      "LibTorch refuses a deterministic step in bfloat16 on this GPU ({}): training in float32. "
      "train.deterministic: false trains in bfloat16 by other algorithms",
      refusal);
}

}  // namespace headrace::model
