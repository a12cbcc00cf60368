#include "learn/handover/findings_table.hpp"

#include <span>

#include "headrace/core/error.hpp"
#include "headrace/core/read_file.hpp"
#include "headrace/storage/atomic_file.hpp"

namespace headrace::handover {

std::filesystem::path findings_table(const result::ImageResult& result, const std::string& table) {
  std::filesystem::path source = result.folder() / table;
  if (!std::filesystem::exists(source)) {
    fail(ErrorCode::not_found, "{}: not there; a run that looks for no lesions has no such table",
         source.string());
  }
  return source;
}

void write_findings_table(const result::ImageResult& result, const std::string& table,
                          const std::filesystem::path& path) {
  const std::string text = read_file(findings_table(result, table));
  storage::write_file(path.string(), std::as_bytes(std::span(text)));
}

}  // namespace headrace::handover
