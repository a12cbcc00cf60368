#define HR_REGISTER_BYTES 32
#include "headrace/zarr/codec/bit_shuffle.inc"

const headrace::zarr::BitShuffle headrace::zarr::kBitShuffleV3{shuffle, unshuffle};
