#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "headrace/core/csv_line.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/folder_walk.hpp"
#include "headrace/core/json.hpp"
#include "headrace/core/log.hpp"
#include "headrace/core/text.hpp"
#include "headrace/core/utf8.hpp"
#include "headrace/storage/place.hpp"
#include "headrace/storage/s3_listing.hpp"
#include "headrace/storage/s3_site.hpp"

namespace headrace::cli {
namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  headrace --s3-endpoint https://s3.site:9000 ls s3://slides/2025 --ending .svs,.tif > "
    "cases.csv\n"
    "  headrace ls slides --sizes\n"
    "\n"
    "The column `file` is that of `headrace ingest slides --table`, to which others are added by "
    "hand.\n"
    "Nothing else lists a bucket, so its keys need the right to list for this alone.\n"
    "Exit codes: 0 done, 1 failed, 2 usage.";

struct Arguments {
  std::string place;
  std::vector<std::string> endings;
  bool sizes = false, json = false;
};

bool is_wanted(const std::string& file, const std::vector<std::string>& endings) {
  if (endings.empty()) return true;
  const std::string name = lowered(file);
  return std::any_of(endings.begin(), endings.end(),
                     [&](const std::string& ending) { return name.ends_with(lowered(ending)); });
}

/// Each file below the place, with its size.
template <typename Take>
void visit(const storage::Place& place, const Take& take) {
  if (storage::is_s3(place)) {
    storage::list_objects(
        place, [&](const storage::ListedObject& object) { take(object.url, object.size_bytes); });
    return;
  }
  if (place.is_url())
    fail(ErrorCode::unsupported, "{}: what lies there can't be listed; only folders and s3:// can",
         place.describe());
  if (!std::filesystem::is_directory(place.path()))
    fail(ErrorCode::not_found, "{}: there is no such folder", place.describe());
  walk_folder(place.path(), [&](const std::filesystem::directory_entry& entry) {
    if (entry.is_regular_file()) take(entry.path().string(), entry.file_size());
  });
}

void run(const Arguments& a) {
  // Printed when all is known, so that a list that broke off is not taken for a whole one.
  std::string table = a.sizes ? "file,size_bytes\n" : "file\n";
  Json files = Json::array();
  visit(storage::Place::parse(a.place), [&](const std::string& file, std::uint64_t size) {
    if (!is_wanted(file, a.endings)) return;
    if (first_control(file) || first_not_utf8(file)) {  // a line break would be another row
      log::warning("{}: left out, since its name has control characters, or is not UTF-8",
                   Json(file).dump(-1, ' ', true, Json::error_handler_t::replace));
      return;
    }
    if (a.json) {
      files.push_back({{"file", file}, {"size_bytes", size}});
    } else {
      table += a.sizes ? csv_line({file, size}) : csv_line({file});
    }
  });
  fmt::print("{}", a.json ? dump_json({{"files", files}}) : table);
}

}  // namespace

void add_ls(Command app) {
  Command ls = app.subcommand("ls", "Lists the files of a bucket or folder, as a table to ingest.");
  ls.footer(kFooter);
  auto arguments = std::make_shared<Arguments>();
  ls.option("PLACE", arguments->place, "s3://bucket, s3://bucket/folder, or a folder").required();
  ls.option("--ending", arguments->endings,
            "files alone whose names end so, as .svs, whatever their case, separated by commas")
      .separated_by_commas();
  ls.flag("--sizes", arguments->sizes, "a column size_bytes, too");
  ls.flag("--json", arguments->json, "print one JSON object");
  ls.callback([arguments] { run(*arguments); });
}

}  // namespace headrace::cli
