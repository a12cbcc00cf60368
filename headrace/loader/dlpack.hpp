#pragma once
#include "headrace/loader/batch.hpp"

struct
    DLManagedTensor;  // dlpack.h, of whichever version the consumer has: this structure's ABI stays

/// A batch's tensors for other libraries, without a copy.
/// source  https://dmlc.github.io/dlpack/latest/c_api.html
namespace headrace::loader::dlpack {

enum class Part { images, labels };

/// A tensor over the batch's own memory, which stays until the deleter is called, even if the Batch
/// is destroyed before. For a batch on a GPU call Batch::hold with the consumer's stream first: the
/// memory is written again only after the work that was put into that stream before the deleter's
/// call. The tensor is read-only.
/// errors  usage (labels of a batch without labels)
/// threads the deleter may be called on any thread
DLManagedTensor* share(const Batch& batch, Part part);

}  // namespace headrace::loader::dlpack
