#include "headrace/transform/volume/cpu/volume_rows.inc"

const headrace::transform::cpu::VolumeDriver headrace::transform::cpu::kVolumeDriverV4{
    gather, stages, statistics, blur, low_resolution, smooth};
