#include "python/parts/embedded_python.hpp"

#include <dlfcn.h>
#include <torch/version.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace headrace::python {
namespace {

/// headrace_parts.explain of the error that is set: "ValueError: … (my_nets.py:12)".
std::string raised(PyObject* helper) {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (trace != nullptr) PyException_SetTraceback(value, trace);
  const Object own_type(type), own_value(value), own_trace(trace);
  const Object text(helper == nullptr ? PyObject_Str(value)
                                      : PyObject_CallMethod(helper, "explain", "O", value));
  return text_of(text.get());
}

/// The Python whose packages are used: a virtual environment's, else that of the build, else the
/// first on the PATH.
std::string python_program() {
  if (const char* chosen = std::getenv("HEADRACE_PYTHON")) return chosen;
  if (const char* venv = std::getenv("VIRTUAL_ENV")) return std::string(venv) + "/bin/python";
  if (std::filesystem::exists(HR_PYTHON)) return HR_PYTHON;
  return "python3";
}

void start_python() {
  // Extension modules expect Python's own names in the program; the plugin is loaded locally.
  Dl_info where{};
  if (dladdr(reinterpret_cast<void*>(&Py_InitializeFromConfig), &where) != 0)
    dlopen(where.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
  PyConfig config;
  PyConfig_InitPythonConfig(&config);
  config.install_signal_handlers = 0;  // SIGINT and SIGTERM are the program's
  config.write_bytecode = 0;
  config.buffered_stdio =
      0;  // what networks print: Python is never ended, so nobody would flush it
  PyStatus status =
      PyConfig_SetBytesString(&config, &config.program_name, python_program().c_str());
  if (!PyStatus_Exception(status)) status = Py_InitializeFromConfig(&config);
  PyConfig_Clear(&config);
  if (PyStatus_Exception(status)) {
    throw std::runtime_error("Python of " + python_program() + " can't be started (" +
                             (status.err_msg == nullptr ? "no reason" : status.err_msg) +
                             "). HEADRACE_PYTHON may name another.");
  }
}

/// The module headrace_parts, from the text below; with the GIL.
Object make_helper() {
  static constexpr const char* kSource =
#include "python/parts/headrace_parts.inc"
      ;
  const Object code(Py_CompileString(kSource, "headrace_parts", Py_file_input));
  Object helper(code.get() == nullptr ? nullptr
                                      : PyImport_ExecCodeModule("headrace_parts", code.get()));
  if (helper.get() == nullptr)
    throw std::runtime_error("Python of " + python_program() + ": " + raised(nullptr) +
                             ". Install torch " TORCH_VERSION
                             " there, or name another by "
                             "HEADRACE_PYTHON.");
  return helper;
}

}  // namespace

std::string text_of(PyObject* text) {
  const char* bytes = text == nullptr ? nullptr : PyUnicode_AsUTF8(text);
  if (bytes == nullptr) PyErr_Clear();
  return bytes == nullptr ? "?" : bytes;
}

Object checked(PyObject* result) {
  if (result == nullptr) throw std::invalid_argument(raised(helper()));
  return Object(result);
}

PyObject* helper() {
  static PyObject* const made = [] {
    if (Py_IsInitialized() == 0) {
      start_python();
      PyEval_SaveThread();
    }
    const Gil gil;
    const Object own = make_helper();
    Py_INCREF(own.get());
    return own.get();
  }();
  return made;
}

}  // namespace headrace::python
