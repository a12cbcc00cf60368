#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"
#include "headrace/storage/atomic_file.hpp"

namespace headrace::handover {

/// How a column's values are stored.
enum class ParquetType {
  boolean,
  int64,
  float64,
  text  ///< UTF-8 (BYTE_ARRAY, STRING)
};

struct ParquetColumn {
  std::string name;
  ParquetType type = ParquetType::text;
  bool optional = true;  ///< whether a cell may be null
};

/// Writes a flat table as Apache Parquet, format version 1: data pages of version 1, PLAIN, not
/// compressed, one page for each column of a row group, so that every reader reads it. The file
/// appears whole or not at all; the same cells give the same bytes. One thread.
///
/// source  https://github.com/apache/parquet-format (README.md, Encodings.md, parquet.thrift)
/// memory  one row group: 65,536 rows, fewer where their cells are long
class ParquetWriter {
 public:
  /// Errors: usage (no columns, two of one name), io.
  ParquetWriter(const std::filesystem::path& path, std::vector<ParquetColumn> columns);

  /// The next row: a cell for each column; null, or of the column's type (a whole number is a
  /// float64 too). Errors: usage (another number of cells, or a cell of another type; names it).
  void add(const std::vector<Json>& cells);
  /// After the last row. Errors: io.
  void finish();

 private:
  struct Buffer {
    std::string values;          ///< PLAIN
    std::vector<bool> booleans;  ///< of a boolean column, instead of `values`
    std::vector<bool> defined;   ///< of an optional column: whether row i has a value
  };
  struct Chunk {
    std::int64_t offset = 0, bytes = 0;
  };
  struct RowGroup {
    std::int64_t rows = 0;
    std::vector<Chunk> chunks;
  };

  void put(std::size_t column, const Json& cell);
  void write_group();
  std::string footer() const;

  std::vector<ParquetColumn> columns_;
  storage::AtomicFile file_;
  std::vector<Buffer> buffers_;
  std::int64_t rows_ = 0;  ///< in the buffers
  std::size_t bytes_ = 0;
  std::vector<RowGroup> groups_;
};

}  // namespace headrace::handover
