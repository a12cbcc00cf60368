#include "headrace/ingest/volume/label_files.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/imaging/dicom/dicom_series.hpp"
#include "headrace/ingest/volume/label_objects.hpp"
#include "headrace/ingest/volume/organ_folders.hpp"
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

/// Finds the image of a mask by names.
class ImagesOfMasks {
 public:
  explicit ImagesOfMasks(std::vector<VolumeCase>& cases) {
    for (VolumeCase& volume : cases) {
      if (!volume.labels.empty()) continue;
      by_id_.try_emplace(volume.id, &volume);
      if (volume.series) continue;
      by_stem_[volume_stem(volume.file)].push_back(&volume);
    }
  }

  /// Null where none fits. alone: whether no other mask lies in its folder.
  VolumeCase* find(const std::string& mask, bool alone) const {
    const std::string stem = volume_stem(mask);
    for (const std::string& name : {stem, image_stem(stem)}) {
      if (const auto found = by_id_.find(name); found != by_id_.end()) return found->second;
      if (const auto found = by_stem_.find(name); found != by_stem_.end()) {
        if (found->second.size() == 1) return found->second.front();
        if (VolumeCase* image = in_folder(found->second, mask)) return image;
      }
    }
    if (VolumeCase* image = first_channel(stem)) return image;
    // P1/mask.nii.gz, or P1/scan.nii.gz alone in its folder, of an image P1.
    if (!alone && !is_mask_word(stem) && !is_ct_file(mask)) return nullptr;
    const auto found = by_id_.find(parent_name(mask));
    return found == by_id_.end() ? nullptr : found->second;
  }

 private:
  /// nnU-Net's case_0000.nii.gz of a mask case.nii.gz, where it has no other channel.
  VolumeCase* first_channel(const std::string& stem) const {
    const auto found = by_stem_.find(stem + "_0000");
    const bool one = found != by_stem_.end() && found->second.size() == 1;
    return one && !by_stem_.contains(stem + "_0001") ? found->second.front() : nullptr;
  }

  /// The only image whose folder has the name of the mask's.
  static VolumeCase* in_folder(const std::vector<VolumeCase*>& images, const std::string& mask) {
    VolumeCase* found = nullptr;
    for (VolumeCase* image : images) {
      if (parent_name(image->file) != parent_name(mask)) continue;
      if (found != nullptr) return nullptr;
      found = image;
    }
    return found;
  }

  std::map<std::string, VolumeCase*> by_id_;
  std::map<std::string, std::vector<VolumeCase*>> by_stem_;
};

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

void take_odd_masks(const VolumeFiles& files, std::vector<std::string>& volumes,
                    UnusedFiles& unused) {
  const std::vector<std::string> named = odd_volumes(files);
  for (const UnusedFile& file : files.odd) {
    const bool volume = std::binary_search(named.begin(), named.end(), file.path);
    if (volume && (named_as_mask(volume_stem(file.path)) || in_mask_folder(file.path))) {
      volumes.push_back(file.path);
    } else {
      unused.push_back(file);
    }
  }
}

std::string first_readable(const UnusedFiles& unused) {
  const auto found = std::find_if(unused.begin(), unused.end(),
                                  [](const UnusedFile& file) { return file.reason.empty(); });
  return found == unused.end() ? "" : found->path;
}

UnusedFiles attach_label_folder(const std::string& folder, const imaging::Pseudonymizer& pseudonym,
                                int jobs, std::vector<VolumeCase>& cases) {
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
  const ImagesOfMasks images(cases);
  UnusedFiles unused;
  const std::vector<std::string> odd = odd_volumes(files);  // refused where they are opened
  std::map<std::string, int> in_folder;
  for (const auto* list : {&files.volumes, &odd}) {
    for (const auto& file : *list) ++in_folder[fs::path(file).parent_path().string()];
  }
  const auto image_of = [&](const std::string& file) {
    const auto found = in_folder.find(fs::path(file).parent_path().string());
    return images.find(file, found != in_folder.end() && found->second == 1);
  };
  for (const auto& file : files.odd) {
    if (image_of(file.path) == nullptr || !std::binary_search(odd.begin(), odd.end(), file.path))
      unused.push_back(file);
  }
  std::vector<std::string> masks = files.volumes;
  masks.insert(masks.end(), odd.begin(), odd.end());
  std::sort(masks.begin(), masks.end());
  for (const auto& file : masks) {
    VolumeCase* image = image_of(file);
    if (image == nullptr) {
      if (!std::binary_search(odd.begin(), odd.end(), file)) unused.push_back({file, ""});
      continue;
    }
    auto& labels = image->labels;
    if (!labels.empty()) {
      fail(ErrorCode::usage, "{}: has two masks, {} and {}; keep one, or name both in a table",
           describe(*image), labels.front(), file);
    }
    labels.push_back(file);
  }
  for (auto& file : attach_label_objects(scan.labels, cases)) unused.push_back(std::move(file));
  std::sort(unused.begin(), unused.end(),
            [](const UnusedFile& a, const UnusedFile& b) { return a.path < b.path; });
  return unused;
}

}  // namespace headrace::ingest
