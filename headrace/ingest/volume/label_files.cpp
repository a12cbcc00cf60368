#include "headrace/ingest/volume/label_files.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/imaging/dicom/dicom_series.hpp"
#include "headrace/ingest/volume/dicom_cases.hpp"
#include "headrace/ingest/volume/volume_files.hpp"

namespace headrace::ingest {
namespace {

namespace fs = std::filesystem;

constexpr std::array kMaskEndings{"_mask", "_seg", ".seg"};  // 3D Slicer writes NAME.seg.nrrd

/// The stem without the word for a mask; the stem itself when it has none.
std::string image_stem(const std::string& stem) {
  for (const std::string ending : kMaskEndings) {
    if (stem.size() > ending.size() && stem.ends_with(ending))
      return stem.substr(0, stem.size() - ending.size());
  }
  return stem;
}

bool is_mask_word(const std::string& stem) { return stem == "mask" || stem == "seg"; }

}  // namespace

bool named_as_mask(const std::string& stem) {
  return is_mask_word(stem) || image_stem(stem) != stem;
}

std::vector<PairedFile> pair_with_masks(const std::vector<std::string>& files, BadInputs& bad) {
  std::map<std::string, std::map<std::string, PairedFile>> folders;  // by folder and stem
  std::vector<std::string> masks;
  for (const auto& file : files) {
    if (named_as_mask(volume_stem(file))) {
      masks.push_back(file);
    } else {
      folders[fs::path(file).parent_path().string()][file] = {file, {}};
    }
  }
  for (const auto& mask : masks) {
    auto& images = folders[fs::path(mask).parent_path().string()];
    const std::string stem = image_stem(volume_stem(mask));
    auto found = std::find_if(images.begin(), images.end(),
                              [&](const auto& image) { return volume_stem(image.first) == stem; });
    if (found == images.end() && is_mask_word(stem) && images.size() == 1) found = images.begin();
    if (found == images.end()) {
      bad.add({mask, ErrorCode::usage,
               fmt::format("{}: named as a mask, and its image is not beside it; give its folder "
                           "by {}, name it in a table's column 'labels', or leave it out",
                           mask, Option{"labels"})});
      continue;
    }
    found->second.labels.push_back(mask);
  }
  std::vector<PairedFile> paired;
  for (const auto& [folder, images] : folders) {
    for (const auto& [file, image] : images) {
      if (image.labels.size() < 2) {
        paired.push_back(image);
        continue;
      }
      bad.add({file, ErrorCode::usage,
               fmt::format("{}: has two masks, {} and {}; keep one, or name both in a table", file,
                           image.labels[0], image.labels[1])});
    }
  }
  return paired;
}

std::vector<std::string> attach_label_folder(const std::string& folder,
                                             const imaging::Pseudonymizer& pseudonym, int jobs,
                                             std::vector<VolumeCase>& cases) {
  const VolumeFiles files = volume_files(folder);
  const imaging::DicomScan scan = files.others.empty()
                                      ? imaging::DicomScan{}
                                      : imaging::scan_dicom(files.others, pseudonym, jobs);
  if (!scan.problems.empty()) {
    // It is unknown whose labels they are, so no image can be left out for them.
    std::string list;
    for (const auto& problem : scan.problems) list += (list.empty() ? "" : "\n  ") + problem.text;
    fail(ErrorCode::malformed, "{}", list);
  }
  std::map<std::string, VolumeCase*> by_stem;
  for (VolumeCase& volume : cases) {
    if (!volume.labels.empty()) continue;
    by_stem.try_emplace(volume.id, &volume);
    if (!volume.series) by_stem.try_emplace(volume_stem(volume.file), &volume);
  }
  std::vector<std::string> unused;
  for (const auto& file : files.volumes) {
    const std::string stem = volume_stem(file);
    auto found = by_stem.find(stem);
    if (found == by_stem.end()) found = by_stem.find(image_stem(stem));
    if (found == by_stem.end()) {
      unused.push_back(file);
      continue;
    }
    auto& labels = found->second->labels;
    if (!labels.empty()) {
      fail(ErrorCode::usage, "{}: has two masks, {} and {}; keep one, or name both in a table",
           describe(*found->second), labels.front(), file);
    }
    labels.push_back(file);
  }
  for (const auto& file : attach_label_objects(scan.labels, cases)) unused.push_back(file);
  std::sort(unused.begin(), unused.end());
  return unused;
}

}  // namespace headrace::ingest
