#include "headrace/ingest/volume/volume_inputs.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "headrace/core/error.hpp"
#include "headrace/core/input_path.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/ingest/inputs/input_files.hpp"
#include "headrace/ingest/inputs/similar_cases.hpp"
#include "headrace/ingest/names/case_rules.hpp"
#include "headrace/ingest/names/store_names.hpp"
#include "headrace/ingest/volume/channels.hpp"
#include "headrace/ingest/volume/dataset_json.hpp"
#include "headrace/ingest/volume/dicom_cases.hpp"
#include "headrace/ingest/volume/label_files.hpp"
#include "headrace/ingest/volume/label_objects.hpp"
#include "headrace/ingest/volume/number_images.hpp"
#include "headrace/ingest/volume/organ_folders.hpp"
#include "headrace/ingest/volume/site_key.hpp"
#include "headrace/ingest/volume/volume_classes.hpp"
#include "headrace/ingest/volume/volume_files.hpp"
#include "headrace/ingest/volume/volume_table.hpp"

namespace headrace::ingest {
namespace {

namespace fs = std::filesystem;

class Finder {
 public:
  Finder(const VolumeIngestOptions& options, BadInputs& bad)
      : options_(options),
        bad_(bad),
        key_(std::make_shared<SiteKey>(options.key_file, options.out)),
        pseudonym_(key_->key()) {
    stated_.given = options.classes;
    stated_.class_sets = options.class_sets;
    stated_.structure_sets = options.structure_set;
    stated_.label_folder = options.labels;
    found_.channels = parse_channels(options.channels);
    given_ = found_.channels;
  }

  VolumeInputs find() {
    read_datasets();
    if (options_.table.empty()) {
      take_inputs();
    } else {
      take_rows();
    }
    join_channels();
    match_labels_again();
    take_label_folder();
    if (options_.without_labels) drop_labels();
    if (options_.number_images) {
      for (auto& sentence : number_images(found_.cases))
        found_.notes.push_back(std::move(sentence));
    }
    std::vector<VolumeCase> filled;
    for (VolumeCase& volume : found_.cases) {
      if (bad_.look(describe(volume), [&] { fill_in(volume); }))
        filled.push_back(std::move(volume));
    }
    found_.cases = std::move(filled);
    sort_by_id(found_.cases);
    place_in_splits(found_.cases, options_.val_fraction);
    refuse_similar_cases_of(found_.cases, options_.accept);
    SettledClasses settled =
        settle_classes(stated_, options_.jobs, found_.cases, found_.notes, bad_);
    found_.classes = std::move(settled.classes);
    found_.class_sets = std::move(settled.class_sets);
    found_.ignore_value = settled.ignore_value;
    const bool dicom = std::any_of(found_.cases.begin(), found_.cases.end(),
                                   [](const VolumeCase& v) { return v.series.has_value(); });
    if (dicom) found_.key = key_;
    return std::move(found_);
  }

 private:
  void read_datasets() {
    for (const auto& input : options_.inputs) {
      if (input_kind(input) != InputKind::folder || !is_dataset_folder(input)) continue;
      DatasetFolder dataset = read_dataset_folder(input, given_);
      if (!datasets_.empty())
        check_alike(input, dataset, datasets_.begin()->first, datasets_.begin()->second);
      found_.channels = dataset.channels;
      stated_.dataset = dataset.classes;
      stated_.ignore_value = dataset.ignore_value;
      found_.notes.insert(found_.notes.end(), dataset.notes.begin(), dataset.notes.end());
      datasets_.emplace(input, std::move(dataset));
    }
  }

