#include "learn/inference/python_plugin.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>

#include "headrace/core/error.hpp"
#include "headrace/device/shared_library.hpp"

namespace headrace::inference {
namespace {

constexpr const char* kPlugin = "headrace-python.so";

struct Plugin {
  device::SharedLibrary library{"HEADRACE_PYTHON_PLUGIN", beside_the_program().c_str()};
  GetPythonParts* parts = nullptr;

  Plugin() { library.find(kGetPythonParts, parts); }
  static std::string beside_the_program() {
    return std::filesystem::read_symlink("/proc/self/exe").parent_path() / kPlugin;
  }
};

/// Calls `body`; the errors of what the plugin runs are those of this program. `key`: the config's
/// key and value, "model.module my_nets:build".
template <typename Body>
auto told(const std::string& key, const Body& body) {
  try {
    return body();
  } catch (const std::invalid_argument& error) {
    fail(ErrorCode::usage, "{}: {}", key, error.what());
  } catch (const std::runtime_error& error) {
    fail(ErrorCode::unsupported, "{}: {}", key, error.what());
  }
}

class ToldModule : public model::OutsideModule {
 public:
  ToldModule(std::string key, std::unique_ptr<model::OutsideModule> module)
      : key_(std::move(key)), module_(std::move(module)) {}

  std::vector<model::NamedTensor> weights() const override {
    return told(key_, [&] { return module_->weights(); });
  }
  std::vector<model::NamedTensor> states() const override {
    return told(key_, [&] { return module_->states(); });
  }
  std::vector<at::Tensor> forward(const at::Tensor& images, bool training) override {
    return told(key_, [&] { return module_->forward(images, training); });
  }
  void seed(std::uint64_t seed) override {
    told(key_, [&] { module_->seed(seed); });
  }

 private:
  std::string key_;
  std::unique_ptr<model::OutsideModule> module_;
};

class ToldOptimiser : public model::Optimiser {
 public:
  ToldOptimiser(std::string key, std::unique_ptr<model::Optimiser> optimiser)
      : key_(std::move(key)), optimiser_(std::move(optimiser)) {}

  void step(double learning_rate) override {
    told(key_, [&] { optimiser_->step(learning_rate); });
    ++steps_;
  }
  model::OptimiserState state() const override {
    return told(key_, [&] { return optimiser_->state(); });
  }
  void restore(const model::OptimiserState& state, std::int64_t steps) override {
    told(key_, [&] { optimiser_->restore(state, steps); });
    steps_ = steps;
  }

 private:
  std::string key_;
  std::unique_ptr<model::Optimiser> optimiser_;
};

PythonParts& parts_for(const std::string& key) {
  static const Plugin plugin;
  if (!plugin.library.there()) {
    fail(ErrorCode::unsupported,
         "{}: functions in Python need {} ({}). Build with Python's headers (python3-dev) and "
         "torch.",
         key, kPlugin, plugin.library.missing());
  }
  return *told(key, [] { return plugin.parts(); });
}

PythonCall call_of(const config::PythonFunction& function) {
  return {function.module, function.arguments.dump()};
}

}  // namespace

std::unique_ptr<model::OutsideModule> python_network(const config::PythonFunction& function,
                                                     const NetworkShape& shape) {
  const std::string key = "model.module " + function.module;
  PythonParts& parts = parts_for(key);
  return std::make_unique<ToldModule>(
      key, told(key, [&] { return parts.network(call_of(function), shape); }));
}

model::LevelLoss python_loss(const config::PythonFunction& function) {
  const std::string key = "train.loss.module " + function.module;
  PythonParts& parts = parts_for(key);
  return [key, loss = told(key, [&] { return parts.loss(call_of(function)); })](
             const at::Tensor& logits, const at::Tensor& labels) {
    return told(key, [&] { return loss(logits, labels); });
  };
}

std::unique_ptr<model::Optimiser> python_optimiser(const config::PythonFunction& function,
                                                   const model::Parameters& parameters, double lr) {
  const std::string key = "train.optimizer.module " + function.module;
  PythonParts& parts = parts_for(key);
  return std::make_unique<ToldOptimiser>(
      key,
      told(key, [&] { return parts.optimiser(call_of(function), parameters.trainable(), lr); }));
}

Json python_code(const std::vector<config::PythonFunction>& functions) {
  Json out;
  for (const config::PythonFunction& function : functions) {
    if (!function.given()) continue;
    const std::string key = "the code of " + function.module;
    PythonParts& parts = parts_for(key);
    out.merge_patch(parse_json(told(key, [&] { return parts.code(function.module); }), key));
  }
  return out;
}

}  // namespace headrace::inference
