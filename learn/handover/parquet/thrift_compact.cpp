#include "learn/handover/parquet/thrift_compact.hpp"

namespace headrace::handover {
namespace {

constexpr int kI32 = 5, kI64 = 6, kBinary = 8, kList = 9, kStruct = 12;
constexpr int kShortStep = 15;          // of ids, that fits beside the type
constexpr std::size_t kShortSize = 15;  // of lists, below which it fits beside the type
constexpr unsigned kLongSize = 0xf0;

}  // namespace

void append_varint(std::string& to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) to += static_cast<char>((value & 0x7f) | 0x80);
  to += static_cast<char>(value);
}

void ThriftCompact::zigzag(std::int64_t value) {
  append_varint(bytes_,
                static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
}

void ThriftCompact::field(int id, int type) {
  const int step = id - last_id_.back();
  if (step > 0 && step <= kShortStep) {
    bytes_ += static_cast<char>(step << 4 | type);
  } else {
    bytes_ += static_cast<char>(type);
    zigzag(id);
  }
  last_id_.back() = id;
}

void ThriftCompact::put_i32(int id, std::int32_t value) {
  field(id, kI32);
  zigzag(value);
}

void ThriftCompact::put_i64(int id, std::int64_t value) {
  field(id, kI64);
  zigzag(value);
}

void ThriftCompact::put_text(int id, std::string_view text) {
  field(id, kBinary);
  element_text(text);
}

void ThriftCompact::begin_struct(int id) {
  field(id, kStruct);
  begin_element();
}

void ThriftCompact::list(int id, int element_type, std::size_t size) {
  field(id, kList);
  if (size < kShortSize) {
    bytes_ += static_cast<char>(size << 4 | static_cast<std::size_t>(element_type));
  } else {
    bytes_ += static_cast<char>(kLongSize | static_cast<unsigned>(element_type));
    append_varint(bytes_, size);
  }
}

void ThriftCompact::begin_list_of_structs(int id, std::size_t size) { list(id, kStruct, size); }
void ThriftCompact::begin_list_of_i32(int id, std::size_t size) { list(id, kI32, size); }
void ThriftCompact::begin_list_of_texts(int id, std::size_t size) { list(id, kBinary, size); }

void ThriftCompact::begin_element() { last_id_.push_back(0); }
void ThriftCompact::element_i32(std::int32_t value) { zigzag(value); }

void ThriftCompact::element_text(std::string_view text) {
  append_varint(bytes_, text.size());
  bytes_ += text;
}

void ThriftCompact::end() {
  bytes_ += '\0';
  last_id_.pop_back();
}

}  // namespace headrace::handover
