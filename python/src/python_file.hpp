#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "headrace/storage/store.hpp"
#include "python/src/bindings.hpp"

namespace headrace::python {

/// An object whose bytes a callable of Python gives: read(offset, count) returns exactly `count`
/// bytes, or raises. Library threads call it, several at once. Make it with the GIL; everything
/// else may be done with or without, since it takes the GIL where it needs it.
/// What the callable raises comes out of reads as it is, as nb::python_error.
/// name: for error texts. Errors of reads: also corrupt (the object ends earlier), io (the
/// interpreter is ending, other than the bytes that were asked for).
std::shared_ptr<const storage::Object> open_python_file(std::string name, std::uint64_t size_bytes,
                                                        nb::object read);

}  // namespace headrace::python
