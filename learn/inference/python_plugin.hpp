#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "learn/config/python_function.hpp"
#include "learn/model/loss.hpp"
#include "learn/model/optimiser.hpp"
#include "learn/model/outside_net.hpp"

namespace headrace::inference {

/// A function in Python and what it is called with.
struct PythonCall {
  std::string function;   ///< "package.module:function"
  std::string arguments;  ///< JSON: an object
};

/// What a network's function is called with besides.
struct NetworkShape {
  std::int64_t channels = 0, classes = 0;
  std::uint64_t seed = 0;  ///< LibTorch's generators have it before the function is called
};

/// Makes parts of a training by functions in Python. Behind the plugin, what goes wrong is a
/// std::exception: std::invalid_argument of the called code, std::runtime_error of the plugin.
class PythonParts {
 public:
  virtual ~PythonParts() = default;
  /// `function(channels=…, classes=…, **arguments)` returns a torch.nn.Module.
  virtual std::unique_ptr<model::OutsideModule> network(const PythonCall& call,
                                                        const NetworkShape& shape) = 0;
  /// `function(**arguments)` returns what is called with logits (n, classes, …) float32 and labels
  /// (n, …) int64, and returns a tensor with one number.
  virtual model::LevelLoss loss(const PythonCall& call) = 0;
  /// `function(parameters, lr=…, **arguments)` returns a torch.optim.Optimizer; parameters: pairs of
  /// name and tensor.
  virtual std::unique_ptr<model::Optimiser> optimiser(
      const PythonCall& call, const std::vector<model::NamedTensor>& parameters, double lr) = 0;
  /// What a function's code is, JSON: see python_code.
  virtual std::string code(const std::string& function) = 0;
};

/// The plugin's one function, `extern "C"`; what it returns lives to the end.
using GetPythonParts = PythonParts*();
inline constexpr const char* kGetPythonParts = "headrace_python_parts";

// Each calls the plugin headrace-python.so, which lies beside the program and holds a
// Python. Its modules are found as Python finds them, and in the working directory. `call` comes
// from the config's `model`, `train.loss` and `train.optimizer`. Errors: unsupported (no plugin, or
// no torch of this version in its Python), usage (what Python raised, with the place), also by the
// parts themselves.

std::unique_ptr<model::OutsideModule> python_network(const config::PythonFunction& function,
                                                     const NetworkShape& shape);
model::LevelLoss python_loss(const config::PythonFunction& function);
std::unique_ptr<model::Optimiser> python_optimiser(const config::PythonFunction& function,
                                                   const model::Parameters& parameters, double lr);

/// The code of these functions: {files: {module: SHA-256}, packages: {name: version}}. Files are
/// those of all imported modules that are neither Python's own nor installed, so the user's; packages
/// are the installed ones that these and the functions' modules name. What is imported later, within
/// a function, and data that code reads are not seen. Null without functions.
Json python_code(const std::vector<config::PythonFunction>& functions);

}  // namespace headrace::inference
