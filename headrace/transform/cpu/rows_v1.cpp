#include "headrace/transform/cpu/rows_impl.hpp"

const headrace::transform::cpu::Driver headrace::transform::cpu::kDriverV1{image, recolour, labels,
                                                                           blur};
