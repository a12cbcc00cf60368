#define HR_REGISTER_BYTES 16
#include "headrace/zarr/codec/bit_shuffle.inc"

const headrace::zarr::BitShuffle headrace::zarr::kBitShuffleV1{shuffle, unshuffle};
