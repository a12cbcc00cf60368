#include <array>
#include <exception>
#include <string>

#include "headrace/core/error.hpp"
#include "headrace/core/foreign_error.hpp"
#include "headrace/core/utf8.hpp"
#include "python/src/bindings.hpp"

namespace headrace::python {
namespace {

struct Kind {
  ErrorCode code;
  const char* name;
  PyObject* also;  ///< what Python itself raises for the like, so that old `except` lines hold
  const char* doc;
  PyObject* type = nullptr;
};

/// One class for each code; the objects live as long as the process.
std::array<Kind, 11>& kinds() {
  static std::array<Kind, 11> all{{
      {ErrorCode::usage, "UsageError", PyExc_ValueError,
       "Something was asked for that does not exist or does not fit."},
      {ErrorCode::not_found, "NotFoundError", PyExc_FileNotFoundError,
       "A file, key or image is not there."},
      {ErrorCode::malformed, "MalformedError", PyExc_ValueError,
       "Input does not follow its format."},
      {ErrorCode::unsupported, "UnsupportedError", PyExc_NotImplementedError,
       "Valid input that this build or version does not handle."},
      {ErrorCode::corrupt, "CorruptError", PyExc_ValueError, "Stored data fails its check."},
      {ErrorCode::io, "StorageError", PyExc_OSError,
       "The operating system, or a server, refused a read or write."},
      {ErrorCode::memory, "OutOfMemoryError", PyExc_MemoryError,
       "An allocation failed, or a stated bound would be exceeded."},
      {ErrorCode::device, "DeviceError", PyExc_RuntimeError, "CUDA or a library for GPUs failed."},
      {ErrorCode::cancelled, "Cancelled", nullptr, "Work was stopped on request."},
      {ErrorCode::diverged, "Diverged", nullptr, "The training loss is no longer finite."},
      {ErrorCode::internal, "InternalError", PyExc_RuntimeError, "A bug in Headrace."},
  }};
  return all;
}

}  // namespace

void bind_errors(nb::module_& module) {
  PyObject* base = PyErr_NewExceptionWithDoc(
      "headrace.Error",
      "What Headrace raises: one sentence that says what is wrong, where, and what to do.",
      PyExc_Exception, nullptr);
  module.attr("Error") = nb::borrow(base);
  for (Kind& kind : kinds()) {
    const std::string name = std::string("headrace.") + kind.name;
    const nb::tuple bases = kind.also == nullptr
                                ? nb::make_tuple(nb::borrow(base))
                                : nb::make_tuple(nb::borrow(base), nb::borrow(kind.also));
    kind.type = PyErr_NewExceptionWithDoc(name.c_str(), kind.doc, bases.ptr(), nullptr);
    if (kind.type == nullptr) nb::raise_python_error();
    module.attr(kind.name) = nb::borrow(kind.type);
  }
  nb::register_exception_translator([](const std::exception_ptr& error, void*) {
    const auto raise = [](const Error& e) {
      for (const Kind& kind : kinds()) {
        if (kind.code == e.code()) PyErr_SetString(kind.type, shown_text(e.what()).c_str());
      }
    };
    try {
      std::rethrow_exception(error);
    } catch (const Error& e) {
      raise(e);
    } catch (const std::exception& e) {
      const auto known = error_from(e);
      if (!known) throw;  // for nanobind's own translation
      raise(*known);
    }
  });
}

}  // namespace headrace::python
