#include "headrace/phantom/tissue_hu.hpp"

namespace headrace::phantom {
namespace {

struct Row {
  Tissue tissue;
  std::array<float, kPhases> hu;  // native, arterial, portal-venous, delayed
};

constexpr std::array<Row, kTissues> kRows{{
    {Tissue::air, {-1000, -1000, -1000, -1000}},
    {Tissue::table_shell, {-180, -180, -180, -180}},
    {Tissue::table_foam, {-940, -940, -940, -940}},
    {Tissue::skin, {10, 15, 20, 20}},
    {Tissue::fat, {-105, -104, -102, -102}},
    {Tissue::muscle, {52, 58, 64, 62}},
    {Tissue::lung, {-850, -845, -840, -842}},
    {Tissue::liver, {56, 66, 108, 86}},
    {Tissue::liver_vessel, {42, 80, 165, 100}},
    {Tissue::spleen, {48, 118, 118, 92}},
    {Tissue::kidney_cortex, {32, 180, 175, 130}},
    {Tissue::kidney_medulla, {30, 60, 160, 150}},
    {Tissue::artery, {44, 310, 150, 105}},
    {Tissue::vein, {44, 70, 145, 105}},
    {Tissue::heart, {42, 210, 140, 100}},
    {Tissue::gut_wall, {36, 85, 92, 75}},
    {Tissue::colon_wall, {36, 66, 78, 70}},
    {Tissue::fluid, {8, 8, 8, 8}},
    {Tissue::stool, {32, 32, 32, 32}},
    {Tissue::gas, {-985, -985, -985, -985}},
    {Tissue::urine, {4, 4, 6, 60}},
    {Tissue::marrow, {170, 175, 180, 178}},
    {Tissue::compact_bone, {720, 720, 722, 722}},
    {Tissue::disc, {78, 80, 84, 84}},
    {Tissue::lesion, {42, 94, 112, 96}},
    {Tissue::lesion_core, {32, 62, 80, 72}},
}};

constexpr std::array<std::array<float, kTissues>, kPhases> by_phase() {
  std::array<std::array<float, kTissues>, kPhases> table{};
  for (const Row& row : kRows) {
    for (std::size_t phase = 0; phase < kPhases; ++phase)
      table[phase][static_cast<std::size_t>(row.tissue)] = row.hu[phase];
  }
  return table;
}
constexpr auto kByPhase = by_phase();

}  // namespace

const std::array<float, kTissues>& tissue_hu(Phase phase) noexcept {
  return kByPhase[static_cast<std::size_t>(phase)];
}

}  // namespace headrace::phantom
