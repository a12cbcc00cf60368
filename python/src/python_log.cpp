#include "headrace/core/log.hpp"
#include "python/src/python_calls.hpp"

namespace headrace::python {
namespace {

/// The numbers of Python's module logging.
int number_of(log::Level level) noexcept {
  switch (level) {
    case log::Level::debug:
      return 10;
    case log::Level::info:
      return 20;
    case log::Level::warning:
      return 30;
    case log::Level::error:
      return 40;
    case log::Level::off:
      break;
  }
  return 0;
}

void write(PyObject* logger, log::Level level, const std::string& line) {
  const PythonCalls calls;
  if (!calls) return;
  const nb::gil_scoped_acquire gil;
  try {
    const auto size = static_cast<Py_ssize_t>(line.size());
    PyObject* text = PyUnicode_DecodeUTF8(line.data(), size, "replace");  // names of files
    if (text == nullptr) nb::raise_python_error();
    nb::handle(logger).attr("log")(number_of(level), "%s", nb::steal(text));
  } catch (nb::python_error& error) {
    error.discard_as_unraisable("headrace: a log line could not be handed to Python's logging");
  }
}

}  // namespace

void log_to_python() {
  // Kept for as long as the process: the sink may outlive the interpreter, and then leaves it.
  PyObject* logger = nb::module_::import_("logging").attr("getLogger")("headrace").release().ptr();
  log::set_level(log::Level::debug);  // Python's levels choose
  log::set_sink(
      [logger](log::Level level, const std::string& line) { write(logger, level, line); });
}

}  // namespace headrace::python
