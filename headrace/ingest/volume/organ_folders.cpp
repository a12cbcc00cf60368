#include "headrace/ingest/volume/organ_folders.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <string_view>

#include "headrace/core/text.hpp"
#include "headrace/ingest/volume/label_files.hpp"
#include "headrace/ingest/volume/volume_files.hpp"

namespace headrace::ingest {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMaskFolder = "segmentations";

/// Names without sides and numbers.
/// source: TotalSegmentator, totalsegmentator/map_to_binary.py: the tasks on CT of versions 1
/// and 2.
constexpr std::array<std::string_view, 87> kOrgans{"adrenal_gland",
                                                   "aorta",
                                                   "atrial_appendage",
                                                   "autochthon",
                                                   "body",
                                                   "body_extremities",
                                                   "body_trunc",
                                                   "brachiocephalic_trunk",
                                                   "brachiocephalic_vein",
                                                   "brain",
                                                   "carpal",
                                                   "clavicula",
                                                   "colon",
                                                   "common_carotid_artery",
                                                   "coronary_arteries",
                                                   "costal_cartilages",
                                                   "duodenum",
                                                   "esophagus",
                                                   "face",
                                                   "femur",
                                                   "fibula",
                                                   "gallbladder",
                                                   "gluteus_maximus",
                                                   "gluteus_medius",
                                                   "gluteus_minimus",
                                                   "heart",
                                                   "heart_atrium",
                                                   "heart_myocardium",
                                                   "heart_ventricle",
                                                   "hip",
                                                   "hip_implant",
                                                   "humerus",
                                                   "iliac_artery",
                                                   "iliac_vena",
                                                   "iliopsoas",
                                                   "inferior_vena_cava",
                                                   "intermuscular_fat",
                                                   "intervertebral_discs",
                                                   "intracerebral_hemorrhage",
                                                   "kidney",
                                                   "kidney_cyst",
                                                   "liver",
                                                   "liver_tumor",
                                                   "liver_vessels",
                                                   "lung",
                                                   "lung_covid_infiltrate",
                                                   "lung_lower_lobe",
                                                   "lung_middle_lobe",
                                                   "lung_nodules",
                                                   "lung_trachea_bronchia",
                                                   "lung_upper_lobe",
                                                   "lung_vessels",
                                                   "metacarpal",
                                                   "metatarsal",
                                                   "pancreas",
                                                   "patella",
                                                   "pericardial_effusion",
                                                   "phalanges_feet",
                                                   "phalanges_hand",
                                                   "pleural_effusion",
                                                   "portal_vein_and_splenic_vein",
                                                   "prostate",
                                                   "pulmonary_artery",
                                                   "pulmonary_vein",
                                                   "radius",
                                                   "rib",
                                                   "sacrum",
                                                   "scapula",
                                                   "skeletal_muscle",
                                                   "skull",
                                                   "small_bowel",
                                                   "spinal_cord",
                                                   "spleen",
                                                   "sternum",
                                                   "stomach",
                                                   "subclavian_artery",
                                                   "subcutaneous_fat",
                                                   "superior_vena_cava",
                                                   "tarsal",
                                                   "thyroid_gland",
                                                   "tibia",
                                                   "torso_fat",
                                                   "trachea",
                                                   "ulna",
                                                   "urinary_bladder",
                                                   "vertebrae",
                                                   "vertebrae_body"};

/// "rib" of "rib_left_3", "vertebrae" of "vertebrae_L5".
std::string plain_organ(const std::string& stem) {
  std::string name = lowered(stem);
  for (;;) {
    const std::size_t last = name.rfind('_');
    if (last == std::string::npos) return name;
    const std::string word = name.substr(last + 1);
    const std::size_t digits = word.find_first_of("0123456789");
    const bool number =
        digits <= 1 && word.find_first_not_of("0123456789", digits) == std::string::npos;
    if (word != "left" && word != "right" && !number) return name;
    name.resize(last);
  }
}

bool named_as_organ(const std::string& path) {
  const std::string organ = plain_organ(volume_stem(path));
  return std::find(kOrgans.begin(), kOrgans.end(), organ) != kOrgans.end();
}

std::string folder_of(const std::string& path) { return fs::path(path).parent_path().string(); }

}  // namespace

bool in_mask_folder(const std::string& path) {
  return has_volume_ending(path) && fs::path(path).parent_path().filename() == kMaskFolder;
}

bool is_ct_file(const std::string& path) {
  return has_volume_ending(path) && lowered(volume_stem(path)) == "ct";
}

OrganMasks organ_masks_beside(const std::string& ct_file) {
  OrganMasks masks;
  const fs::path folder = fs::path(ct_file).parent_path() / kMaskFolder;
  if (!is_ct_file(ct_file) || !fs::is_directory(folder)) return masks;
  const VolumeFiles files = volume_files(folder.string());
  // One that can't be read is refused when it is opened: its organ must not be missing.
  for (const auto& found : {files.volumes, odd_volumes(files)}) {
    for (const auto& mask : found) {
      if (folder_of(mask) == folder.string()) masks.emplace(volume_stem(mask), mask);
    }
  }
  return masks;
}

OrganFolders take_out_organs(const std::vector<std::string>& files) {
  OrganFolders found;
  std::map<std::string, std::string> cts;  // by folder
  std::map<std::string, bool> by_name;     // folders with a file that is named as an organ
  for (const auto& file : files) {
    if (is_ct_file(file)) cts.emplace(folder_of(file), file);
    if (named_as_organ(file)) by_name[folder_of(file)] = true;
  }
  for (const auto& [folder, ct] : cts) {
    OrganMasks masks = organ_masks_beside(ct);
    if (!masks.empty() || by_name.contains(folder)) found.masks.emplace(ct, std::move(masks));
  }
  for (const auto& file : files) {
    const auto ct = cts.find(folder_of(file));
    const auto beside = in_mask_folder(file) ? cts.find(folder_of(folder_of(file))) : cts.end();
    const bool organs_here = ct != cts.end() && found.masks.contains(ct->second);
    if (beside != cts.end() && found.masks.contains(beside->second)) continue;  // has it already
    if (organs_here && !is_ct_file(file) && !named_as_mask(volume_stem(file))) {
      found.masks.at(ct->second).emplace(volume_stem(file), file);
    } else {
      found.rest.push_back(file);
    }
  }
  return found;
}

}  // namespace headrace::ingest
