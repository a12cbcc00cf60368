#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::handover {

/// Appends a number as ULEB128: seven bits a byte, the lowest first.
void append_varint(std::string& to, std::uint64_t value);

/// Structures in Apache Thrift's compact protocol, as far as Parquet's headers and footer need it.
/// Fields are given in ascending order of their ids, which each structure counts on its own.
/// source: https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
class ThriftCompact {
 public:
  void put_i32(int id, std::int32_t value);
  void put_i64(int id, std::int64_t value);
  void put_text(int id, std::string_view text);
  /// A structure as a field; `end` closes it.
  void begin_struct(int id);
  /// A list as a field, whose elements follow: by element_… or begin_element.
  void begin_list_of_structs(int id, std::size_t size);
  void begin_list_of_i32(int id, std::size_t size);
  void begin_list_of_texts(int id, std::size_t size);
  void begin_element();  ///< a structure in a list; `end` closes it
  void element_i32(std::int32_t value);
  void element_text(std::string_view text);
  /// Closes the innermost structure; once more at the end for the outermost.
  void end();

  const std::string& bytes() const noexcept { return bytes_; }

 private:
  void field(int id, int type);
  void list(int id, int element_type, std::size_t size);
  void zigzag(std::int64_t value);

  std::string bytes_;
  std::vector<int> last_id_{0};  ///< of the field before, by depth
};

}  // namespace headrace::handover
