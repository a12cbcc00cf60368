#pragma once
#include <array>
#include <cstddef>

#include "headrace/core/enum_names.hpp"

namespace headrace::phantom {

/// The tissues of a CT body.
enum class Tissue : std::size_t {
  air,
  table_shell,
  table_foam,
  skin,
  fat,
  muscle,
  lung,
  liver,
  liver_vessel,
  spleen,
  kidney_cortex,
  kidney_medulla,
  artery,
  vein,
  heart,
  gut_wall,  ///< of stomach and small bowel
  colon_wall,
  fluid,
  stool,
  gas,
  urine,
  marrow,
  compact_bone,
  disc,
  lesion,
  lesion_core
};
inline constexpr std::size_t kTissues = 26;

enum class Phase : std::size_t { native, arterial, portal_venous, delayed };
inline constexpr std::size_t kPhases = 4;

}  // namespace headrace::phantom

namespace headrace {
template <>
inline constexpr auto kNamesOf<phantom::Phase> =
    names<phantom::Phase>({{phantom::Phase::native, "native"},
                           {phantom::Phase::arterial, "arterial"},
                           {phantom::Phase::portal_venous, "portal-venous"},
                           {phantom::Phase::delayed, "delayed"}});
}  // namespace headrace

namespace headrace::phantom {

/// Mean of each tissue in Hounsfield units in one contrast phase. Textbook ranges of abdominal CT
/// (for example Prokop and Galanski, Spiral and Multislice CT of the Body, 2003), not measured
/// values: only their order and rough distances matter.
const std::array<float, kTissues>& tissue_hu(Phase phase) noexcept;

}  // namespace headrace::phantom
