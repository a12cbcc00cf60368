#pragma once
#include <filesystem>

#include "headrace/core/enum_names.hpp"
#include "headrace/core/threads.hpp"
#include "learn/handover/ome_zarr/plain_image.hpp"

namespace headrace::handover {

/// How the chunks of an exported image are coded. All but jpeg are codecs of Zarr's own
/// specification and keep every bit.
enum class PlainCodec {
  zstd,
  blosc,  ///< zstd in blosc, bit-shuffled where elements have two bytes or more
  gzip,
  raw,  ///< not compressed
  jpeg  ///< uint8 RGB: tiles that are stored so are copied, others are encoded; labels as zstd.
        ///< imagecodecs_jpeg, which readers need an extension for
};

}  // namespace headrace::handover

namespace headrace {
template <>
inline constexpr auto kNamesOf<handover::PlainCodec> =
    names<handover::PlainCodec>({{handover::PlainCodec::zstd, "zstd"},
                                 {handover::PlainCodec::blosc, "blosc"},
                                 {handover::PlainCodec::gzip, "gzip"},
                                 {handover::PlainCodec::raw, "raw"},
                                 {handover::PlainCodec::jpeg, "jpeg"}});
}  // namespace headrace

namespace headrace::handover {

/// Writes an image as a folder in OME-Zarr 0.5 (https://ngff.openmicroscopy.org/0.5/): chunks of
/// 512² pixels of one channel (JPEG: 256² of all three) in shards of up to 4096², of volumes
/// 32×128×128 voxels in shards of 32 slices. It is written aside and renamed: a folder of that name
/// is whole. The same image and codec give the same bytes for any number of threads.
///
/// returns false where the folder holds this export already, which is then kept
/// memory  one shard (48 MiB of a slide, 32 slices of a volume), and its encoded chunks
/// errors  usage (something else lies there; jpeg of an array that is not RGB), io, those of
///         reading
bool write_plain_image(const PlainImage& image, const std::filesystem::path& folder,
                       PlainCodec codec, ThreadPool& pool);

}  // namespace headrace::handover
