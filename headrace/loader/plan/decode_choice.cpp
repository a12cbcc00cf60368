#include "headrace/loader/plan/decode_choice.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/core/log.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/loader/plan/level_choice.hpp"
#include "headrace/loader/plan/loader_plan.hpp"
#include "headrace/storage/cufile.hpp"

namespace headrace::loader {

void check_decoding_keys(const LoaderConfig& config, bool on_gpu) {
  const LoaderConfig::Loader& loader = config.loader;
  const bool decode = loader.decode == zarr::DecodeOn::gpu;
  if (on_gpu || (!decode && loader.gpudirect != storage::GpuDirect::on)) return;
  fail(ErrorCode::usage,
       "loader.{} is '{}', which is for batches made on a GPU, but these are made on the CPU. Set "
       "loader.device to cuda, or leave the key out",
       decode ? "decode" : "gpudirect",
       decode ? name_of(loader.decode) : name_of(loader.gpudirect));
}

namespace detail {
namespace {

using Arrays = std::vector<std::shared_ptr<const zarr::Array>>;

// The arrays that samples of an image are read from.
void add_arrays(const LoaderPlan& loader_plan, std::size_t image, Arrays& arrays) {
  const cohort::ImageRecord& record = loader_plan.cohort->images()[image];
  const LoaderConfig& config = loader_plan.config;
  const auto add = [&](std::size_t level) {
    arrays.push_back(loader_plan.cohort->image_array(image, level));
  };
  const std::size_t finest =
      config.volumes ? choose_volume_level(record, config)
                     : choose_level(record, loader_plan.views.front().graph.patch().mpp, config);
  if (config.volumes) {
    add(finest);
  } else {
    for (const ViewPlan& view : loader_plan.views) {
      const transform::PatchSpec& patch = view.graph.patch();
      for (const int context : patch.context)
        add(choose_level(record, patch.mpp * context, config));
    }
  }
  if (loader_plan.with_labels && record.has_labels(config.data.labels)) {
    arrays.push_back(loader_plan.cohort->label_array(image, config.data.labels, finest));
  }
}

// One image of each codec: all levels of an image have the codec of its ingest. By reference, some
// levels are the file's and others the store's, for each image in its own way.
Arrays arrays_of(const LoaderPlan& loader_plan) {
  Arrays arrays;
  std::set<std::string> codecs;
  const auto& images = loader_plan.cohort->images();
  for (std::size_t i = 0; i < images.size(); ++i) {
    if (loader_plan.plan->random() && images[i].split != loader_plan.config.data.train) continue;
    const bool first = codecs.insert(images[i].codec).second;
    if (first || loader_plan.cohort->by_reference()) add_arrays(loader_plan, i, arrays);
  }
  return arrays;
}

// Why the GPU does not decode this array; empty where it does.
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

void choose_decoder(const Arrays& arrays, DecodeChoice& choice) {
  if (choice.on == zarr::DecodeOn::cpu) return;
  for (const auto& array : arrays) {
    choice.left_to_cpu = refused(*array, choice.on);
    if (choice.left_to_cpu.empty()) continue;
    if (choice.on == zarr::DecodeOn::gpu) {
      fail(ErrorCode::unsupported, "loader.decode is 'gpu', but: {}. Set it to auto or cpu",
           choice.left_to_cpu);
    }
    log::info("chunks are decoded on the CPU: {}", choice.left_to_cpu);
    choice.on = zarr::DecodeOn::cpu;
    return;
  }
}

// Why files are not read straight into the GPU's memory; empty where they are.
std::string not_direct(const Arrays& arrays, const DecodeChoice& choice) {
  if (choice.on == zarr::DecodeOn::cpu) {
    return choice.left_to_cpu.empty() ? "loader.decode is cpu" : choice.left_to_cpu;
  }
  for (const auto& array : arrays) {
    if (array->is_read_unseen()) continue;
    return fmt::format(
        "where the streams of {} lie shows in its chunks alone, which only the host can look into",
        array->path());
  }
  return storage::Cufile::shared().missing();
}

void choose_reader(const Arrays& arrays, storage::GpuDirect wanted, DecodeChoice& choice) {
  if (wanted == storage::GpuDirect::off) return;
  const std::string why = not_direct(arrays, choice);
  if (why.empty()) {
    choice.direct = wanted;
    choice.read_by = "cuFile";
    return;
  }
  if (wanted == storage::GpuDirect::on) {
    fail(ErrorCode::unsupported,
         "loader.gpudirect is 'on', but: {}. GPUDirect is for chunks ingested with {} zstd "
         "{} 4096, where cuFile starts; else set it to auto or off",
         why, Option{"codec"}, Option{"align"});
  }
  choice.read_by = fmt::format("the host: {}", why);
  log::info("chunks are read by the host: {}", why);
}

}  // namespace

DecodeChoice choose_decoding(const LoaderPlan& loader_plan) {
  const LoaderConfig::Loader& loader = loader_plan.config.loader;
  DecodeChoice choice{loader.decode, {}};
  check_decoding_keys(loader_plan.config, loader_plan.device_index >= 0);
  if (loader_plan.device_index < 0) return {};
  const Arrays arrays =
      choice.on == zarr::DecodeOn::cpu && loader.gpudirect == storage::GpuDirect::off
          ? Arrays{}
          : arrays_of(loader_plan);
  choose_decoder(arrays, choice);
  choose_reader(arrays, loader.gpudirect, choice);
  return choice;
}

}  // namespace detail
}  // namespace headrace::loader
