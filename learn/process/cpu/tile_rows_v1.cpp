#include "learn/process/cpu/tile_rows.inc"

const headrace::process::cpu::Driver headrace::process::cpu::kDriverV1{tile};
