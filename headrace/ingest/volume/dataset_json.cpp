#include "headrace/ingest/volume/dataset_json.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <map>
#include <set>

#include "headrace/core/error.hpp"
#include "headrace/core/folder_walk.hpp"
#include "headrace/core/json.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/core/text.hpp"
#include "headrace/imaging/volume/volume_reader.hpp"
#include "headrace/ingest/names/case_rules.hpp"
#include "headrace/ingest/volume/channels.hpp"
#include "headrace/ingest/volume/dataset_labels.hpp"
#include "headrace/ingest/volume/volume_files.hpp"
#include "headrace/storage/open_store.hpp"

namespace headrace::ingest {
namespace {

namespace fs = std::filesystem;

constexpr int kMostClasses = 255;
constexpr const char* kNoNormalisation = "nonorm";

/// nnU-Net's suffix after the case's name: _0000 for channel 0 (numbered_name removes it).
std::string ending_of_channel(std::size_t channel) { return fmt::format("_{:04}", channel); }

class Layout {
 public:
  Layout(const std::string& folder, const ChannelList& given)
      : folder_(folder),
        given_(given),
        path_((fs::path(folder) / "dataset.json").string()),
        text_(storage::open_store(storage::Place::parse(folder))->get_text("dataset.json")),
        json_(parse_json(text_, path_)) {
    if (!json_.is_object()) fail(ErrorCode::malformed, "{}: expected a JSON object", path_);
  }

  DatasetFolder read() {
    read_channels();
    read_labels();
    const Json training = json_.value("training", Json());
    if (json_.contains("dataset")) {
      read_listed();
    } else if (training.is_array()) {
      read_decathlon(training);
    } else {
      read_folders();
    }
    check_count();
    return std::move(found_);
  }

 private:
  void read_channels() {
    const std::string key = json_.contains("channel_names") ? "channel_names" : "modality";
    const Json channels = json_.value(key, Json());
    if (!channels.is_object() || channels.empty()) {
      fail(ErrorCode::malformed, "{}: no channel_names or modality, expected {{\"0\": \"CT\"}}",
           path_);
    }
    count_ = channels.size();
    std::vector<std::string> names;
    for (std::size_t c = 0; c < count_; ++c) {
      const std::string number = std::to_string(c);
      if (count_ > 1 && !channels.contains(number)) {
        fail(ErrorCode::malformed, "{}: {} has {} channels, but none with the number \"{}\"", path_,
             key, count_, c);
      }
      const Json& name = count_ > 1 ? channels[number] : channels.begin().value();
      if (!name.is_string()) {
        fail(ErrorCode::malformed, "{}: {} says {} of channel {}, expected a name in quotes", path_,
             key, name.dump(), c);
      }
      names.push_back(name.get<std::string>());
      if (lowered(names.back()) == kNoNormalisation) note_no_normalisation(key, c);
    }
    if (!given_.empty() && given_.size() != count_) {
      fail(ErrorCode::usage, "{} names {} channels, but {} of {} has {}", Option{"channels"},
           given_.size(), key, path_, count_);
    }
    if (given_.empty()) check_modalities(key, names);
    if (count_ > 1) found_.channels = given_.empty() ? channels_named(names_apart(names)) : given_;
    check_channels(found_.channels, path_);
  }

  /// nnU-Net's word for values that are taken as they are, which says nothing of their unit.
  void note_no_normalisation(const std::string& key, std::size_t channel) {
    if (!given_.empty()) return;
    found_.notes.push_back(
        fmt::format("{}: {} says \"noNorm\" of channel {}, not what it shows; its values are taken "
                    "as Hounsfield units of CT.",
                    path_, key, channel));
  }

  void check_modalities(const std::string& key, const std::vector<std::string>& names) const {
    for (const std::string& name : names) {
      if (count_ == 1 && !is_ct_word(name)) {
        fail(ErrorCode::unsupported,
             "{}: {} says \"{}\", expected \"CT\": only CT has Hounsfield units", path_, key, name);
      }
      if (count_ > 1 && !is_ct_name(name) && unit_of_name(name) == IntensityUnit::hu) {
        fail(ErrorCode::unsupported,
             "{}: {} says \"{}\", expected \"CT\" or \"PET\". If it is one of them, name the "
             "channels by {}",
             path_, key, name, Option{"channels"});
      }
    }
  }

  /// CT in any case, and what is taken as CT.
  static bool is_ct_word(const std::string& name) {
    if (lowered(name) == kNoNormalisation) return true;
    return name.size() == 2 && std::toupper(static_cast<unsigned char>(name[0])) == 'C' &&
           std::toupper(static_cast<unsigned char>(name[1])) == 'T';
  }
  /// CT, CT with an addition, or a contrast phase.
  static bool is_ct_name(const std::string& name) {
    if (is_phase_name(name) || lowered(name) == kNoNormalisation) return true;
    return is_ct_word(name.substr(0, 2)) &&
           (name.size() == 2 || std::isalpha(static_cast<unsigned char>(name[2])) == 0);
  }

