#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "headrace/core/dtype.hpp"
#include "headrace/core/enum_names.hpp"
#include "headrace/core/json.hpp"
#include "headrace/pixels/stain/stain_estimate.hpp"
#include "learn/process/tile_kernel.hpp"

namespace headrace::process {

enum class OperationName { save, sobel, gaussian, stain_separate, tissue_mask, normalize };

enum class Stains { ruifrok, macenko };

}  // namespace headrace::process

namespace headrace {
template <>
inline constexpr auto kNamesOf<process::OperationName> =
    names<process::OperationName>({{process::OperationName::save, "save"},
                                   {process::OperationName::sobel, "sobel"},
                                   {process::OperationName::gaussian, "gaussian"},
                                   {process::OperationName::stain_separate, "stain-separate"},
                                   {process::OperationName::tissue_mask, "tissue-mask"},
                                   {process::OperationName::normalize, "normalize"}});
template <>
inline constexpr auto kNamesOf<process::OutputType> =
    names<process::OutputType>({{process::OutputType::uint8, "uint8"},
                                {process::OutputType::uint16, "uint16"},
                                {process::OutputType::float32, "float32"}});
template <>
inline constexpr auto kNamesOf<process::Stains> = names<process::Stains>(
    {{process::Stains::ruifrok, "ruifrok"}, {process::Stains::macenko, "macenko"}});
}  // namespace headrace

namespace headrace::process {

/// What a user asks for.
struct OperationRequest {
  OperationName name = OperationName::save;
  double sigma_px = 1;               ///< gaussian: of the source level's pixels, 0.1 to 32
  Stains stains = Stains::ruifrok;   ///< stain_separate
  std::optional<OutputType> output;  ///< none: the operation's default
};

/// What some operations must know about the whole image before the first pixel can be made.
/// Integers only, so that parts may be merged in any order.
struct ImageStatistics {
  std::array<std::uint64_t, 256> darkest{};  ///< pixels by the value of their darkest channel
  pixels::StainAccumulator stain;

  void merge(const ImageStatistics& other);
};

enum class NeededStatistics {
  none,
  darkest,  ///< of every pixel
  stain     ///< of blocks evenly spread over the image
};

/// An operation on images of one kind, ready to be run tile by tile.
///
///   save            the pixels unchanged; uint8
///   sobel           luminance → gradient magnitude, one channel; float32, 1.0 is full range
///   gaussian        each channel blurred, 4 sigma wide; uint8; float32 is a fraction of full range
///   stain_separate  amounts of haematoxylin and eosin in base-10 optical density; float32;
///                   integers are amounts times 100 (uint8) or 10,000 (uint16)
///   tissue_mask     1 where the optical density of the darkest channel is above Otsu's threshold,
///                   limited to 0.05 to 0.15; uint8. A clean-up of small objects and holes would
///                   need neighbours beyond any halo and is not done; `ingest` makes such masks
///   normalize       Macenko normalisation to the built-in reference; uint8, float32 as gaussian
class Operation {
 public:
  /// channels: of the image, 1 or 3. Errors: usage (a sigma out of range, an output type that the
  /// operation does not have, a grey image where colour is needed).
  Operation(const OperationRequest& request, int channels);

  NeededStatistics needs() const noexcept { return needs_; }
  /// Call before the first tile, where needs() asks for it. Errors: unsupported (an image without
  /// stained tissue has no stains of its own).
  void learn(const ImageStatistics& statistics);

  int channels() const noexcept { return static_cast<int>(channel_names_.size()); }
  const std::vector<std::string>& channel_names() const noexcept { return channel_names_; }
  int halo() const noexcept { return kernel_.radius; }
  OutputType output() const noexcept { return kernel_.out.type; }
  DType dtype() const noexcept;
  /// A kernel, complete except for its source, tile and destination.
  const TileKernel& kernel() const noexcept { return kernel_; }
  /// All that decides the result, for the output's metadata.
  Json describe() const;

 private:
  void set_gaussian(double sigma_px);
  void set_density(const std::array<double, 6>& unmixing);

  OperationRequest request_;
  NeededStatistics needs_ = NeededStatistics::none;
  std::vector<std::string> channel_names_;
  TileKernel kernel_{};
  Json learnt_ = Json::object();
};

}  // namespace headrace::process
