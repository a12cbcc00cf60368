#include "learn/process/operation.hpp"

#include <algorithm>
#include <cmath>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/math/exponential.hpp"
#include "headrace/pixels/tissue/tissue_mask.hpp"
#include "headrace/transform/slide/colour_affine.hpp"
#include "headrace/transform/slide/operations/slide_stain_normalize.hpp"
#include "headrace/transform/slide/stain_vectors.hpp"

namespace headrace::process {
namespace {

constexpr double kLog10Of2 = 0.30102999566398120;
constexpr double kGaussianReach = 4;  // sigmas, as SciPy truncates

float full_range(OutputType type) {
  switch (type) {
    case OutputType::uint8:
      return 255.0f;
    case OutputType::uint16:
      return 65535.0f;
    case OutputType::float32:
      return 1.0f;
  }
  return 1.0f;
}

float amount_unit(OutputType type) {
  switch (type) {
    case OutputType::uint8:
      return 100.0f;
    case OutputType::uint16:
      return 10000.0f;
    case OutputType::float32:
      return 1.0f;
  }
  return 1.0f;
}

bool only_bytes(OperationName name) {
  return name == OperationName::save || name == OperationName::tissue_mask;
}

OutputType own_output(OperationName name) {
  return name == OperationName::sobel || name == OperationName::stain_separate ? OutputType::float32
                                                                               : OutputType::uint8;
}

KernelKind kind_of(OperationName name) {
  switch (name) {
    case OperationName::save:
      return KernelKind::copy;
    case OperationName::sobel:
      return KernelKind::sobel;
    case OperationName::gaussian:
      return KernelKind::gaussian;
    case OperationName::stain_separate:
      return KernelKind::density;
    case OperationName::tissue_mask:
      return KernelKind::mask;
    case OperationName::normalize:
      return KernelKind::recolour;
  }
  return KernelKind::copy;
}

std::vector<std::string> channels_of(OperationName name, int source_channels) {
  switch (name) {
    case OperationName::sobel:
      return {"gradient"};
    case OperationName::tissue_mask:
      return {"tissue"};
    case OperationName::stain_separate:
      return {"haematoxylin", "eosin"};
    default:
      return source_channels == 1 ? std::vector<std::string>{"grey"}
                                  : std::vector<std::string>{"red", "green", "blue"};
  }
}

}  // namespace

void ImageStatistics::merge(const ImageStatistics& other) {
  for (std::size_t i = 0; i < darkest.size(); ++i) darkest[i] += other.darkest[i];
  stain.merge(other.stain);
}

Operation::Operation(const OperationRequest& request, int channels)
    : request_(request), channel_names_(channels_of(request.name, channels)) {
  const auto colour_only = {OperationName::stain_separate, OperationName::tissue_mask,
                            OperationName::normalize};
  if (channels != 3 &&
      std::find(colour_only.begin(), colour_only.end(), request.name) != colour_only.end()) {
    fail(ErrorCode::usage, "{} needs a colour image, this one has {} channel{}",
         name_of(request.name), channels, channels == 1 ? "" : "s");
  }
  kernel_.kind = kind_of(request.name);
  kernel_.out.type = request.output.value_or(own_output(request.name));
  if (only_bytes(request.name) && kernel_.out.type != OutputType::uint8) {
    fail(ErrorCode::usage, "{} gives uint8 and nothing else", name_of(request.name));
  }
  kernel_.out.scale = full_range(kernel_.out.type);
  switch (request.name) {
    case OperationName::sobel:
      kernel_.radius = 1;
      break;
    case OperationName::gaussian:
      set_gaussian(request.sigma_px);
      break;
    case OperationName::stain_separate:
      if (request.stains == Stains::macenko) {
        needs_ = NeededStatistics::stain;
      } else {
        set_density(transform::ruifrok_unmixing());
      }
      kernel_.out.scale = amount_unit(kernel_.out.type);
      break;
    case OperationName::tissue_mask:
      needs_ = NeededStatistics::darkest;
      break;
    case OperationName::normalize:
      needs_ = NeededStatistics::stain;
      kernel_.out.scale = full_range(kernel_.out.type) / 255.0f;
      break;
    case OperationName::save:
      break;
  }
}

void Operation::set_gaussian(double sigma_px) {
  if (!(sigma_px >= 0.1 && sigma_px <= 32)) {
    fail(ErrorCode::usage, "{} {}: 0.1 to 32 pixels are possible", Option{"sigma"}, sigma_px);
  }
  kernel_.radius = static_cast<std::int32_t>(kGaussianReach * sigma_px + 0.5);
  double sum = 0;
  std::array<double, kMaxGaussianRadius + 1> weights{};
  for (int i = 0; i <= kernel_.radius; ++i) {
    const double z = i / sigma_px;
    const double w = math::exp_of(std::max(-40.0, -0.5 * z * z));
    weights[static_cast<std::size_t>(i)] = w;
    sum += i == 0 ? w : 2 * w;
  }
  for (int i = 0; i <= kernel_.radius; ++i) {
    kernel_.weights[i] = static_cast<float>(weights[static_cast<std::size_t>(i)] / sum);
  }
}

// amount = unmixing · OD, and OD = (8 - log2(v + 1)) · log10(2).
void Operation::set_density(const std::array<double, 6>& unmixing) {
  for (int stain = 0; stain < 2; ++stain) {
    const double* row = unmixing.data() + 3 * stain;
    for (int c = 0; c < 3; ++c) {
      kernel_.colour.m[4 * stain + c] = static_cast<float>(-row[c] * kLog10Of2);
    }
    kernel_.colour.m[4 * stain + 3] =
        static_cast<float>((row[0] + row[1] + row[2]) * 8 * kLog10Of2);
  }
}

void Operation::learn(const ImageStatistics& statistics) {
  if (needs_ == NeededStatistics::darkest) {
    const pixels::DarkestThreshold found = pixels::tissue_threshold(statistics.darkest);
    kernel_.threshold = found.highest_value;
    learnt_ = {{"od_threshold", found.od_threshold}, {"highest_value", found.highest_value}};
    return;
  }
  if (needs_ != NeededStatistics::stain) return;
  const auto stain = statistics.stain.estimate();
  if (!stain) {
    fail(ErrorCode::unsupported,
         "the image shows no two stains (under 1,000 stained pixels, or all of one hue), so {} has "
         "nothing to go by; {}",
         name_of(request_.name),
         request_.name == OperationName::stain_separate
             ? fmt::format("use {} ruifrok", Option{"stains"})
             : "choose an image with stained tissue");
  }
  learnt_ = {{"stain_od_rgb_he", stain->stain_od_rgb_he},
             {"max_concentration", stain->max_concentration}};
  if (request_.name == OperationName::stain_separate) {
    set_density(transform::stain_unmixing(stain->stain_od_rgb_he));
    return;
  }
  ImageColour colour;
  colour.stain_od_rgb_he = stain->stain_od_rgb_he;
  colour.max_concentration = stain->max_concentration;
  colour.has_stain = true;
  kernel_.colour = transform::density_to_log2(
                       transform::stain_normalization(colour, transform::builtin_reference()))
                       .rounded();
}

DType Operation::dtype() const noexcept {
  switch (kernel_.out.type) {
    case OutputType::uint8:
      return DType::uint8;
    case OutputType::uint16:
      return DType::uint16;
    case OutputType::float32:
      return DType::float32;
  }
  return DType::uint8;
}

Json Operation::describe() const {
  Json json{{"name", name_of(request_.name)}, {"channels", channel_names_}};
  if (request_.name == OperationName::gaussian) json["sigma_px"] = request_.sigma_px;
  if (request_.name == OperationName::stain_separate) {
    json["stains"] = name_of(request_.stains);
  }
  if (kernel_.radius > 0) json["outside"] = "reflect";
  if (!only_bytes(request_.name)) json["scale"] = kernel_.out.scale;
  for (const auto& [key, value] : learnt_.items()) json[key] = value;
  return json;
}

}  // namespace headrace::process
