#include "headrace/transform/slide/cpu/patch_rows.inc"

const headrace::transform::cpu::Driver headrace::transform::cpu::kDriverV4{image, recolour, labels,
                                                                           blur};
