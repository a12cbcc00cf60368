#include "cli/config_keys.hpp"

#include <fmt/format.h>

#include "headrace/transform/slide/slide_spec.hpp"
#include "headrace/transform/spec_reader.hpp"
#include "headrace/transform/volume/volume_spec.hpp"
#include "learn/config/run_config.hpp"

namespace headrace::cli {
namespace {

/// Slides' text, and volumes' where it is another one.
std::string for_both(const std::string& slides, const std::string& volumes) {
  return slides == volumes ? slides : fmt::format("{}; volumes: {}", slides, volumes);
}

void print_key(const std::string& key, const std::string& usual, const std::string& text,
               const std::string& accepts) {
  fmt::print("  {:<26} {:<22} {} ({})\n", key, usual, text, accepts);
}

template <typename Registry>
void print_operations(const char* title) {
  fmt::print("\n{}\n", title);
  for (const auto& operation : transform::OperationsOf<Registry>::facts()) {
    if (operation.options.empty()) fmt::print("  {}\n", operation.name);
    for (const KeyFacts& option : operation.options) {
      print_key(fmt::format("{}.{}", operation.name, option.key), option.default_text, option.text,
                option.accepts);
    }
  }
}

}  // namespace

void print_config_keys() {
  const auto slides = config::RunConfig::keys(false), volumes = config::RunConfig::keys(true);
  fmt::print("Key, default, what it is (what it accepts)\n");
  for (std::size_t i = 0; i < slides.size(); ++i) {
    print_key(slides[i].key, for_both(slides[i].default_text, volumes[i].default_text),
              slides[i].text, for_both(slides[i].accepts, volumes[i].accepts));
  }
  print_operations<transform::TransformSpec>("Operations of transforms, for slides");
  print_operations<transform::VolumeTransformSpec>("Operations of transforms, for volumes");
}

}  // namespace headrace::cli