  void take_inputs() {
    std::vector<std::string> volumes, others;
    std::vector<std::pair<std::string, VolumeFiles>> plain_inputs;
    for (const auto& input : options_.inputs) {
      if (const auto dataset = datasets_.find(input); dataset != datasets_.end()) {
        append(dataset->second.cases);
        append(files_of_no_case(input, dataset->second.cases));
        continue;
      }
      VolumeFiles files;
      // Otherwise "./a.dcm" and "a.dcm", the same file, would be two slices.
      const std::string plain = fs::path(input).lexically_normal().string();
      if (!bad_.look(input, [&] { files = volume_files(plain); })) {
        refused_.push_back(plain);
        continue;
      }
      const auto labelled = [&](const std::string& path) {
        return lies_below(path, options_.labels);
      };
      std::erase_if(files.volumes, labelled);
      std::erase_if(files.others, labelled);
      std::erase_if(files.odd, [&](const UnusedFile& file) { return labelled(file.path); });
      take_odd_masks(files, volumes, found_.unused);
      volumes.insert(volumes.end(), files.volumes.begin(), files.volumes.end());
      others.insert(others.end(), files.others.begin(), files.others.end());
      plain_inputs.emplace_back(input, std::move(files));
    }
    std::sort(volumes.begin(), volumes.end());
    volumes.erase(std::unique(volumes.begin(), volumes.end()), volumes.end());
    take_volume_files(volumes);
    const imaging::DicomScan scan = scan_files(others);
    take_scan(scan);
    if (!given_.empty()) name_channels();
    for (const auto& [input, files] : plain_inputs) {
      bad_.look(input, [&, &input = input, &files = files] { check_input(input, files, scan); });
    }
  }

  void take_volume_files(const std::vector<std::string>& files) {
    const OrganFolders organs = take_out_organs(files);
    std::set<std::string> refused;
    for (const auto& file : organs.rest) {
      if (!named_as_mask(volume_stem(file))) refused.insert(file);
    }
    for (const auto& one : pair_with_masks(organs.rest, bad_)) {
      refused.erase(one.image);
      VolumeCase volume;
      volume.file = one.image;
      volume.labels = one.labels;
      const auto own = organs.masks.find(one.image);
      if (own != organs.masks.end() && one.labels.empty()) volume.organs = own->second;
      // Every CT of such a data set is named ct; only the folder's name distinguishes it.
      if (!organs.masks.empty() && is_ct_file(one.image)) volume.id = folder_name(one.image);
      found_.cases.push_back(std::move(volume));
    }
    if (given_.empty()) name_by_folders(found_.cases);
    refused_.insert(refused_.end(), refused.begin(), refused.end());
  }

  void name_channels() {
    name_numbered_channels(found_.channels.names, found_.cases);
    const std::size_t others = name_series_channels(found_.channels, found_.cases);
    found_.skipped += others;
    if (others > 0) {
      found_.notes.push_back(fmt::format(
          "{} series left out, whose headers do not say that they are one of the channels {}.",
          others, fmt::join(found_.channels.names, ", ")));
    }
  }

  void drop_labels() {
    stated_ = {};
    for (VolumeCase& volume : found_.cases) {
      volume.labels.clear();
      volume.organs.clear();
      volume.coding.clear();
    }
  }

  void join_channels() {
    const ChannelRules rules{found_.channels, options_.missing_channels == MissingChannels::zero};
    if (!options_.labels.empty()) {
      for (VolumeCase& volume : found_.cases) volume.organs.clear();  // other labels are asked for
    }
    for (const std::string& file : refused_) {
      VolumeCase volume;
      volume.file = file;
      volume.id = image_of_file(file);
      broken_.images.insert(volume.id);
      left_out_.push_back(std::move(volume));
    }
    JoinedChannels joined =
        ingest::join_channels(std::move(found_.cases), rules, std::move(broken_), bad_);
    found_.cases = std::move(joined.images);
    left_out_.insert(left_out_.end(), joined.left_out.begin(), joined.left_out.end());
    for (VolumeCase& volume : left_out_) volume.labels.clear();
  }

  /// Labels that fit none of several series may fit the image whose channels these are, by a frame
  /// of reference that only these share. Images whose labels are stated in a row keep those.
  void match_labels_again() {
    UnusedFiles unused = unmatched_files_;
    if (!found_.channels.empty() && !unused.empty()) {
      auto& cases = found_.cases;
      const auto stated = std::stable_partition(
          cases.begin(), cases.end(),
          [&](const VolumeCase& v) { return !stated_labels_.contains(v.id); });
      std::vector<VolumeCase> open(cases.begin(), stated);
      unused = attach_label_objects(unmatched_, open);
      std::move(open.begin(), open.end(), cases.begin());
    }
    if (unused.empty() || !options_.table.empty() || found_.cases.empty()) return;
    for (auto& file : with_reason(unused, "its labels refer to none of the images"))
      found_.unused.push_back(std::move(file));
  }