  static std::vector<std::string> names_apart(const std::vector<std::string>& names) {
    std::vector<std::string> apart;
    for (std::size_t c = 0; c < names.size(); ++c) {
      const bool again = std::count(names.begin(), names.end(), names[c]) > 1;
      apart.push_back(plain_id(names[c]) + (again ? "-" + std::to_string(c) : ""));
    }
    return apart;
  }

  void read_labels() {
    LabelList labels = read_label_list(text_, path_);
    found_.classes = std::move(labels.classes);
    found_.ignore_value = labels.ignore_value;
    for (auto& note : labels.notes) found_.notes.push_back(std::move(note));
  }

  std::string at(const std::string& name) const { return (fs::path(folder_) / name).string(); }

  /// `channel`: that of the image; the label goes with the first one.
  void add(const std::string& id, const std::string& image, const std::string& label,
           const std::string& split, std::size_t channel = 0) {
    VolumeCase volume;
    if (count_ > 1) volume.channel = found_.channels.names[channel];
    volume.id = volume.case_id = plain_id(id);
    volume.file = image;
    if (!label.empty()) volume.labels = {label};
    volume.split = split;
    volume.where = path_;
    for (const std::string& file : {image, label}) {
      if (!file.empty() && !fs::is_regular_file(file)) {
        fail(ErrorCode::not_found, "{}: {} of case '{}' is not there", path_, file, id);
      }
    }
    if (split != "test") trained_.insert(id);
    found_.cases.push_back(std::move(volume));
  }

  static std::string without_channel(const std::string& stem) {
    const auto name = numbered_name(stem, 1);
    return name ? name->image : stem;
  }

  /// The other channels of a case whose first one is `image`, as far as they exist. Returns their
  /// number.
  std::size_t add_further(const std::string& id, const std::string& image,
                          const std::string& split) {
    const fs::path path(image);
    const std::string stem = volume_stem(image), file = path.filename().string();
    std::size_t added = 0;
    for (std::size_t c = 1; c < count_; ++c) {
      const fs::path other = path.parent_path() / (without_channel(stem) + ending_of_channel(c) +
                                                   file.substr(stem.size()));
      if (!fs::is_regular_file(other)) continue;
      add(id, other.string(), "", split, c);
      ++added;
    }
    return added;
  }

  /// nnU-Net version 1 lists x.nii.gz where the file is x_0000.nii.gz.
  std::string image_at(const std::string& name) const {
    const std::string path = at(name);
    if (fs::is_regular_file(path)) return path;
    const std::string stem = volume_stem(path);
    const std::string file = fs::path(path).filename().string();
    const fs::path channel =
        fs::path(path).parent_path() / (stem + ending_of_channel(0) + file.substr(stem.size()));
    return fs::is_regular_file(channel) ? channel.string() : path;
  }

  std::string text_at(const Json& item, const std::string& key) const {
    if (!item.is_object() || !item.contains(key) || !item[key].is_string()) {
      fail(ErrorCode::malformed, "{}: an entry of training has no \"{}\"", path_, key);
    }
    return item[key];
  }

  void read_decathlon(const Json& training) {
    for (const Json& item : training) {
      const std::string image = image_at(text_at(item, "image"));
      const std::string id = without_channel(volume_stem(image));
      // A missing first channel is the fault of one image, and is reported later.
      if (add_further(id, image, "") > 0 && !fs::is_regular_file(image)) continue;
      add(id, image, at(text_at(item, "label")), "");
    }
    std::size_t absent = 0;
    for (const Json& item : json_.value("test", Json::array())) {
      const std::string name = item.is_string() ? item.get<std::string>() : text_at(item, "image");
      const std::string image = image_at(name);
      if (fs::is_regular_file(image)) {
        const std::string id = without_channel(volume_stem(image));
        add_test(id, image);
        add_further(id, image, "test");
      } else {
        ++absent;
      }
    }
    if (absent > 0) {
      found_.notes.push_back(fmt::format(
          "{}: {} images of the list \"test\" are not there and left out.", path_, absent));
    }
  }

  /// Some datasets have labels of test images.
  void add_test(const std::string& id, const std::string& image, std::size_t channel = 0) {
    const std::string ending =
        fs::path(image).filename().string().substr(volume_stem(image).size());
    const std::string label = at("labelsTs/" + id + ending);
    add(id, image, channel == 0 && fs::is_regular_file(label) ? label : "", "test", channel);
  }

  void read_listed() {
    const Json& list = json_["dataset"];
    if (!list.is_object()) fail(ErrorCode::malformed, "{}: dataset must be an object", path_);
    for (const auto& [id, item] : list.items()) {
      const Json images = item.is_object() ? item.value("images", Json()) : Json();
      if (!images.is_array() || images.size() != count_ ||
          !std::all_of(images.begin(), images.end(), [](const Json& i) { return i.is_string(); })) {
        fail(ErrorCode::malformed, "{}: case '{}' must list {} image{}", path_, id, count_,
             count_ == 1 ? "" : "s, one a channel");
      }
      for (std::size_t c = 0; c < count_; ++c) {
        add(id, at(images[c].get<std::string>()), c == 0 ? at(text_at(item, "label")) : "", "", c);
      }
    }
  }

