#include "headrace/ingest/volume/volume_classes.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/core/text.hpp"
#include "headrace/core/threads.hpp"
#include "headrace/imaging/dicom/dicom_labels.hpp"
#include "headrace/imaging/volume/volume_reader.hpp"
#include "headrace/ingest/phi/identifying_text.hpp"
#include "headrace/ingest/volume/organ_folders.hpp"
#include "headrace/ingest/volume/volume_files.hpp"
#include "headrace/ingest/volume/volume_inputs.hpp"

namespace headrace::ingest {
namespace {

constexpr std::size_t kMostClasses = 255, kLongestName = 64;
constexpr std::size_t kNamesShown = 8;  // names of masks shown in an error

struct NamedClasses {
  std::vector<std::string> names;
  std::map<std::string, int> by_plain_name;  ///< of classes, and the names after '=' in --classes

  void add(const std::vector<ClassSet>& sets);
};

void check_class_name(const std::string& name, const std::string& origin) {
  const auto why = why_identifying(name);
  if (!why && name.size() <= kLongestName) return;
  fail(ErrorCode::usage, "{}: class '{}' {}; name it otherwise", origin, name,
       why ? "looks like " + *why : fmt::format("is longer than {}", kLongestName));
}

void NamedClasses::add(const std::vector<ClassSet>& sets) {
  for (const ClassSet& set : sets) {
    check_class_name(set.name, to_string(Option{"class_sets"}));
    const int value = static_cast<int>(names.size());
    if (!by_plain_name.try_emplace(folded_name(set.name), value).second) {
      fail(ErrorCode::usage, "{}: '{}' is the name of a class as well", Option{"class_sets"},
           set.name);
    }
    names.push_back(set.name);
  }
}

NamedClasses named(const std::vector<std::string>& given, const std::string& origin) {
  NamedClasses classes;
  const auto also = [&](const std::string& name, std::size_t value) {
    if (!classes.by_plain_name.try_emplace(folded_name(name), static_cast<int>(value)).second ||
        folded_name(name).empty()) {
      fail(ErrorCode::usage, "{}: '{}' is empty, or stands there twice", origin, name);
    }
  };
  for (const std::string& text : given) {
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    check_class_name(name, origin);
    also(name, classes.names.size());
    if (equals != std::string::npos) {
      for (const std::string& other : split(text.substr(equals + 1), '|')) {
        if (folded_name(other) != folded_name(name)) also(other, classes.names.size());
      }
    }
    classes.names.push_back(name);
  }
  if (classes.names.size() > kMostClasses || classes.names.size() == 1) {
    fail(ErrorCode::usage, "{}: {} classes, expected 2 to {} with the background first", origin,
         classes.names.size(), kMostClasses);
  }
  return classes;
}

struct LabelFile {
  std::string path;
  bool dicom = false;
  std::vector<std::string> names;  ///< of DICOM
  std::uint16_t largest = 0;       ///< of a mask; read only when it decides
};

std::uint16_t largest_value(const std::string& path) {
  const auto reader = imaging::open_volume(path);
  const auto& grid = reader->info().grid;
  std::vector<double> slice(static_cast<std::size_t>(grid.slice_voxels()));
  double largest = 0;
  for (std::int64_t z = 0; z < grid.shape_zyx[0]; ++z) {
    reader->read_slice(z, slice.data());
    for (std::size_t i = 0; i < slice.size(); ++i) {
      if (!(slice[i] >= 0 && slice[i] <= kIgnoreLabel && slice[i] == std::floor(slice[i]))) {
        const auto width = static_cast<std::size_t>(grid.shape_zyx[2]);
        fail(ErrorCode::malformed,
             "{}: value {} at voxel (x {}, y {}, z {}), expected a class from 0 to 254 or 255 "
             "(ignore)",
             path, slice[i], i % width, i / width, z);
      }
      if (slice[i] != kIgnoreLabel) largest = std::max(largest, slice[i]);
    }
  }
  return static_cast<std::uint16_t>(largest);
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
  } else if (with_values) {
    file.largest = largest_value(file.path);
  }
}

/// The label files of all cases by path. Cases with one that is bad are taken out.
std::map<std::string, LabelFile> look_at_labels(std::vector<VolumeCase>& cases, bool with_values,
                                                int jobs, BadInputs& bad) {
  std::set<std::string> paths;
  for (const auto& volume : cases) paths.insert(volume.labels.begin(), volume.labels.end());
  std::vector<LabelFile> files;
  for (const auto& path : paths) files.push_back({path, false, {}, 0});
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

std::vector<std::string> guessed(const std::map<std::string, LabelFile>& files) {
  std::set<std::string> dicom_names;
  std::uint16_t largest = 0;
  for (const auto& [path, file] : files) {
    dicom_names.insert(file.names.begin(), file.names.end());
    largest = std::max(largest, file.largest);
  }
  const bool dicom =
      std::any_of(files.begin(), files.end(), [](auto& f) { return f.second.dicom; });
  if (dicom) {
    fail(ErrorCode::usage,
         "the DICOM labels name {}: free text, which may identify a patient and is kept only when "
         "you say so; give {} background,NAME,… (NAME=TEXT|TEXT takes texts for a class)",
         list_of(dicom_names), Option{"classes"});
  }
  if (files.empty()) return {};
  if (largest <= 1) return {"background", "lesion"};
  std::vector<std::string> names{"background"};
  for (int value = 1; value <= largest; ++value) names.push_back(fmt::format("class_{}", value));
  return names;
}

void code_values(VolumeCase& volume, std::size_t classes, std::optional<int> ignore_value) {
  for (std::size_t value = 0; value < classes; ++value) {
    volume.coding.emplace_back(fmt::format("value {}", value), static_cast<int>(value));
  }
  if (ignore_value && *ignore_value != kIgnoreLabel)
    volume.coding.emplace_back(fmt::format("value {}", *ignore_value), kIgnoreLabel);
  volume.coding.emplace_back(fmt::format("value {}", kIgnoreLabel), kIgnoreLabel);
}

/// Collects the names of one DICOM file that are classes; returns how many are not.
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

/// Sets what the labels of a case mean; returns how many names of DICOM are not a class.
std::size_t code_labels(VolumeCase& volume, const std::map<std::string, LabelFile>& files,
                        const NamedClasses& classes, std::optional<int> ignore_value) {
  std::size_t left_out = 0;
  bool masks = false;
  for (const std::string& path : volume.labels) {
    const LabelFile& file = files.at(path);
    const std::string stem = volume_stem(path);
    const auto own = volume.organs.find(stem);
    const bool of_organ =
        in_mask_folder(path) || (own != volume.organs.end() && own->second == path);
    const auto organ = classes.by_plain_name.find(folded_name(stem));
    if (file.dicom) {
      left_out += code_names(volume, file, classes);
    } else if (of_organ && organ != classes.by_plain_name.end()) {
      volume.coding.emplace_back("mask " + stem, organ->second);
    } else {
      masks = true;
    }
  }
  if (masks) code_values(volume, classes.names.size(), ignore_value);
  std::sort(volume.coding.begin(), volume.coding.end());
  return left_out;
}

}  // namespace

SettledClasses settle_classes(const StatedClasses& stated, int jobs, std::vector<VolumeCase>& cases,
                              std::vector<std::string>& notes, BadInputs& bad) {
  const bool guess = stated.given.empty() && stated.dataset.empty();
  if (guess) refuse_organs(cases);
  if (!stated.given.empty()) {
    const NamedClasses classes = named(stated.given, to_string(Option{"classes"}));
    std::vector<VolumeCase> picked;
    for (VolumeCase& volume : cases) {
      if (bad.look(describe(volume), [&] { pick_organs(volume, classes); }))
        picked.push_back(std::move(volume));
    }
    cases = std::move(picked);
  }
  const auto files = look_at_labels(cases, guess, jobs, bad);
  if (!stated.given.empty() && !stated.dataset.empty() &&
      stated.given.size() != stated.dataset.size()) {
    fail(ErrorCode::usage, "{}: {} names, but dataset.json has {} ({})", Option{"classes"},
         stated.given.size(), stated.dataset.size(), fmt::join(stated.dataset, ", "));
  }
  const auto& chosen = !stated.given.empty()     ? stated.given
                       : !stated.dataset.empty() ? stated.dataset
                                                 : guessed(files);
  if (chosen.empty()) return {};
  NamedClasses classes =
      named(chosen, stated.given.empty() ? "dataset.json" : to_string(Option{"classes"}));
  SettledClasses settled{classes.names, parse_class_sets(stated.class_sets, classes.names,
                                                         to_string(Option{"class_sets"}))};
  classes.add(settled.class_sets);
  std::size_t left_out = 0;
  std::vector<VolumeCase> coded;
  for (VolumeCase& volume : cases) {
    const bool good = bad.look(describe(volume), [&] {
      left_out += code_labels(volume, files, classes, stated.ignore_value);
    });
    if (good) coded.push_back(std::move(volume));
  }
  cases = std::move(coded);
  if (left_out > 0) {
    notes.push_back(fmt::format(
        "{} segments and structures are not among the classes and left out.", left_out));
  }
  return settled;
}

}  // namespace headrace::ingest
