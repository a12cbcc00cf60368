#include "learn/inference/make_net.hpp"

#include <algorithm>

#include "headrace/core/error.hpp"
#include "learn/inference/python_plugin.hpp"
#include "learn/model/unet2d.hpp"
#include "learn/model/unet3d.hpp"

namespace headrace::inference {
namespace {

template <typename Axes>
std::vector<Axes> by_axis(const std::vector<std::vector<int>>& levels) {
  std::vector<Axes> out(levels.size());
  for (std::size_t l = 0; l < levels.size(); ++l) {
    std::copy_n(levels[l].begin(), out[l].size(), out[l].begin());
  }
  return out;
}

}  // namespace

std::unique_ptr<model::SegmentationNet> make_net(const config::RunConfig& config,
                                                 std::size_t classes, std::int64_t channels,
                                                 bool channels_last) {
  const config::RunConfig::Model& model = config.model;
  const auto contexts = static_cast<std::int64_t>(config.patch.context.size());
  if (model.own.given()) {
    const auto outputs = static_cast<std::int64_t>(classes);
    const NetworkShape shape{config.volumes ? channels : 3 * contexts, outputs,
                             config.sampling.seed};
    return std::make_unique<model::OutsideNet>(python_network(model.own, shape), outputs,
                                               config.sampling.seed, !config.volumes);
  }
  const auto fitting = config.volumes ? config::NetworkName::unet3d : config::NetworkName::unet2d;
  if (model.name != fitting) {
    fail(ErrorCode::usage, "model.name: '{}' is not for {}; there is {}.", name_of(model.name),
         config.volumes ? "volumes" : "slides", name_of(fitting));
  }
  if (config.volumes) {
    return std::make_unique<model::UNet3d>(
        model::UNet3dConfig{model.widths, static_cast<int>(channels), static_cast<int>(classes),
                            config.sampling.seed, by_axis<model::UNet3dConfig::Axes>(model.strides),
                            by_axis<model::UNet3dConfig::Axes>(model.kernels), channels_last});
  }
  return std::make_unique<model::UNet2d>(model::UNet2dConfig{
      model.widths, config.patch.context, static_cast<int>(classes), config.sampling.seed,
      by_axis<model::UNet2dConfig::Axes>(model.strides), channels_last});
}

}  // namespace headrace::inference
