#include "headrace/transform/slide/slide_spec.hpp"

#include "headrace/transform/spec_reader.hpp"

namespace headrace::transform {

std::vector<TransformSpec> parse_transforms(const YamlValue& list) {
  std::vector<TransformSpec> specs;
  if (list.is_null()) return specs;
  for (const YamlValue& entry : list.as_list()) specs.push_back(read_entry<TransformSpec>(entry));
  return specs;
}

Json to_json(const TransformList& specs) {
  Json list = Json::array();
  for (const TransformSpec& spec : specs) {
    Json entry = Json::object();
    entry[name_of(spec)] = options_json(spec);
    list.push_back(entry);
  }
  return list;
}

std::string name_of(const TransformSpec& spec) { return operation_name(spec); }

}  // namespace headrace::transform
