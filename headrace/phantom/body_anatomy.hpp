#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "headrace/phantom/body_lesion.hpp"
#include "headrace/phantom/draws.hpp"
#include "headrace/phantom/noise_volume.hpp"
#include "headrace/phantom/tube.hpp"

namespace headrace::phantom {

inline constexpr float kBodyLengthMm = 440;  ///< from the pelvic floor to the heart
inline constexpr float kFieldOfViewMm = 400;

/// One synthetic patient: the places of all its parts.
struct BodySpec {
  std::uint64_t seed = 0;
  std::uint32_t patient = 0;
  std::vector<float> lesion_mm3;  ///< one lesion in the wall of the colon for each
};

/// The trunk of one patient. Real coordinates are millimetres from the middle of the field of view
/// and its lowest slice: x to the patient's left, y to the back, z to the head. Organs are laid out
/// in a standard body; a smooth bend and the patient's size take real to standard coordinates.
class BodyAnatomy {
 public:
  explicit BodyAnatomy(const BodySpec& spec);

  /// The most that the bend moves a point along one axis, mm.
  static constexpr float kBendMm = 7;

  const Draws& draws() const noexcept { return draws_; }
  const NoiseVolume& noise() const noexcept { return noise_; }
  /// Size of the patient relative to the standard body, x, y, z.
  const Point3& scale() const noexcept { return scale_; }
  Point3 to_standard(const Point3& real) const {
    const Point3 at = real * (1.0f / 85);
    return {real[0] / scale_[0] + kBendMm * noise_(at[0] + 3.1f, at[1] + 7.7f, at[2] + 1.3f),
            real[1] / scale_[1] + kBendMm * noise_(at[0] + 13.4f, at[1] + 2.9f, at[2] + 9.6f),
            real[2] + kBendMm * noise_(at[0] + 21.8f, at[1] + 17.2f, at[2] + 5.5f)};
  }
  /// The inverse, by iteration.
  Point3 to_real(const Point3& standard) const;

  /// Middle lines in standard coordinates.
  const std::vector<Bead>& colon() const noexcept { return colon_; }
  const std::vector<Bead>& small_bowel() const noexcept { return small_bowel_; }
  const std::vector<Bead>& arteries() const noexcept { return arteries_; }
  const std::vector<Bead>& veins() const noexcept { return veins_; }
  const std::vector<BodyLesion>& lesions() const noexcept { return lesions_; }

 private:
  void lay_colon();
  void lay_small_bowel();
  void lay_vessels();
  void plant_lesions(const std::vector<float>& volumes_mm3);
  BodyLesion lesion_at(std::size_t bead, std::uint32_t number, float volume_mm3) const;

  Draws draws_;
  NoiseVolume noise_;
  Point3 scale_;
  std::vector<Bead> colon_, small_bowel_, arteries_, veins_;
  std::vector<BodyLesion> lesions_;
};

}  // namespace headrace::phantom
