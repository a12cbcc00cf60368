#pragma once
#include <cstdint>

#include "headrace/loader/batch.hpp"

/// A batch's tensors for other libraries, without a copy.
///
/// The structures are restated from DLPack 1.0 (ABI of DLManagedTensor), in a namespace of their
/// own, so that who has its dlpack.h includes both.
/// source  https://dmlc.github.io/dlpack/latest/c_api.html
namespace headrace::loader::dlpack {

enum class DeviceType : std::int32_t { cpu = 1, cuda = 2 };
enum class TypeCode : std::uint8_t { unsigned_integer = 1, floating = 2, bfloat = 4 };

struct Device {
  DeviceType type;
  std::int32_t id;
};
struct DataType {
  TypeCode code;
  std::uint8_t bits;
  std::uint16_t lanes;
};
struct Tensor {
  void* data;
  Device device;
  std::int32_t ndim;
  DataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  ///< elements
  std::uint64_t byte_offset;
};
struct ManagedTensor {
  Tensor tensor;
  void* manager;
  void (*deleter)(ManagedTensor* self);  ///< called once by who has taken it
};

enum class Part { images, labels };

/// A tensor over the batch's own memory, which stays until the deleter is called, the Batch itself
/// or not. A batch on a GPU is held for the consumer's stream by Batch::hold, called first: the
/// memory is written again only after what that stream was given until the deleter's call. It is
/// only to be read.
/// errors  usage (labels of a batch without)
/// threads the deleter may be called on any
ManagedTensor* share(const Batch& batch, Part part);

}  // namespace headrace::loader::dlpack
