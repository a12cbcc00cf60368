#pragma once
#include <cstddef>
#include <span>

namespace headrace::pixels {

/// Whether the entropy-coded data of a JPEG is sound from its first to its last block: every code is
/// in its table, every block has 64 coefficients at most, restarts are where they should be, and the
/// end follows. Only looks at lengths of codes, so it takes a fraction of the time of decoding. For
/// decoders that do not report damage. True only where libjpeg decodes all without a warning
/// (tests/pixels/jpeg_markers_test.cpp); false also for what it does not know: anything but one
/// baseline or sequential scan of 8 bits. Safe from any thread.
///
/// source  ITU-T T.81 B.2, C.2, F.2.2
bool jpeg_data_is_sound(std::span<const std::byte> jpeg);

}  // namespace headrace::pixels
