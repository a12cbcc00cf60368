#include "headrace/ingest/volume/volume_classes.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/core/text.hpp"
#include "headrace/core/threads.hpp"
#include "headrace/imaging/dicom/dicom_labels.hpp"
#include "headrace/imaging/volume/slicer_segmentation.hpp"
#include "headrace/imaging/volume/volume_reader.hpp"
#include "headrace/imaging/volume/whole_values.hpp"
#include "headrace/ingest/volume/class_order.hpp"
#include "headrace/ingest/volume/mask_peers.hpp"
#include "headrace/ingest/volume/named_classes.hpp"
#include "headrace/ingest/volume/organ_folders.hpp"
#include "headrace/ingest/volume/volume_files.hpp"
#include "headrace/ingest/volume/volume_inputs.hpp"

namespace headrace::ingest {
namespace {

constexpr std::size_t kNamesShown = 8;  // names of masks shown in an error

struct LabelFile {
  std::string path;
  bool dicom = false;
  std::vector<std::string> names;    ///< of DICOM, and of segments of 3D Slicer
  std::vector<std::string> written;  ///< of DICOM: when
  imaging::SlicerSegments segments;  ///< of 3D Slicer
  std::uint16_t largest = 0;         ///< of a mask; read only when it decides
};

std::uint16_t largest_value(const std::string& path) {
  const auto reader = imaging::open_volume(path);
  const auto& grid = reader->info().grid;
  const auto [depth, height, width] = grid.shape_zyx;
  std::vector<double> slice(static_cast<std::size_t>(grid.slice_voxels()));
  imaging::WholeValues values;
  std::uint16_t largest = 0;
  for (std::int64_t z = 0; z < depth; ++z) {
    reader->read_slice(z, slice.data());
    for (std::int64_t i = 0; i < height * width; ++i) {
      const std::int64_t x = i % width, y = i / width;
      const auto value = values.take(slice[static_cast<std::size_t>(i)], x, y, z);
      if (value > kIgnoreLabel) {
        fail(ErrorCode::malformed,
             "{}: value {} at voxel (x {}, y {}, z {}), expected a class from 0 to 254 or 255 "
             "(ignore); for other values name the classes ({} liver=1000,…)",
             path, value, x, y, z, Option{"classes"});
      }
      if (value != kIgnoreLabel) largest = std::max(largest, value);
    }
  }
  with_context(path, [&] { values.check(); });
  return largest;
}

void look_at_file(LabelFile& file, bool with_values) {
  file.dicom = !imaging::is_volume_file(file.path);
  if (file.dicom) {
    const auto found = imaging::read_label_names(file.path);
    if (found.object == imaging::DicomObject::other) {
      fail(ErrorCode::unsupported,
           "{}: no labels, expected a mask (NIfTI, NRRD, MetaImage), DICOM SEG or RTSTRUCT",
           file.path);
    }
    file.names = found.names;
    file.written.assign(found.written.begin(), found.written.end());
    return;
  }
  file.segments = imaging::slicer_segments(file.path);
  for (const auto& segment : file.segments.segments) file.names.push_back(segment.name);
  if (with_values && file.segments.layers == 1) {
    file.largest = largest_value(file.path);
  }
}

/// The label files of all cases by path. Cases with one that is bad are taken out.
std::map<std::string, LabelFile> look_at_labels(std::vector<VolumeCase>& cases, bool with_values,
                                                int jobs, BadInputs& bad) {
  std::set<std::string> paths;
  for (const auto& volume : cases) paths.insert(volume.labels.begin(), volume.labels.end());
  std::vector<LabelFile> files;
  for (const auto& path : paths) files.push_back({path, false, {}, {}, {}, 0});
  BadInputs bad_files(OnError::skip);
  ThreadPool pool(jobs);
  pool.parallel_for(files.size(), [&](std::size_t i) {
    bad_files.look(files[i].path, [&] { look_at_file(files[i], with_values); });
  });
  std::map<std::string, LabelFile> found;
  for (auto& file : files) found.emplace(file.path, std::move(file));
  for (const BadInput& file : bad_files.sorted()) {
    found.erase(file.input);
    std::erase_if(cases, [&](const VolumeCase& volume) {
      const auto& labels = volume.labels;
      if (std::find(labels.begin(), labels.end(), file.input) == labels.end()) return false;
      bad.add({describe(volume), file.code, file.reason});
      return true;
    });
  }
  return found;
}

std::vector<std::string> some_names(const std::map<std::string, std::string>& organs) {
  std::vector<std::string> names;
  for (const auto& [name, path] : organs) {
    if (names.size() < kNamesShown) names.push_back(name);
  }
  return names;
}

/// Masks of a hundred organs do not tell which of them are wanted.
void refuse_organs(const std::vector<VolumeCase>& cases) {
  for (const VolumeCase& volume : cases) {
    if (volume.organs.empty()) continue;
    fail(ErrorCode::usage,
         "{}: has {} masks of organs beside it ({}{}); say which are classes: {} "
         "background,liver,… (NAME=MASK|MASK takes several for a class), or give other labels by "
         "{}",
         describe(volume), volume.organs.size(), fmt::join(some_names(volume.organs), ", "),
         volume.organs.size() > kNamesShown ? ", …" : "", Option{"classes"}, Option{"labels"});
  }
}

std::string list_of(const std::set<std::string>& names) {
  return fmt::format("'{}'", fmt::join(names, "', '"));
}

/// Whether only names say what is painted.
bool by_names_alone(const LabelFile& file) { return file.dicom || file.segments.layers > 1; }

std::vector<std::string> guessed(const std::map<std::string, LabelFile>& files) {
  std::set<std::string> dicom_names;
  std::uint16_t largest = 0;
  for (const auto& [path, file] : files) {
    if (by_names_alone(file)) dicom_names.insert(file.names.begin(), file.names.end());
    largest = std::max(largest, file.largest);
  }
  const bool named =
      std::any_of(files.begin(), files.end(), [](auto& f) { return by_names_alone(f.second); });
  const bool dicom =
      std::any_of(files.begin(), files.end(), [](auto& f) { return f.second.dicom; });
  if (named) {
    fail(ErrorCode::usage,
         "the {}labels name {}: free text, which may identify a patient and is kept only when "
         "you say so; give {} background,NAME,… (NAME=TEXT|TEXT takes texts for a class)",
         dicom ? "DICOM " : "", list_of(dicom_names), Option{"classes"});
  }
  if (files.empty()) return {};
  if (largest <= 1) return {"background", "lesion"};
  std::vector<std::string> names{"background"};
  for (int value = 1; value <= largest; ++value) names.push_back(fmt::format("class_{}", value));
  return names;
}

void code_values(VolumeCase& volume, const NamedClasses& classes) {
  const auto state = [&](int value, int label) {
    volume.coding.emplace_back(fmt::format("value {}", value), label);
  };
  const auto& stated = classes.by_mask_value;
  for (const auto& [value, label] : stated) state(value, label);
  for (int value = 0; stated.empty() && value < static_cast<int>(classes.names.size()); ++value)
    state(value, value);
  if (classes.ignore_value && *classes.ignore_value != kIgnoreLabel)
    state(*classes.ignore_value, kIgnoreLabel);
  if (classes.ignore_value == kIgnoreLabel) volume.coding.emplace_back("ignore stated", 1);
  if (!stated.contains(kIgnoreLabel)) state(kIgnoreLabel, kIgnoreLabel);
}

/// Collects the names of one file that are classes; returns how many are not.
std::size_t code_names(VolumeCase& volume, const LabelFile& file, const NamedClasses& classes) {
  std::size_t left_out = 0;
  for (const std::string& name : file.names) {
    const auto found = classes.by_plain_name.find(folded_name(name));
    if (found == classes.by_plain_name.end()) {
      ++left_out;
      continue;
    }
    const std::pair<std::string, int> rule{"name " + name, found->second};
    if (std::find(volume.coding.begin(), volume.coding.end(), rule) == volume.coding.end())
      volume.coding.push_back(rule);
  }
  if (left_out == file.names.size()) {
    fail(ErrorCode::usage, "{}: names {}, and none is among the classes {}; correct {}", file.path,
         list_of({file.names.begin(), file.names.end()}), fmt::join(classes.names, ", "),
         Option{"classes"});
  }
  return left_out;
}

/// Picks the masks of organs that are classes, in the order of the classes, so that a later class
/// paints over an earlier one.
void pick_organs(VolumeCase& volume, const NamedClasses& classes) {
  if (volume.organs.empty()) return;
  std::vector<std::vector<std::string>> files(classes.names.size());
  for (const auto& [stem, path] : volume.organs) {
    const auto found = classes.by_plain_name.find(folded_name(stem));
    if (found != classes.by_plain_name.end())
      files[static_cast<std::size_t>(found->second)].push_back(path);
  }
  for (std::size_t value = 1; value < files.size(); ++value) {
    if (files[value].empty()) {
      fail(ErrorCode::usage,
           "{}: no mask beside it is named '{}', and without one its {} would be taught as "
           "background; put an empty mask there, leave the case out, or correct {} ({} "
           "masks are there: {}{})",
           describe(volume), classes.names[value], classes.names[value], Option{"classes"},
           volume.organs.size(), fmt::join(some_names(volume.organs), ", "),
           volume.organs.size() > kNamesShown ? ", …" : "");
    }
    volume.labels.insert(volume.labels.end(), files[value].begin(), files[value].end());
  }
}

/// Whether a segmentation of 3D Slicer is read by the names of its segments. A single layer also
/// has values, as any mask: they count where they are stated, and where not every name is a class
/// and names say nothing else.
bool read_by_names(const LabelFile& file, const NamedClasses& classes) {
  if (file.segments.layers > 1) return true;
  if (!classes.by_mask_value.empty()) return false;
  bool any = false, all = true, other = false;
  for (const auto& segment : file.segments.segments) {
    const auto found = classes.by_plain_name.find(folded_name(segment.name));
    const bool named = found != classes.by_plain_name.end();
    any = any || named;
    all = all && named;
    other =
        other || (named ? segment.value != found->second : segment.value >= classes.names.size());
  }
  return any && (all || other);
}

/// What is settled about the labels of all cases.
struct Coding {
  const std::map<std::string, LabelFile>& files;
  const NamedClasses& classes;
  StructureSets structure_sets;
  std::shared_ptr<const MaskPeers> peers;
  std::size_t left_out = 0;  ///< names that are not a class
  std::size_t replaced = 0;  ///< files that newer ones replace
};

std::vector<int> classes_of_names(const LabelFile& file, const NamedClasses& classes) {
  std::vector<int> found;
  for (const std::string& name : file.names) {
    const auto label = classes.by_plain_name.find(folded_name(name));
    if (label != classes.by_plain_name.end()) found.push_back(label->second);
  }
  return found;
}

std::vector<int> classes_of_values(const NamedClasses& classes) {
  std::vector<int> all;
  for (int label = 1; label < static_cast<int>(classes.names.size()); ++label) all.push_back(label);
  return all;
}

/// Whether a file is a mask of one organ, by where it lies.
bool is_organ_mask(const VolumeCase& volume, const std::string& path) {
  const auto own = volume.organs.find(volume_stem(path));
  return in_mask_folder(path) || (own != volume.organs.end() && own->second == path);
}

/// Sets what the labels of a case mean.
void code_labels(VolumeCase& volume, Coding& coding) {
  const NamedClasses& classes = coding.classes;
  bool values = false;
  std::vector<ClassesOfFile> several;
  for (const std::string& path : volume.labels) {
    const LabelFile& file = coding.files.at(path);
    const std::string stem = volume_stem(path);
    const auto organ = classes.by_plain_name.find(folded_name(stem));
    if (!file.dicom && is_organ_mask(volume, path) && organ != classes.by_plain_name.end()) {
      volume.coding.emplace_back("mask " + stem, organ->second);
      continue;
    }
    const bool by_names = file.dicom || read_by_names(file, classes);
    if (by_names) coding.left_out += code_names(volume, file, classes);
    if (by_names && !file.dicom) volume.masks_by_name.insert(path);
    values = values || !by_names;
    several.push_back({path,
                       by_names ? classes_of_names(file, classes) : classes_of_values(classes),
                       file.written});
  }
  if (values) code_values(volume, classes);
  std::sort(volume.coding.begin(), volume.coding.end());
  volume.mask_peers = coding.peers;
  coding.replaced += settle_structure_sets(coding.structure_sets, several, classes.names, volume);
}

std::shared_ptr<const MaskPeers> peers_of(const std::map<std::string, LabelFile>& files) {
  std::vector<std::string> masks;
  for (const auto& [path, file] : files) {
    if (!by_names_alone(file)) masks.push_back(path);
  }
  return std::make_shared<const MaskPeers>(std::move(masks));
}

}  // namespace

SettledClasses settle_classes(const StatedClasses& stated, int jobs, std::vector<VolumeCase>& cases,
                              std::vector<std::string>& notes, BadInputs& bad) {
  const bool guess = stated.given.empty() && stated.dataset.empty();
  if (guess) refuse_organs(cases);
  if (!stated.given.empty()) {
    const NamedClasses classes = named_classes(stated.given, to_string(Option{"classes"}));
    std::vector<VolumeCase> picked;
    for (VolumeCase& volume : cases) {
      if (bad.look(describe(volume), [&] { pick_organs(volume, classes); }))
        picked.push_back(std::move(volume));
    }
    cases = std::move(picked);
  }
  const auto files = look_at_labels(cases, guess, jobs, bad);
  if (!stated.given.empty() && !stated.dataset.empty() &&
      !states_values(stated.given, to_string(Option{"classes"})) &&
      stated.given.size() != stated.dataset.size()) {
    fail(ErrorCode::usage, "{}: {} names, but dataset.json has {} ({})", Option{"classes"},
         stated.given.size(), stated.dataset.size(), fmt::join(stated.dataset, ", "));
  }
  check_class_order(stated.given, stated.dataset, "dataset.json");
  check_class_order_beside(stated.given.empty() ? stated.dataset : stated.given,
                           stated.label_folder);
  const auto& chosen = !stated.given.empty()     ? stated.given
                       : !stated.dataset.empty() ? stated.dataset
                                                 : guessed(files);
  if (chosen.empty()) return {};
  NamedClasses classes =
      named_classes(chosen, stated.given.empty() ? "dataset.json" : to_string(Option{"classes"}));
  if (!classes.ignore_value) classes.ignore_value = stated.ignore_value;
  SettledClasses settled{
      classes.names,
      parse_class_sets(stated.class_sets, classes.names, to_string(Option{"class_sets"})),
      classes.ignore_value};
  classes.add(settled.class_sets);
  Coding coding{files, classes, stated.structure_sets, peers_of(files)};
  std::vector<VolumeCase> coded;
  for (VolumeCase& volume : cases) {
    if (bad.look(describe(volume), [&] { code_labels(volume, coding); }))
      coded.push_back(std::move(volume));
  }
  cases = std::move(coded);
  if (coding.left_out > 0) {
    notes.push_back(fmt::format(
        "{} segments and structures are not among the classes and left out.", coding.left_out));
  }
  if (coding.replaced > 0) {
    notes.push_back(
        fmt::format("{} label files have classes that newer ones of the same image "
                    "replace ({} newest).",
                    coding.replaced, Option{"structure_set"}));
  }
  return settled;
}

}  // namespace headrace::ingest
