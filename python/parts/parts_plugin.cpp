// The plugin by which parts of a training are made in Python: holds a Python in the program, calls
// the functions there, and hands tensors over; they are the same tensors on both sides.
#include <Python.h>
#include <torch/csrc/autograd/python_variable.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "learn/inference/python_plugin.hpp"
#include "python/parts/embedded_python.hpp"

namespace headrace::python {
namespace {

at::Tensor tensor_of(PyObject* object) {
  if (!THPVariable_Check(object)) throw std::invalid_argument("a value that is not a tensor");
  return THPVariable_Unpack(object);
}

/// A list of (name, tensor), both ways.
std::vector<model::NamedTensor> named_tensors(PyObject* list) {
  std::vector<model::NamedTensor> out;
  for (Py_ssize_t i = 0; i < PyList_Size(list); ++i) {
    PyObject* pair = PyList_GetItem(list, i);
    out.push_back({text_of(PyTuple_GetItem(pair, 0)), tensor_of(PyTuple_GetItem(pair, 1))});
  }
  return out;
}

Object list_of(const std::vector<model::NamedTensor>& tensors) {
  Object list = checked(PyList_New(0));
  for (const model::NamedTensor& one : tensors) {
    const Object tensor = checked(THPVariable_Wrap(one.tensor));
    const Object pair = checked(Py_BuildValue("sO", one.name.c_str(), tensor.get()));
    PyList_Append(list.get(), pair.get());
  }
  return list;
}

/// What a function of headrace_parts makes, held until it is dropped on any thread.
class Made {
 public:
  explicit Made(Object object) : object_(std::move(object)) {}
  ~Made() {
    const Gil gil;
    object_ = Object();
  }
  Made(const Made&) = delete;
  Made& operator=(const Made&) = delete;
  PyObject* get() const noexcept { return object_.get(); }

 private:
  Object object_;
};

class PythonModule : public model::OutsideModule {
 public:
  explicit PythonModule(Object module) : module_(std::move(module)) {}

  std::vector<model::NamedTensor> weights() const override { return listed("weights"); }
  std::vector<model::NamedTensor> states() const override { return listed("states"); }

  std::vector<at::Tensor> forward(const at::Tensor& images, bool training) override {
    PyObject* const tools = helper();
    const Gil gil;
    const Object input = checked(THPVariable_Wrap(images));
    const Object out = checked(
        PyObject_CallMethod(tools, "forward", "OOi", module_.get(), input.get(), training ? 1 : 0));
    std::vector<at::Tensor> levels;
    for (Py_ssize_t i = 0; i < PyList_Size(out.get()); ++i)
      levels.push_back(tensor_of(PyList_GetItem(out.get(), i)));
    return levels;
  }

  void seed(std::uint64_t seed) override {
    PyObject* const tools = helper();
    const Gil gil;
    checked(PyObject_CallMethod(tools, "seed", "K", static_cast<unsigned long long>(seed)));
  }

 private:
  std::vector<model::NamedTensor> listed(const char* what) const {
    PyObject* const tools = helper();
    const Gil gil;
    return named_tensors(checked(PyObject_CallMethod(tools, what, "O", module_.get())).get());
  }

  Made module_;
};

class PythonOptimiser : public model::Optimiser {
 public:
  PythonOptimiser(Object optimiser, double lr) : optimiser_(std::move(optimiser)), lr_(lr) {}

  void step(double learning_rate) override {
    PyObject* const tools = helper();
    const Gil gil;
    checked(PyObject_CallMethod(tools, "step", "Od", optimiser_.get(), learning_rate / lr_));
    ++steps_;
  }

  model::OptimiserState state() const override {
    PyObject* const tools = helper();
    const Gil gil;
    const Object pair =
        checked(PyObject_CallMethod(tools, "optimiser_state", "O", optimiser_.get()));
    return {named_tensors(PyTuple_GetItem(pair.get(), 0)), text_of(PyTuple_GetItem(pair.get(), 1))};
  }

  void restore(const model::OptimiserState& state, std::int64_t steps) override {
    PyObject* const tools = helper();
    const Gil gil;
    const Object tensors = list_of(state.tensors);
    checked(PyObject_CallMethod(tools, "restore_optimiser", "OOs", optimiser_.get(), tensors.get(),
                                state.facts.c_str()));
    steps_ = steps;
  }

 private:
  Made optimiser_;
  double lr_;  ///< that the optimiser was made with
};

class Parts : public inference::PythonParts {
 public:
  std::unique_ptr<model::OutsideModule> network(const inference::PythonCall& call,
                                                const inference::NetworkShape& shape) override {
    PyObject* const tools = helper();
    const Gil gil;
    return std::make_unique<PythonModule>(checked(PyObject_CallMethod(
        tools, "network", "ssLLK", call.function.c_str(), call.arguments.c_str(),
        static_cast<long long>(shape.channels), static_cast<long long>(shape.classes),
        static_cast<unsigned long long>(shape.seed))));
  }

  model::LevelLoss loss(const inference::PythonCall& call) override {
    PyObject* const tools = helper();
    const Gil gil;
    auto made = std::make_shared<Made>(checked(
        PyObject_CallMethod(tools, "loss", "ss", call.function.c_str(), call.arguments.c_str())));
    return [made](const at::Tensor& logits, const at::Tensor& labels) {
      PyObject* const tools = helper();
      const Gil gil;
      const Object values = checked(THPVariable_Wrap(logits.to(at::kFloat)));
      const Object truth = checked(THPVariable_Wrap(labels.to(at::kLong)));
      return tensor_of(checked(PyObject_CallMethod(tools, "loss_of", "OOO", made->get(),
                                                   values.get(), truth.get()))
                           .get());
    };
  }

  std::unique_ptr<model::Optimiser> optimiser(const inference::PythonCall& call,
                                              const std::vector<model::NamedTensor>& parameters,
                                              double lr) override {
    PyObject* const tools = helper();
    const Gil gil;
    const Object list = list_of(parameters);
    return std::make_unique<PythonOptimiser>(
        checked(PyObject_CallMethod(tools, "optimiser", "ssOd", call.function.c_str(),
                                    call.arguments.c_str(), list.get(), lr)),
        lr);
  }

  std::string code(const std::string& function) override {
    PyObject* const tools = helper();
    const Gil gil;
    return text_of(checked(PyObject_CallMethod(tools, "code", "s", function.c_str())).get());
  }
};

}  // namespace
}  // namespace headrace::python

extern "C" __attribute__((visibility("default"))) headrace::inference::PythonParts*
headrace_python_parts() {
  static auto* const parts = new headrace::python::Parts;  // as long as the Python that it calls
  return parts;
}
