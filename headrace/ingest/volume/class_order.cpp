#include "headrace/ingest/volume/class_order.hpp"

#include <filesystem>

#include "headrace/core/error.hpp"
#include "headrace/core/input_path.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/core/read_file.hpp"
#include "headrace/core/text.hpp"
#include "headrace/ingest/volume/dataset_labels.hpp"
#include "headrace/ingest/volume/named_classes.hpp"

namespace headrace::ingest {

void check_class_order(const std::vector<std::string>& given,
                       const std::vector<std::string>& stated, const std::string& path) {
  if (states_values(given, to_string(Option{"classes"}))) return;
  for (std::size_t value = 0; value < given.size(); ++value) {
    const std::string name = given[value].substr(0, given[value].find('='));
    for (std::size_t other = 0; other < stated.size(); ++other) {
      if (other == value || folded_name(stated[other]) != folded_name(name)) continue;
      fail(ErrorCode::usage,
           "{}: '{}' has the value {}, but {} in the list of classes here, so classes would be "
           "swapped; state the values of the masks ({} {}={})",
           path, name, other, value, Option{"classes"}, name, other);
    }
  }
}

void check_class_order_beside(const std::vector<std::string>& given, const std::string& folder) {
  const std::string path = (std::filesystem::path(folder) / "dataset.json").string();
  if (given.empty() || folder.empty() || input_kind(path) != InputKind::file) return;
  const std::string text = read_file(path);
  if (!parse_json(text, path).contains("labels")) return;
  check_class_order(given, read_label_list(text, path).classes, path);
}

}  // namespace headrace::ingest
