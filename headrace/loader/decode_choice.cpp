#include "headrace/loader/decode_choice.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/core/log.hpp"
#include "headrace/loader/level_choice.hpp"
#include "headrace/loader/recipe.hpp"

namespace headrace::loader::detail {
namespace {

using Arrays = std::vector<std::shared_ptr<const zarr::Array>>;

// The arrays that samples of an image are read from.
void add_arrays(const Recipe& recipe, std::size_t image, Arrays& arrays) {
  const source::ImageRecord& record = recipe.cohort->images()[image];
  const RunConfig& config = recipe.config;
  const auto add = [&](std::size_t level) {
    arrays.push_back(recipe.cohort->image_array(image, level));
  };
  const std::size_t finest = config.volumes
                                 ? choose_volume_level(record, config)
                                 : choose_level(record, config.patch.context.front(), config);
  if (config.volumes) {
    add(finest);
  } else {
    for (const int context : config.patch.context) add(choose_level(record, context, config));
  }
  const auto& labels = record.labels;
  if (recipe.with_labels &&
      std::find(labels.begin(), labels.end(), config.data.labels) != labels.end()) {
    arrays.push_back(recipe.cohort->label_array(image, config.data.labels, finest));
  }
}

// One image of each codec: what an image was ingested with, all of its levels have.
Arrays arrays_of(const Recipe& recipe) {
  Arrays arrays;
  std::set<std::string> codecs;
  const auto& images = recipe.cohort->images();
  for (std::size_t i = 0; i < images.size(); ++i) {
    if (recipe.plan->random() && images[i].split != recipe.config.data.train) continue;
    if (codecs.insert(images[i].codec).second) add_arrays(recipe, i, arrays);
  }
  return arrays;
}

// Why the GPU is not to decode this array; empty where it is.
std::string refused(const zarr::Array& array, zarr::DecodeOn on) {
  const zarr::GpuDecoders& here = zarr::GpuDecoders::here();
  if (const std::string codec = array.host_only(); !codec.empty()) {
    return fmt::format("{} of {} is decoded by the host alone", codec, array.path());
  }
  if (!array.is_jpeg()) return here.no_streams;
  if (!here.no_jpeg.empty()) return here.no_jpeg;
  if (on == zarr::DecodeOn::gpu) return {};
  return fmt::format("{} holds JPEGs. {}", array.path(), zarr::kJpegStaysOnCpu);
}

}  // namespace

DecodeChoice choose_decoding(const Recipe& recipe) {
  const RunConfig::Loader& loader = recipe.config.loader;
  DecodeChoice choice{zarr::parse_decode_on(loader.decode), {}};
  if (recipe.device_index < 0) {
    const bool gpu = choice.on == zarr::DecodeOn::gpu;
    if (gpu || loader.gpudirect == "on") {
      fail(ErrorCode::usage,
           "loader.{} is '{}', which is for batches made on a GPU, but these are made on the CPU. "
           "Set loader.device to cuda, or leave the key out",
           gpu ? "decode" : "gpudirect", gpu ? loader.decode : loader.gpudirect);
    }
    return {};
  }
  if (choice.on == zarr::DecodeOn::cpu) return choice;
  for (const auto& array : arrays_of(recipe)) {
    choice.left_to_cpu = refused(*array, choice.on);
    if (choice.left_to_cpu.empty()) continue;
    if (choice.on == zarr::DecodeOn::gpu) {
      fail(ErrorCode::unsupported, "loader.decode is 'gpu', but: {}. Set it to auto or cpu",
           choice.left_to_cpu);
    }
    log::info("chunks are decoded on the CPU: {}", choice.left_to_cpu);
    choice.on = zarr::DecodeOn::cpu;
    break;
  }
  return choice;
}

}  // namespace headrace::loader::detail
