#pragma once
#include <nanobind/nanobind.h>

namespace headrace::python {

namespace nb = nanobind;

// What each file adds to the module headrace._core.
void bind_errors(nb::module_& module);
void bind_store(nb::module_& module);         // stores and their images
void bind_slide(nb::module_& module);         // slide files
void bind_tissue(nb::module_& module);        // slide files: tissue, which files are one slide
void bind_patch_pixels(nb::module_& module);  // patches to what a network takes
void bind_loader(nb::module_& module);        // batches
void bind_augment(nb::module_& module);       // transforms on arrays
void bind_evaluate(nb::module_& module);      // figures of arrays
void bind_work(nb::module_& module);          // ingest, verify, process; progress and log

}  // namespace headrace::python
