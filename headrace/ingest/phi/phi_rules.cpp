#include "headrace/ingest/phi/phi_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "headrace/imaging/note.hpp"
#include "headrace/ingest/names/identifying_text.hpp"
#include "headrace/ingest/names/store_names.hpp"

namespace headrace::ingest {
namespace {

struct Rule {
  std::string_view path;
  PhiKind kind;
};

using enum PhiKind;

// Codecs are nested: their paths are cut to the part after the last "codecs".
constexpr std::array kRules = std::to_array<Rule>({
    {"zarr_format", number},
    {"node_type", word},
    {"shape/*", number},
    {"data_type", word},
    {"chunk_grid/name", word},
    {"chunk_grid/configuration/chunk_shape/*", number},
    {"chunk_key_encoding/name", word},
    {"chunk_key_encoding/configuration/separator", word},
    {"fill_value", number},
    {"dimension_names/*", word},
    {"codecs/*/name", word},
    {"codecs/*/configuration/chunk_shape/*", number},
    {"codecs/*/configuration/index_location", word},
    {"codecs/*/configuration/endian", word},
    {"codecs/*/configuration/order/*", number},
    {"codecs/*/configuration/cname", word},
    {"codecs/*/configuration/shuffle", word},
    {"codecs/*/configuration/clevel", number},
    {"codecs/*/configuration/level", number},
    {"codecs/*/configuration/checksum", number},
    {"codecs/*/configuration/typesize", number},
    {"codecs/*/configuration/blocksize", number},
    {"attributes/ome/version", word},
    {"attributes/ome/labels/*", name},
    {"attributes/ome/multiscales/*/name", name},
    {"attributes/ome/multiscales/*/type", word},
    {"attributes/ome/multiscales/*/axes/*/name", word},
    {"attributes/ome/multiscales/*/axes/*/type", word},
    {"attributes/ome/multiscales/*/axes/*/unit", word},
    {"attributes/ome/multiscales/*/datasets/*/path", number},
    {"attributes/ome/multiscales/*/datasets/*/coordinateTransformations/*/type", word},
    {"attributes/ome/multiscales/*/datasets/*/coordinateTransformations/*/scale/*", number},
    {"attributes/ome/multiscales/*/datasets/*/coordinateTransformations/*/translation/*", number},
    {"attributes/ome/omero/channels/*/label", word},
    {"attributes/ome/omero/channels/*/color", word},
    {"attributes/ome/omero/channels/*/active", number},
    {"attributes/ome/omero/channels/*/window/min", number},
    {"attributes/ome/omero/channels/*/window/max", number},
    {"attributes/ome/omero/channels/*/window/start", number},
    {"attributes/ome/omero/channels/*/window/end", number},
    {"attributes/ome/omero/rdefs/model", word},
    {"attributes/ome/image-label/version", word},
    {"attributes/ome/image-label/colors/*/label-value", number},
    {"attributes/ome/image-label/colors/*/rgba/*", number},
    {"attributes/ome/image-label/properties/*/label-value", number},
    {"attributes/ome/image-label/properties/*/class", class_name},
    {"attributes/ome/image-label/source/image", word},
    {"attributes/headrace/format", number},
    {"attributes/headrace/kind", word},
    {"attributes/headrace/ingest/codec", word},
    {"attributes/headrace/ingest/chunk", number},
    {"attributes/headrace/ingest/shard", number},
    {"attributes/headrace/ingest/clevel", number},
    {"attributes/headrace/ingest/align", number},
    {"attributes/headrace/ingest/irregular", word},
    {"attributes/headrace/ingest/rescale/*", number},
    {"attributes/headrace/ingest/channels/*", name},
    {"attributes/headrace/ingest/units/*", word},
    {"attributes/headrace/ingest/lesion_classes/*", class_name},
    {"attributes/headrace/modality", word},
    {"attributes/headrace/codec", word},
    {"attributes/headrace/levels/*/*", number},
    {"attributes/headrace/downsample/*/*", number},
    {"attributes/headrace/spacing_mm/*", number},
    {"attributes/headrace/affine_lps/*", number},
    {"attributes/headrace/file_grid/shape_zyx/*", number},
    {"attributes/headrace/file_grid/affine_lps/*", number},
    {"attributes/headrace/file_grid/axis_of_xyz/*", number},
    {"attributes/headrace/file_grid/reversed_xyz/*", number},
    {"attributes/headrace/slices/axis", number},
    {"attributes/headrace/slices/offsets_mm/*", number},
    {"attributes/headrace/body/voxels", number},
    {"attributes/headrace/body/fraction", number},
    {"attributes/headrace/body/threshold_hu", number},
    {"attributes/headrace/body/mean", number},
    {"attributes/headrace/body/std", number},
    {"attributes/headrace/body/p00_5", number},
    {"attributes/headrace/body/p05", number},
    {"attributes/headrace/body/p50", number},
    {"attributes/headrace/body/p95", number},
    {"attributes/headrace/body/p99_5", number},
    {"attributes/headrace/channels/*/name", name},
    {"attributes/headrace/channels/*/stored", number},
    {"attributes/headrace/channels/*/unit", word},
    {"attributes/headrace/channels/*/scale", number},
    {"attributes/headrace/channels/*/modality", word},
    {"attributes/headrace/channels/*/resampled", number},
    {"attributes/headrace/channels/*/file_grid/shape_zyx/*", number},
    {"attributes/headrace/channels/*/file_grid/affine_lps/*", number},
    {"attributes/headrace/channels/*/source/format", word},
    {"attributes/headrace/channels/*/source/bytes", number},
    {"attributes/headrace/channels/*/body/voxels", number},
    {"attributes/headrace/channels/*/body/fraction", number},
    {"attributes/headrace/channels/*/body/threshold_hu", number},
    {"attributes/headrace/channels/*/body/mean", number},
    {"attributes/headrace/channels/*/body/std", number},
    {"attributes/headrace/channels/*/body/p00_5", number},
    {"attributes/headrace/channels/*/body/p05", number},
    {"attributes/headrace/channels/*/body/p50", number},
    {"attributes/headrace/channels/*/body/p95", number},
    {"attributes/headrace/channels/*/body/p99_5", number},
    {"attributes/headrace/source/format", word},
    {"attributes/headrace/source/bytes", number},
    {"attributes/headrace/source/fingerprint", hash},
    {"attributes/headrace/notes/*/code", note_code},
    {"attributes/headrace/notes/*/values/*", number},
    {"attributes/headrace/cell_size_zyx/*", number},
    {"attributes/headrace/block/*", number},
    {"attributes/headrace/part/*", number},
    {"attributes/headrace/columns/*", word},
    {"format", number},
    // manifest.json, versions, lists of objects, memories
    {"dataset_hash", hash},
    {"log/*/version", hash},
    {"log/*/parent", hash},
    {"log/*/message", name},
    {"kind", word},
    {"classes/*", class_name},
    {"facts/class_sets/*/*", class_name},
    {"facts/lesion_classes/*", class_name},
    {"facts/ignore_value", number},
    {"root/*/sha256", hash},
    {"root/*/size", number},
    {"images/*/columns/case", name},
    {"images/*/columns/cohort", name},
    {"images/*/columns/scanner", name},
    {"images/*/columns/split", word},
    {"images/*/columns/phase", word},
    {"images/*/columns/negative", number},
    {"images/*/columns/free/*", free_value},
    {"images/*/pixels/sha256", hash},
    {"images/*/pixels/size", number},
    {"images/*/pixels/bytes", number},
    {"images/*/labels/*/group", name},
    {"images/*/labels/*/sha256", hash},
    {"images/*/labels/*/size", number},
    {"images/*/labels/*/bytes", number},
    {"groups/*", name},
    {"sha256", hash},
    {"objects/*/sha256", hash},
    {"objects/*/size", number},
});

constexpr std::array kWords = std::to_array<std::string_view>(
    {// Zarr
     "group", "array", "regular", "default", "/", ".", "uint8", "int16", "uint32", "uint64",
     "float64", "bytes", "blosc", "zstd", "lz4", "lz4hc", "zlib", "crc32c", "transpose",
     "sharding_indexed", "gzip", "little", "big", "start", "end", "noshuffle", "shuffle",
     "bitshuffle", "z", "y", "x",
     // OME
     "0.5", "mean of 2", "nearest to the centre", "space", "millimeter", "scale", "translation",
     "HU", "SUV * 100", "FFFFFF", "greyscale", "../../",
     // ours
     "volume", "blosc-zstd", "blosc-lz4", "refuse", "resample", "train", "val", "test", "unknown",
     "native", "arterial", "portal-venous", "delayed", "CT", "PET", "SUV", "DICOM", "NIfTI", "NRRD",
     "MetaImage", "hu + 32768", "suv * 100 + 32768", "class", "voxels", "volume_mm3", "x_mm",
     "y_mm", "z_mm", "depth", "height", "width"});

std::string joined(std::vector<std::string> path) {
  for (std::size_t i = path.size(); i-- > 1;) {
    if (path[i] == "codecs" || path[i] == "index_codecs") {
      path.erase(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(i));
      path[0] = "codecs";
      break;
    }
  }
  std::string text;
  for (const auto& key : path) text += (text.empty() ? "" : "/") + key;
  return text;
}

std::string length_of(std::string_view text) {
  return fmt::format("a text of {} characters", text.size());
}

bool is_word(std::string_view text) {
  return std::find(kWords.begin(), kWords.end(), text) != kWords.end();
}

bool all_of(std::string_view text, bool (*accept)(unsigned char)) {
  return !text.empty() && std::all_of(text.begin(), text.end(), accept);
}
bool is_digits(std::string_view text) {
  return all_of(text, [](unsigned char c) { return c >= '0' && c <= '9'; });
}
bool is_hex(std::string_view text, std::size_t digits) {
  return text.size() == digits && all_of(text, [](unsigned char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

/// <set>-<12 digits>, as StagedLabels names it.
bool is_label_group(std::string_view text) {
  constexpr std::size_t kDigits = 12;
  if (text.size() < kDigits + 2 || text[text.size() - kDigits - 1] != '-') return false;
  return is_hex(text.substr(text.size() - kDigits), kDigits) &&
         !why_no_name(std::string(text.substr(0, text.size() - kDigits - 1)), false);
}

/// Versions and their indexes, lists of objects, memories. `verify` holds what an index has to the
/// objects that it is made from.
bool is_record(const std::vector<std::string_view>& parts) {
  constexpr std::string_view kIndex = ".index";
  if (parts[0] == "versions" && parts.size() == 2 && parts[1].ends_with(kIndex))
    return is_hex(parts[1].substr(0, parts[1].size() - kIndex.size()), 64);
  constexpr std::string_view kEnding = ".json";
  if (!parts.back().ends_with(kEnding)) return false;
  const std::string_view stem = parts.back().substr(0, parts.back().size() - kEnding.size());
  if (parts[0] == "versions") return parts.size() == 2 && is_hex(stem, 64);
  if (parts[0] == "sources") return parts.size() == 2 && !why_no_name(std::string(stem), false);
  return parts.size() == 3 && !why_no_name(std::string(parts[1]), false) &&
         (stem == "pixels" || is_label_group(stem));
}

}  // namespace

std::optional<PhiKind> phi_kind(const std::vector<std::string>& path) {
  const std::string text = joined(path);
  for (const Rule& rule : kRules) {
    if (rule.path == text) return rule.kind;
  }
  return std::nullopt;
}

bool phi_leads_on(const std::vector<std::string>& path) {
  const std::string text = joined(path) + "/";
  return path.empty() || text == "codecs/*/configuration/" ||
         std::any_of(kRules.begin(), kRules.end(),
                     [&](const Rule& rule) { return rule.path.starts_with(text); });
}

std::optional<std::string> phi_problem(PhiKind kind, const Json& value,
                                       const std::set<std::string>& classes) {
  if (value.is_object()) return value.empty() ? std::nullopt : std::optional("an unknown object");
  if (value.is_array()) return value.empty() ? std::nullopt : std::optional("an unknown list");
  if (!value.is_string()) {
    const bool fits =
        kind == number || kind == word || kind == free_value || (kind == hash && value.is_null());
    return fits ? std::nullopt : std::optional("a number where a text is expected");
  }
  const std::string text = value.get<std::string>();
  switch (kind) {
    case number:
      // Paths of levels and the fill values of floats are numbers as text.
      if (is_digits(text) && text.size() <= 3) return std::nullopt;
      if (text == "NaN" || text == "Infinity" || text == "-Infinity") return std::nullopt;
      return length_of(text) + ", expected a number";
    case word:
      if (is_word(text)) return std::nullopt;
      return length_of(text) + " that is none of the store's words";
    case note_code:
      if (value_named<imaging::NoteCode>(text)) return std::nullopt;
      return "a note code that this version does not know";
    case hash:
      if (is_hex(text, 64)) return std::nullopt;
      return length_of(text) + ", expected a SHA-256 in hex";
    case name:
    case free_value:
      if (text.empty() || is_label_group(text)) return std::nullopt;
      if (const auto why = why_no_name(text, true)) return length_of(text) + " that " + *why;
      return std::nullopt;
    case class_name:
      if (const auto why = why_identifying(text))
        return length_of(text) + " that looks like " + *why;
      if (classes.contains(text)) return std::nullopt;
      return length_of(text) + " that is none of the store's classes";
  }
  return std::nullopt;
}

bool phi_known_object(std::string_view key) {
  std::vector<std::string_view> parts{};
  for (std::size_t at = 0; at <= key.size();) {
    const std::size_t end = std::min(key.find('/', at), key.size());
    parts.push_back(key.substr(at, end - at));
    at = end + 1;
  }
  if (parts.size() == 1) return parts[0] == "zarr.json" || parts[0] == "manifest.json";
  if (parts[0] == "versions" || parts[0] == "sources" || parts[0] == "manifests")
    return is_record(parts);
  const bool image = parts[0] == "images";
  if (!image && parts[0] != "index" && parts[0] != "histograms") return false;
  if (parts.size() == 2 && parts[1] == "zarr.json") return true;
  if (why_no_name(std::string(parts[1]), false)) return false;
  std::size_t at = 2;
  const auto is = [&](std::string_view word) { return at < parts.size() && parts[at] == word; };
  const auto level = [&] {
    return at < parts.size() && is_digits(parts[at]) && parts[at].size() < 3;
  };
  // "histogram" for the first channel, "histogram-1" for the next.
  const auto is_histogram = [&] {
    constexpr std::string_view kFurther = "histogram-";
    if (at >= parts.size()) return false;
    const std::string_view part = parts[at];
    return part == "histogram" ||
           (part.starts_with(kFurther) && part.size() < kFurther.size() + 3 &&
            is_digits(part.substr(kFurther.size())));
  };
  if (is("zarr.json")) return parts.size() == 3;
  if (image && is("labels")) {
    ++at;
    if (is("zarr.json")) return at + 1 == parts.size();
    if (at >= parts.size() || !is_label_group(parts[at])) return false;
    ++at;
    if (is("zarr.json")) return at + 1 == parts.size();
    if (!level() && !is("index") && !is("sites") && !is_histogram() && !is("lesions")) return false;
    ++at;
  } else if (image && is("masks")) {
    ++at;
    if (is("zarr.json")) return at + 1 == parts.size();
    if (!is("body")) return false;
    ++at;
  } else if (image && is("channels")) {
    ++at;
    if (is("zarr.json")) return at + 1 == parts.size();
    if (!level()) return false;
    ++at;
    if (is("zarr.json")) return at + 1 == parts.size();
    if (!level() && !is("histogram")) return false;
    ++at;
  } else if (image) {
    if (!level()) return false;
    ++at;
  }
  if (is("zarr.json")) return at + 1 == parts.size();
  if (!is("c")) return false;
  return std::all_of(parts.begin() + static_cast<std::ptrdiff_t>(at) + 1, parts.end(),
                     [](std::string_view part) { return is_digits(part) && part.size() <= 6; });
}

}  // namespace headrace::ingest
