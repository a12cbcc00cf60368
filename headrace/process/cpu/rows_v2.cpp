#include "headrace/process/cpu/rows.inc"

const headrace::process::cpu::Driver headrace::process::cpu::kDriverV2{tile};
