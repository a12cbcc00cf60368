#include "headrace/ingest/volumes/dataset_json.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <map>

#include "headrace/core/error.hpp"
#include "headrace/core/json.hpp"
#include "headrace/ingest/case_rules.hpp"
#include "headrace/ingest/volumes/volume_files.hpp"
#include "headrace/storage/local_store.hpp"

namespace headrace::ingest {
namespace {

namespace fs = std::filesystem;

constexpr int kMostClasses = 255;
const std::string kChannel = "_0000";

class Layout {
 public:
  explicit Layout(const std::string& folder)
      : folder_(folder),
        path_((fs::path(folder) / "dataset.json").string()),
        json_(parse_json(storage::LocalStore(folder, 1).get_text("dataset.json"), path_)) {
    if (!json_.is_object()) fail(ErrorCode::malformed, "{}: expected a JSON object", path_);
  }

  DatasetFolder read() {
    check_channels();
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
  void check_channels() const {
    const std::string key = json_.contains("channel_names") ? "channel_names" : "modality";
    const Json channels = json_.value(key, Json());
    if (!channels.is_object() || channels.empty()) {
      fail(ErrorCode::malformed, "{}: no channel_names or modality, expected {{\"0\": \"CT\"}}",
           path_);
    }
    if (channels.size() > 1) {
      fail(ErrorCode::unsupported,
           "{}: {} has {} channels, expected one; make a dataset of the CT channel alone", path_,
           key, channels.size());
    }
    const Json& name = channels.begin().value();
    std::string upper = name.is_string() ? name.get<std::string>() : name.dump();
    std::transform(upper.begin(), upper.end(), upper.begin(),
                   [](unsigned char c) { return std::toupper(c); });
    if (upper != "CT") {
      fail(ErrorCode::unsupported, "{}: {} says {}, expected \"CT\": only CT has Hounsfield units",
           path_, key, name.dump());
    }
  }

  int whole(const std::string& text) const {
    int value = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 0 || value > 65535) {
      fail(ErrorCode::malformed, "{}: label value '{}' is no integer from 0 to 65535", path_, text);
    }
    return value;
  }

  void read_labels() {
    const Json labels = json_.value("labels", Json());
    if (!labels.is_object() || labels.empty()) {
      fail(ErrorCode::malformed,
           "{}: labels must be an object of names and values, with a background", path_);
    }
    std::map<int, std::string> names;
    for (const auto& [key, value] : labels.items()) {
      if (value.is_array()) {
        fail(ErrorCode::unsupported,
             "{}: label '{}' is a region of several values {}; write a dataset.json in which each "
             "value has one name",
             path_, key, value.dump());
      }
      const bool decathlon = value.is_string();
      if (!decathlon && !value.is_number_integer()) {
        fail(ErrorCode::malformed, "{}: label '{}' has the value {}, expected an integer", path_,
             key, value.dump());
      }
      const int number = decathlon ? whole(key) : whole(value.dump());
      const std::string name = decathlon ? value.get<std::string>() : key;
      if (name == "ignore") {
        found_.ignore_value = number;
      } else if (!names.try_emplace(number, name).second) {
        fail(ErrorCode::malformed, "{}: labels '{}' and '{}' have the same value {}", path_,
             names[number], name, number);
      }
    }
    for (const auto& [number, name] : names) {
      if (number != static_cast<int>(found_.classes.size()) || number >= kMostClasses) {
        fail(ErrorCode::malformed,
             "{}: label '{}' has the value {}, expected 0, 1, 2 … without a gap, below {}", path_,
             name, number, kMostClasses);
      }
      found_.classes.push_back(name);
    }
  }

  std::string at(const std::string& name) const { return (fs::path(folder_) / name).string(); }

  void add(const std::string& id, const std::string& image, const std::string& label,
           const std::string& split) {
    VolumeCase volume;
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
    trained_ += split == "test" ? 0 : 1;
    found_.cases.push_back(std::move(volume));
  }

  static std::string without_channel(const std::string& stem) {
    return stem.ends_with(kChannel) ? stem.substr(0, stem.size() - kChannel.size()) : stem;
  }

