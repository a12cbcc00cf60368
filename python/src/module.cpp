#include "headrace/version.hpp"
#include "python/src/bindings.hpp"

NB_MODULE(_core, module) {
  module.doc() = "The C++ part of headrace; use the package headrace.";
  module.attr("__version__") = headrace::kVersion;
  headrace::python::bind_errors(module);
  headrace::python::bind_store(module);
  headrace::python::bind_slide(module);
  headrace::python::bind_tissue(module);
  headrace::python::bind_patch_pixels(module);
  headrace::python::bind_loader(module);
  headrace::python::bind_augment(module);
  headrace::python::bind_evaluate(module);
  headrace::python::bind_work(module);
}