  void read_folders() {
    const std::string ending = json_.value("file_ending", ".nii.gz");
    if (!has_volume_ending("x" + ending)) {
      fail(ErrorCode::unsupported,
           "{}: file_ending \"{}\", expected .nii.gz, .nii, .nrrd, .mha or .mhd", path_, ending);
    }
    std::vector<std::string> labels = files_in("labelsTr", ending);
    for (const std::string& image : files_in("imagesTr", ending)) {
      const auto [id, channel] = case_and_channel(image, ending);
      const std::string label = at("labelsTr/" + id + ending);
      add(id, image, channel == 0 ? label : "", "", channel);
      std::erase(labels, label);
    }
    if (!labels.empty()) {
      fail(ErrorCode::malformed, "{}: {} has no image in imagesTr", path_, labels.front());
    }
    if (!fs::is_directory(at("imagesTs"))) return;
    for (const std::string& image : files_in("imagesTs", ending)) {
      const auto [id, channel] = case_and_channel(image, ending);
      add_test(id, image, channel);
    }
  }

  std::vector<std::string> files_in(const std::string& name, const std::string& ending) const {
    std::vector<std::string> files;
    if (!fs::is_directory(at(name)))
      fail(ErrorCode::not_found, "{}: there is no folder {} beside it", path_, name);
    for (const auto& entry : list_folder(at(name))) {
      const std::string file = entry.path().filename().string();
      if (!file.starts_with(".") && file.ends_with(ending)) files.push_back(at(name + "/" + file));
    }
    std::sort(files.begin(), files.end());
    return files;
  }

  std::pair<std::string, std::size_t> case_and_channel(const std::string& image,
                                                       const std::string& ending) const {
    const std::string file = fs::path(image).filename().string();
    const std::string stem = file.substr(0, file.size() - ending.size());
    if (const auto name = numbered_name(stem, count_)) return {name->image, name->channel};
    const std::string last = ending_of_channel(count_ - 1);
    fail(ErrorCode::malformed, "{}: expected a name that ends with {}{}{} (channel of a case)",
         image, ending_of_channel(0), count_ > 1 ? " … " + last : "", ending);
  }

  void check_count() const {
    const auto stated = whole_number(json_.value("numTraining", Json()));
    const auto trained = static_cast<std::int64_t>(trained_.size());
    if (stated && *stated != trained) {
      fail(ErrorCode::malformed,
           "{}: numTraining is {}, but {} cases are there; complete the dataset, or correct the "
           "number",
           path_, *stated, trained);
    }
    if (found_.cases.empty()) fail(ErrorCode::malformed, "{}: no cases", path_);
  }

  std::string folder_;
  const ChannelList& given_;
  std::string path_;
  std::string text_;
  Json json_;
  std::size_t count_ = 1;          ///< channels
  std::set<std::string> trained_;  ///< cases outside the test set
  DatasetFolder found_;
};

}  // namespace

bool is_dataset_folder(const std::string& folder) {
  const fs::path path = fs::path(folder) / "dataset.json";
  if (!fs::is_regular_file(path)) return false;
  const Json json = parse_json(
      storage::open_store(storage::Place::parse(folder))->get_text("dataset.json"), path.string());
  return json.is_object() && json.contains("labels");
}

DatasetFolder read_dataset_folder(const std::string& folder, const ChannelList& channels) {
  return Layout(folder, channels).read();
}

void check_alike(const std::string& folder, const DatasetFolder& dataset, const std::string& other,
                 const DatasetFolder& dataset_of_other) {
  if (dataset_of_other.classes != dataset.classes ||
      dataset_of_other.ignore_value != dataset.ignore_value) {
    fail(ErrorCode::usage,
         "{}: dataset.json has the labels {}, that of {} has {}; one store has one list of "
         "classes",
         folder, fmt::join(dataset.classes, ", "), other,
         fmt::join(dataset_of_other.classes, ", "));
  }
  if (dataset_of_other.channels != dataset.channels) {
    fail(ErrorCode::usage,
         "{}: dataset.json has the channels [{}], that of {} has [{}]; one store has one "
         "list of channels",
         folder, fmt::join(dataset.channels.names, ", "), other,
         fmt::join(dataset_of_other.channels.names, ", "));
  }
}

UnusedFiles files_of_no_case(const std::string& folder, const std::vector<VolumeCase>& cases) {
  std::vector<std::string> taken;
  for (const VolumeCase& volume : cases) {
    taken.push_back(volume.file);
    taken.insert(taken.end(), volume.labels.begin(), volume.labels.end());
  }
  const VolumeFiles files = volume_files(folder);
  UnusedFiles others = not_among(files.volumes, taken, "it belongs to no case of dataset.json");
  others.insert(others.end(), files.odd.begin(), files.odd.end());
  return others;
}

}  // namespace headrace::ingest