  /// nnU-Net version 1 lists x.nii.gz where the file is x_0000.nii.gz.
  std::string image_at(const std::string& name) const {
    const std::string path = at(name);
    if (fs::is_regular_file(path)) return path;
    const std::string stem = volume_stem(path);
    const std::string file = fs::path(path).filename().string();
    const fs::path channel =
        fs::path(path).parent_path() / (stem + kChannel + file.substr(stem.size()));
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
      add(without_channel(volume_stem(image)), image, at(text_at(item, "label")), "");
    }
    std::size_t absent = 0;
    for (const Json& item : json_.value("test", Json::array())) {
      const std::string name = item.is_string() ? item.get<std::string>() : text_at(item, "image");
      const std::string image = image_at(name);
      if (fs::is_regular_file(image)) {
        add_test(without_channel(volume_stem(image)), image);
      } else {
        ++absent;
      }
    }
    if (absent > 0) {
      found_.notes.push_back(fmt::format(
          "{}: {} images of the list \"test\" are not there and left out.", path_, absent));
    }
  }

  /// Labels of test images are there in some datasets.
  void add_test(const std::string& id, const std::string& image) {
    const std::string ending =
        fs::path(image).filename().string().substr(volume_stem(image).size());
    const std::string label = at("labelsTs/" + id + ending);
    add(id, image, fs::is_regular_file(label) ? label : "", "test");
  }

  void read_listed() {
    const Json& list = json_["dataset"];
    if (!list.is_object()) fail(ErrorCode::malformed, "{}: dataset must be an object", path_);
    for (const auto& [id, item] : list.items()) {
      const Json images = item.is_object() ? item.value("images", Json()) : Json();
      if (!images.is_array() || images.size() != 1 || !images[0].is_string()) {
        fail(ErrorCode::malformed, "{}: case '{}' must list one image", path_, id);
      }
      add(id, at(images[0].get<std::string>()), at(text_at(item, "label")), "");
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
      const std::string id = id_of_channel(image, ending);
      add(id, image, at("labelsTr/" + id + ending), "");
      std::erase(labels, at("labelsTr/" + id + ending));
    }
    if (!labels.empty()) {
      fail(ErrorCode::malformed, "{}: {} has no image in imagesTr", path_, labels.front());
    }
    if (!fs::is_directory(at("imagesTs"))) return;
    for (const std::string& image : files_in("imagesTs", ending))
      add_test(id_of_channel(image, ending), image);
  }

  std::vector<std::string> files_in(const std::string& name, const std::string& ending) const {
    std::vector<std::string> files;
    if (!fs::is_directory(at(name)))
      fail(ErrorCode::not_found, "{}: there is no folder {} beside it", path_, name);
    for (const auto& entry : fs::directory_iterator(at(name))) {
      const std::string file = entry.path().filename().string();
      if (!file.starts_with(".") && file.ends_with(ending)) files.push_back(at(name + "/" + file));
    }
    std::sort(files.begin(), files.end());
    return files;
  }

  std::string id_of_channel(const std::string& image, const std::string& ending) const {
    const std::string file = fs::path(image).filename().string();
    const std::string stem = file.substr(0, file.size() - ending.size());
    if (!stem.ends_with(kChannel)) {
      fail(ErrorCode::malformed, "{}: expected a name that ends with {}{} (channel 0 of a case)",
           image, kChannel, ending);
    }
    return without_channel(stem);
  }

  void check_count() const {
    const Json stated = json_.value("numTraining", Json());
    if (stated.is_number_integer() && stated.get<std::int64_t>() != trained_) {
      fail(ErrorCode::malformed,
           "{}: numTraining is {}, but {} cases are there; complete the dataset, or correct the "
           "number",
           path_, stated.get<std::int64_t>(), trained_);
    }
    if (found_.cases.empty()) fail(ErrorCode::malformed, "{}: no cases", path_);
  }

  std::string folder_, path_;
  Json json_;
  std::int64_t trained_ = 0;
  DatasetFolder found_;
};

}  // namespace

bool is_dataset_folder(const std::string& folder) {
  const fs::path path = fs::path(folder) / "dataset.json";
  if (!fs::is_regular_file(path)) return false;
  const Json json =
      parse_json(storage::LocalStore(folder, 1).get_text("dataset.json"), path.string());
  return json.is_object() && json.contains("labels");
}

DatasetFolder read_dataset_folder(const std::string& folder) { return Layout(folder).read(); }

}  // namespace headrace::ingest
