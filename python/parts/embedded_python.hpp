#pragma once
#include <Python.h>

#include <string>
#include <utility>

namespace headrace::python {

/// Holds the GIL.
class Gil {
 public:
  Gil() : state_(PyGILState_Ensure()) {}
  ~Gil() { PyGILState_Release(state_); }
  Gil(const Gil&) = delete;
  Gil& operator=(const Gil&) = delete;

 private:
  PyGILState_STATE state_;
};

/// A reference of its own.
class Object {
 public:
  Object() = default;
  explicit Object(PyObject* own) : own_(own) {}
  Object(Object&& other) noexcept : own_(std::exchange(other.own_, nullptr)) {}
  Object& operator=(Object&& other) noexcept {
    std::swap(own_, other.own_);
    return *this;
  }
  ~Object() { Py_XDECREF(own_); }
  PyObject* get() const noexcept { return own_; }

 private:
  PyObject* own_ = nullptr;
};

/// What `text` says; "?" where it is not text.
std::string text_of(PyObject* text);
/// A result of Python's interface, or std::invalid_argument with the error that it left: "ValueError:
/// … (my_nets.py:12)". With the GIL.
Object checked(PyObject* result);
/// The module headrace_parts in the Python of this process, which is started once and never ended:
/// LibTorch may hold objects of it to the end. Errors: std::runtime_error (no such Python, no torch
/// of this version there).
PyObject* helper();

}  // namespace headrace::python
