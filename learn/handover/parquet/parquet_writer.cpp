#include "learn/handover/parquet/parquet_writer.hpp"

#include <bit>
#include <set>
#include <span>
#include <string_view>

#include "headrace/core/error.hpp"
#include "headrace/storage/atomic_file.hpp"
#include "learn/handover/parquet/thrift_compact.hpp"

namespace headrace::handover {
namespace {

constexpr std::string_view kMagic = "PAR1";
constexpr std::int64_t kGroupRows = 65536;
/// Sizes of pages are stored in 31 bits.
constexpr std::size_t kGroupBytes = 64 << 20;

// Numbers of parquet.thrift.
constexpr std::int32_t kFormatVersion = 1;
constexpr std::int32_t kRequired = 0, kOptional = 1;
constexpr std::int32_t kUtf8 = 0;
constexpr std::int32_t kPlain = 0, kRle = 3;
constexpr std::int32_t kUncompressed = 0;
constexpr std::int32_t kDataPage = 0;

std::int32_t physical_type(ParquetType type) {
  switch (type) {
    case ParquetType::boolean:
      return 0;
    case ParquetType::int64:
      return 2;
    case ParquetType::float64:
      return 5;
    case ParquetType::text:
      break;
  }
  return 6;
}

template <typename Unsigned>
void put_little_endian(std::string& to, Unsigned value) {
  for (std::size_t byte = 0; byte < sizeof(Unsigned); ++byte)
    to += static_cast<char>(value >> (8 * byte) & 0xff);
}

/// The first in the lowest bit of a byte.
std::string packed_bits(const std::vector<bool>& bits) {
  std::string out((bits.size() + 7) / 8, '\0');
  for (std::size_t i = 0; i < bits.size(); ++i) {
    if (bits[i]) out[i / 8] = static_cast<char>(out[i / 8] | 1 << (i % 8));
  }
  return out;
}

/// Definition levels of one bit: their size, and a bit-packed run of the hybrid encoding.
std::string definition_levels(const std::vector<bool>& defined) {
  const std::string bits = packed_bits(defined);
  std::string run;
  append_varint(run, static_cast<std::uint64_t>(bits.size()) << 1 | 1);
  run += bits;
  std::string out;
  put_little_endian(out, static_cast<std::uint32_t>(run.size()));
  return out + run;
}

std::string page_header(std::int64_t rows, std::size_t bytes) {
  ThriftCompact header;
  header.put_i32(1, kDataPage);
  header.put_i32(2, static_cast<std::int32_t>(bytes));
  header.put_i32(3, static_cast<std::int32_t>(bytes));
  header.begin_struct(5);
  header.put_i32(1, static_cast<std::int32_t>(rows));
  header.put_i32(2, kPlain);
  header.put_i32(3, kRle);
  header.put_i32(4, kRle);
  header.end();
  header.end();
  return header.bytes();
}

void put_schema(ThriftCompact& footer, const std::vector<ParquetColumn>& columns) {
  footer.begin_list_of_structs(2, columns.size() + 1);
  footer.begin_element();
  footer.put_text(4, "table");
  footer.put_i32(5, static_cast<std::int32_t>(columns.size()));
  footer.end();
  for (const ParquetColumn& column : columns) {
    footer.begin_element();
    footer.put_i32(1, physical_type(column.type));
    footer.put_i32(3, column.optional ? kOptional : kRequired);
    footer.put_text(4, column.name);
    if (column.type == ParquetType::text) {
      footer.put_i32(6, kUtf8);
      footer.begin_struct(10);  // logicalType
      footer.begin_struct(1);   // STRING
      footer.end();
      footer.end();
    }
    footer.end();
  }
}

/// ColumnChunk with its ColumnMetaData.
void put_chunk(ThriftCompact& footer, const ParquetColumn& column, std::int64_t rows,
               std::int64_t offset, std::int64_t bytes) {
  footer.begin_element();
  footer.put_i64(2, offset);
  footer.begin_struct(3);
  footer.put_i32(1, physical_type(column.type));
  footer.begin_list_of_i32(2, 2);
  footer.element_i32(kPlain);
  footer.element_i32(kRle);
  footer.begin_list_of_texts(3, 1);
  footer.element_text(column.name);
  footer.put_i32(4, kUncompressed);
  footer.put_i64(5, rows);
  footer.put_i64(6, bytes);
  footer.put_i64(7, bytes);
  footer.put_i64(9, offset);
  footer.end();
  footer.end();
}

}  // namespace

ParquetWriter::ParquetWriter(const std::filesystem::path& path, std::vector<ParquetColumn> columns)
    : columns_(std::move(columns)), file_(path.string()), buffers_(columns_.size()) {
  std::set<std::string> names;
  for (const ParquetColumn& column : columns_) {
    if (!names.insert(column.name).second) {
      fail(ErrorCode::usage, "{}: two columns are named '{}'", path.string(), column.name);
    }
  }
  if (columns_.empty()) fail(ErrorCode::usage, "{}: a table without columns", path.string());
  file_.append(kMagic);
}

void ParquetWriter::put(std::size_t column, const Json& cell) {
  const ParquetColumn& about = columns_[column];
  Buffer& to = buffers_[column];
  if (about.optional) to.defined.push_back(!cell.is_null());
  if (about.optional && cell.is_null()) return;
  const std::size_t before = to.values.size();
  if (about.type == ParquetType::boolean && cell.is_boolean()) {
    to.booleans.push_back(cell.get<bool>());
  } else if (about.type == ParquetType::int64 && cell.is_number_integer()) {
    put_little_endian(to.values, static_cast<std::uint64_t>(cell.get<std::int64_t>()));
  } else if (about.type == ParquetType::float64 && cell.is_number()) {
    put_little_endian(to.values, std::bit_cast<std::uint64_t>(cell.get<double>()));
  } else if (about.type == ParquetType::text && cell.is_string()) {
    const auto& text = cell.get_ref<const std::string&>();
    put_little_endian(to.values, static_cast<std::uint32_t>(text.size()));
    to.values += text;
  } else {
    fail(ErrorCode::usage, "column '{}': the value {} is not of its type", about.name,
         cell.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 80));
  }
  bytes_ += to.values.size() - before;
}