  /// Gives labels to cases of one scan, and keeps those that fit none.
  void attach_labels(const imaging::DicomScan& scan, std::vector<VolumeCase>& cases) {
    for (UnusedFile& file : attach_label_objects(scan.labels, cases)) {
      unmatched_.push_back(
          *std::find_if(scan.labels.begin(), scan.labels.end(),
                        [&](const auto& label) { return label.path == file.path; }));
      unmatched_files_.push_back(std::move(file));
    }
  }

  /// For a file that was refused when only its name was known.
  std::string image_of_file(const std::string& file) const {
    const std::string stem = volume_stem(file);
    const auto name = numbered_name(stem, found_.channels.size());
    return plain_id(name ? name->image : stem);
  }

  static std::string folder_name(const std::string& file) { return plain_id(parent_name(file)); }

  imaging::DicomScan scan_files(const std::vector<std::string>& files) const {
    return files.empty()
               ? imaging::DicomScan{}
               : imaging::scan_dicom(files, pseudonym_, options_.jobs, series_rules(options_));
  }

  void take_scan(const imaging::DicomScan& scan) {
    DicomCases dicom = cases_of_scan(scan, found_.channels, options_.acquisition, bad_);
    broken_.images.merge(dicom.broken_studies);
    broken_.unplaced = dicom.unplaced;
    attach_labels(scan, dicom.cases);
    append(dicom.cases);
    take_findings(dicom);
  }

  void take_findings(const DicomCases& dicom) {
    found_.notes.insert(found_.notes.end(), dicom.notes.begin(), dicom.notes.end());
    append(dicom.unused);
    found_.skipped += dicom.skipped;
  }

  void append(const std::vector<VolumeCase>& cases) {
    found_.cases.insert(found_.cases.end(), cases.begin(), cases.end());
  }

  void append(const UnusedFiles& files) {
    found_.unused.insert(found_.unused.end(), files.begin(), files.end());
  }

  /// Refuses an input that gives no volume, and reports its contents.
  void check_input(const std::string& input, const VolumeFiles& files,
                   const imaging::DicomScan& scan) const {
    if (!files.volumes.empty()) return;
    const auto here = [&](const std::string& path) {
      return std::binary_search(files.others.begin(), files.others.end(), path);
    };
    // Files that can't be read are reported on their own.
    if (std::any_of(scan.problems.begin(), scan.problems.end(),
                    [&](const auto& problem) { return here(problem.path); })) {
      return;
    }
    imaging::DicomScan own;
    for (const auto& series : scan.series) {
      const bool any = std::any_of(series.slices.begin(), series.slices.end(),
                                   [&](const auto& slice) { return here(slice.path); });
      if (!any) continue;
      if (is_taken(series, found_.channels)) return;
      own.series.push_back(series);
    }
    const bool labels = std::any_of(scan.labels.begin(), scan.labels.end(),
                                    [&](const auto& label) { return here(label.path); });
    const std::string others = other_series(own, found_.channels);
    if (!others.empty()) {
      fail(ErrorCode::unsupported, "{}: holds no CT, but {}; only CT has Hounsfield units{}", input,
           others,
           found_.channels.has(IntensityUnit::suv)
               ? ""
               : fmt::format(", and PET becomes a channel beside it ({} CT,PET)",
                             Option{"channels"}));
    }
    if (labels && scan.series.size() > own.series.size()) return;
    fail(
        ErrorCode::usage,
        "{}: holds no volume{}; expected NIfTI, NRRD, MetaImage or DICOM CT with places in space{}",
        input, labels ? ", but labels" : "", in_brackets(files.odd));
  }

