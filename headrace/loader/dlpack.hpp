#pragma once
#include <cstdint>

#include "headrace/loader/batch.hpp"

/// A batch's tensors for other libraries, without a copy.
///
/// The structures are restated from DLPack 1.0 (ABI of DLManagedTensor), in a separate namespace,
/// so that code can include DLPack's dlpack.h as well.
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
  std::uint16_t device_slots;
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
  void (*deleter)(ManagedTensor* self);  ///< called once by the consumer
};

enum class Part { images, labels };

/// A tensor over the batch's own memory, which stays until the deleter is called, even if the Batch
/// is destroyed before. For a batch on a GPU call Batch::hold with the consumer's stream first: the
/// memory is written again only after the work that was put into that stream before the deleter's
/// call. The tensor is read-only.
/// errors  usage (labels of a batch without labels)
/// threads the deleter may be called on any thread
ManagedTensor* share(const Batch& batch, Part part);

}  // namespace headrace::loader::dlpack
