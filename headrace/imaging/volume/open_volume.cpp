#include <cstring>

#include "headrace/core/error.hpp"
#include "headrace/imaging/file_kind.hpp"
#include "headrace/imaging/volume/metaimage.hpp"
#include "headrace/imaging/volume/nifti_header.hpp"
#include "headrace/imaging/volume/nifti_reader.hpp"
#include "headrace/imaging/volume/nrrd.hpp"
#include "headrace/imaging/volume/text_header.hpp"
#include "headrace/imaging/volume/volume_reader.hpp"
#include "headrace/storage/byte_source.hpp"
#include "headrace/storage/open_store.hpp"

namespace headrace::imaging {
namespace {

enum class Kind { nifti, nrrd, metaimage, other };

Kind kind_of(const std::string& path) {
  std::array<std::byte, kNiftiHeaderBytes> bytes{};
  std::size_t found = 0;
  try {
    found = storage::ByteSource(storage::open_input(path)).read_some(0, bytes.data(), bytes.size());
  } catch (const Error& error) {
    if (error.code() != ErrorCode::corrupt) throw;
    return Kind::other;  // starts as gzip does, but is not
  }
  if (is_nifti_header({bytes.data(), found})) return Kind::nifti;
  const std::string text = read_head_text(path, 4096);
  if (text.starts_with("NRRD000")) return Kind::nrrd;
  if (text.find("NDims") != std::string::npos && text.find('=') != std::string::npos &&
      text.find("DimSize") != std::string::npos) {
    return Kind::metaimage;
  }
  return Kind::other;
}

}  // namespace

bool is_volume_file(const std::string& path) { return kind_of(path) != Kind::other; }

std::unique_ptr<VolumeReader> open_volume(const std::string& path) {
  switch (kind_of(path)) {
    case Kind::nifti:
      return open_nifti(path);
    case Kind::nrrd:
      return open_nrrd(path);
    case Kind::metaimage:
      return open_metaimage(path);
    case Kind::other:
      break;
  }
  fail(ErrorCode::unsupported,
       "{}: not a volume (it starts with {}), expected NIfTI (.nii, .nii.gz), NRRD or MetaImage. "
       "DICOM series are given as "
       "folders.",
       path, describe_head(path));
}

}  // namespace headrace::imaging
