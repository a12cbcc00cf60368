#include "headrace/zarr/device_checksums.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headrace/zarr/crc32c_pieces.hpp"
#include "headrace/zarr/cuda/chunk_drivers.hpp"

namespace headrace::zarr {
namespace {

// The size of a piece: a chunk of some ten kilobytes is shared by as many threads as it has pieces.
constexpr std::uint64_t kPieceBytes = 1024;

std::uint64_t pieces_of(const DecodePlan::Check& check) {
  return (check.size + kPieceBytes - 1) / kPieceBytes;
}

}  // namespace

void DeviceChecksums::start(std::span<const DecodePlan::Check> checks, const std::byte* encoded,
                            device::cuda::Stream& stream) {
  if (checks.empty()) return;
  std::size_t count = checks.size();  // a piece of 0 bytes for each stored checksum: see below
  for (const auto& check : checks) count += pieces_of(check);
  pieces_.reserve(count * sizeof(Crc32cPiece));
  results_.reserve(count * sizeof(std::uint32_t));
  budget_.reserve(device_pieces_, count * sizeof(Crc32cPiece), stream);
  budget_.reserve(device_results_, count * sizeof(std::uint32_t), stream);
  auto* piece = pieces_.as<Crc32cPiece>();
  for (const auto& check : checks) {
    for (std::uint64_t at = 0; at < check.size; at += kPieceBytes) {
      const std::uint64_t size = std::min(kPieceBytes, check.size - at);
      *piece++ = {check.offset + at, size, check.size - at - size};
    }
    *piece++ = {check.offset + check.size, 0, 0};
  }
  device::cuda::copy_to_device(device_pieces_.as<void>(), pieces_.as<void>(),
                               count * sizeof(Crc32cPiece), stream);
  cuda::crc32c_shares(static_cast<std::int64_t>(count), device_pieces_.as<const Crc32cPiece>(),
                      reinterpret_cast<const std::uint8_t*>(encoded),
                      device_results_.as<std::uint32_t>(), stream);
  device::cuda::copy_to_host(results_.as<void>(), device_results_.as<void>(),
                             count * sizeof(std::uint32_t), stream);
}

const DecodePlan::Check* DeviceChecksums::failed(std::span<const DecodePlan::Check> checks,
                                                 std::string& problem) const {
  const auto* result = results_.as<const std::uint32_t>();
  for (const auto& check : checks) {
    std::uint32_t computed = crc32c_of_zeros(check.size);
    for (std::uint64_t i = 0; i < pieces_of(check); ++i) computed ^= *result++;
    const std::uint32_t stored = *result++;
    if (stored == computed) continue;
    problem = fmt::format("stored crc32c {:08x}, computed {:08x}", stored, computed);
    return &check;
  }
  return nullptr;
}

}  // namespace headrace::zarr