  void take_rows() {
    const FileFinder finder(options_.inputs, options_.table, true);
    std::map<std::string, const VolumeCase*> of_datasets;
    for (const auto& [folder, dataset] : datasets_) {
      for (const auto& volume : dataset.cases)
        of_datasets[fs::weakly_canonical(volume.file).string()] = &volume;
    }
    const auto rows = read_volume_table(options_.table, options_.columns);
    if (found_.channels.empty()) found_.channels = channels_named(names_of(rows));
    if (found_.channels.size() == 1) {
      fail(ErrorCode::usage,
           "{}: the column 'channel' names '{}' alone, and one channel has no name; name two or "
           "more, one in each row, or leave the column out",
           options_.table, found_.channels.names.front());
    }
    check_channels(found_.channels, options_.table);
    for (const VolumeRow& row : rows) {
      if (bad_.look(row.where, [&] { take_row(row, finder, of_datasets); })) continue;
      broken_.images.insert(row.image.empty() ? image_of_file(row.file) : row.image);
    }
  }

  void take_row(const VolumeRow& row, const FileFinder& finder,
                const std::map<std::string, const VolumeCase*>& of_datasets) {
    const std::string path = finder.find(row.file, "file", row.where);
    const auto known = of_datasets.find(fs::weakly_canonical(path).string());
    std::vector<VolumeCase> cases;
    if (known != of_datasets.end()) {
      cases = {*known->second};
    } else {
      cases = cases_at(path, row);
    }
    if (cases.size() > 1 && (!row.image.empty() || row.phase || !row.labels.empty())) {
      fail(ErrorCode::usage,
           "{}: {} holds {} series (numbers {}); say which in the column 'series', a row for "
           "each",
           row.where, path, cases.size(), series_numbers(cases));
    }
    for (VolumeCase& volume : cases) found_.cases.push_back(by_row(std::move(volume), row, finder));
  }

  std::vector<VolumeCase> cases_at(const std::string& path, const VolumeRow& row) {
    const VolumeFiles files = volume_files(path);
    if (!fs::is_directory(path) && !files.volumes.empty()) {
      VolumeCase volume;
      volume.file = path;
      volume.organs = organ_masks_beside(path);
      if (!volume.organs.empty()) volume.id = folder_name(path);
      return {volume};
    }
    if (files.others.empty()) {
      fail(ErrorCode::usage,
           "{}: {} is a folder without DICOM; name a volume file in a row of its own", row.where,
           path);
    }
    auto scanned = scans_.find(path);
    if (scanned == scans_.end()) {
      const imaging::DicomScan scan = scan_files(files.others);
      BadInputs here(OnError::stop);
      DicomCases dicom = cases_of_scan(scan, found_.channels, options_.acquisition, here);
      with_context(row.where, [&] { here.check(dicom.cases.size()); });
      attach_labels(scan, dicom.cases);
      if (dicom.cases.empty())
        with_context(row.where, [&] { check_input(path, {{}, files.others, {}}, scan); });
      take_findings(dicom);
      scanned = scans_.emplace(path, std::move(dicom.cases)).first;
    }
    std::vector<VolumeCase> cases = scanned->second;
    if (!row.series) return cases;
    const std::string numbers = series_numbers(cases);
    std::erase_if(cases,
                  [&](const VolumeCase& v) { return v.series->series_number != row.series; });
    if (cases.empty()) {
      fail(ErrorCode::not_found, "{}: {} has no series number {}; it has {}{}", row.where, path,
           *row.series, numbers,
           row.channel.empty() || found_.channels.has(IntensityUnit::suv)
               ? ""
               : fmt::format(" of CT; for PET say which channel is in SUV ({} CT,NAME=SUV)",
                             Option{"channels"}));
    }
    return cases;
  }

  /// In the order in which the table names them first.
  static std::vector<std::string> names_of(const std::vector<VolumeRow>& rows) {
    std::vector<std::string> names;
    for (const VolumeRow& row : rows) {
      const bool known = std::find(names.begin(), names.end(), row.channel) != names.end();
      if (!row.channel.empty() && !known) names.push_back(row.channel);
    }
    return names;
  }