void ParquetWriter::add(const std::vector<Json>& cells) {
  if (cells.size() != columns_.size()) {
    fail(ErrorCode::usage, "a row of {} cells, expected {}, one for each column", cells.size(),
         columns_.size());
  }
  for (std::size_t column = 0; column < cells.size(); ++column) put(column, cells[column]);
  ++rows_;
  if (rows_ == kGroupRows || bytes_ >= kGroupBytes) write_group();
}

void ParquetWriter::write_group() {
  if (rows_ == 0) return;
  RowGroup group;
  group.rows = rows_;
  for (std::size_t column = 0; column < columns_.size(); ++column) {
    Buffer& buffer = buffers_[column];
    std::string page = columns_[column].optional ? definition_levels(buffer.defined) : "";
    page += columns_[column].type == ParquetType::boolean ? packed_bits(buffer.booleans)
                                                          : buffer.values;
    const std::string header = page_header(rows_, page.size());
    group.chunks.push_back({static_cast<std::int64_t>(file_.size()),
                            static_cast<std::int64_t>(header.size() + page.size())});
    file_.append(header);
    file_.append(page);
    buffer = {};
  }
  groups_.push_back(std::move(group));
  rows_ = 0;
  bytes_ = 0;
}

std::string ParquetWriter::footer() const {
  ThriftCompact footer;
  std::int64_t rows = 0;
  for (const RowGroup& group : groups_) rows += group.rows;
  footer.put_i32(1, kFormatVersion);
  put_schema(footer, columns_);
  footer.put_i64(3, rows);
  footer.begin_list_of_structs(4, groups_.size());
  for (const RowGroup& group : groups_) {
    std::int64_t bytes = 0;
    footer.begin_element();
    footer.begin_list_of_structs(1, group.chunks.size());
    for (std::size_t column = 0; column < group.chunks.size(); ++column) {
      const Chunk& chunk = group.chunks[column];
      bytes += chunk.bytes;
      put_chunk(footer, columns_[column], group.rows, chunk.offset, chunk.bytes);
    }
    footer.put_i64(2, bytes);
    footer.put_i64(3, group.rows);
    footer.end();
  }
  footer.put_text(6, "headrace");
  footer.end();
  return footer.bytes();
}

void ParquetWriter::finish() {
  write_group();
  std::string end = footer();
  put_little_endian(end, static_cast<std::uint32_t>(end.size()));
  end += kMagic;
  file_.append(end);
  file_.finish();
}

}  // namespace headrace::handover