  VolumeCase by_row(VolumeCase volume, const VolumeRow& row, const FileFinder& finder) {
    volume.where = row.where;
    if (!row.image.empty()) volume.id = row.image;
    volume.id_stated = !row.image.empty();
    if (!row.channel.empty()) volume.channel = row.channel;
    volume.stated_case = row.case_id;
    volume.stated_cohort = row.cohort;
    if (!row.case_id.empty()) volume.case_id = row.case_id;
    if (!row.cohort.empty()) volume.cohort = row.cohort;
    if (!row.scanner.empty()) volume.scanner = row.scanner;
    volume.free = row.free;
    if (!row.split.empty()) volume.split = row.split;
    if (row.phase) volume.phase = *row.phase;
    if (row.negative) volume.negative = row.negative;
    if (!row.labels.empty()) {
      volume.labels.clear();
      volume.organs.clear();
      stated_labels_.insert(volume.id);
      volume.labels_stated = true;
    }
    for (const auto& name : row.labels) {
      volume.labels.push_back(finder.find_annotation(name, options_.labels, row.where, "labels"));
    }
    if (volume.labels_stated) note_other_frames(pseudonym_, volume);
    return volume;
  }

  void take_label_folder() {
    if (options_.labels.empty()) return;
    const std::size_t kept = found_.cases.size();
    // Masks of images that are left out have an image, and are left out with it.
    found_.cases.insert(found_.cases.end(), left_out_.begin(), left_out_.end());
    for (VolumeCase& volume : found_.cases) {
      if (volume.id.empty()) volume.id = id_of(volume);
    }
    const auto unused =
        attach_label_folder(options_.labels, pseudonym_, options_.jobs, found_.cases);
    found_.cases.resize(kept);
    const std::string readable = first_readable(unused);
    if (options_.table.empty() && !readable.empty()) {
      fail(ErrorCode::usage,
           "{} {}: {} fits no image; a mask is named as its image, or with _mask, _seg or .seg "
           "after it, or stands in a table's column 'labels'",
           Option{"labels"}, options_.labels, readable);
    }
    std::set<std::string> used;
    for (const auto& volume : found_.cases) used.insert(volume.labels.begin(), volume.labels.end());
    for (const auto& file : with_reason(unused, "it fits no row of the table")) {
      if (!used.contains(file.path)) found_.unused.push_back(file);
    }
  }

  static std::string id_of(const VolumeCase& volume) { return plain_id(volume_stem(volume.file)); }

  void fill_in(VolumeCase& volume) const {
    if (volume.id.empty()) volume.id = id_of(volume);
    check_id(volume);
    if (volume.case_id.empty()) volume.case_id = volume.id;
    if (volume.cohort.empty()) volume.cohort = "default";
    if (const auto why = why_no_name(volume.id, false)) {
      fail(ErrorCode::usage, "{}: image '{}' {}, and it would enter the {}", describe(volume),
           volume.id, *why,
           options_.names_by_files
               ? "result; rename the file or folder to a pseudonym"
               : fmt::format("store; number the images ({}), or give pseudonyms in a table's "
                             "columns 'image' and 'case'",
                             Option{"number_images"}));
    }
    check_name(volume.case_id, "case", describe(volume));
  }

  const VolumeIngestOptions& options_;
  BadInputs& bad_;
  std::shared_ptr<SiteKey> key_;
  imaging::Pseudonymizer pseudonym_;
  StatedClasses stated_;
  ChannelList given_;                              ///< by --channels
  std::map<std::string, DatasetFolder> datasets_;  ///< by input
  std::map<std::string, std::vector<VolumeCase>> scans_;
  std::vector<imaging::DicomLabelFile> unmatched_;
  UnusedFiles unmatched_files_;          ///< the same
  std::set<std::string> stated_labels_;  ///< images whose labels a row names
  std::vector<std::string> refused_;     ///< files of volumes
  BrokenChannels broken_;
  std::vector<VolumeCase> left_out_;  ///< as far as known
  VolumeInputs found_;
};

}  // namespace

VolumeInputs find_volume_inputs(const VolumeIngestOptions& options, BadInputs& bad) {
  if (options.inputs.empty() && options.table.empty()) {
    fail(ErrorCode::usage, "nothing to ingest: name volumes, folders, or a {}", Option{"table"});
  }
  return Finder(options, bad).find();
}

}  // namespace headrace::ingest
