#include "learn/predict/output_folder.hpp"

#include <fmt/ranges.h>

#include <exception>
#include <span>

#include "headrace/core/error.hpp"
#include "headrace/core/folder_walk.hpp"
#include "headrace/core/log.hpp"
#include "headrace/core/read_file.hpp"
#include "headrace/core/sha256.hpp"
#include "headrace/imaging/source_stamp.hpp"
#include "headrace/storage/atomic_file.hpp"
#include "headrace/storage/open_store.hpp"
#include "learn/predict/file_listing.hpp"
#include "learn/predict/full_path.hpp"

namespace headrace::predict {
namespace {

constexpr const char* kIdentityFile = "predict.json";
constexpr const char* kInputsFile = ".inputs.json";

/// The inputs as one key: their full paths.
std::string joined(const std::vector<std::string>& inputs) {
  std::string out;
  for (const std::string& input : inputs) out += full_path(input) + "\n";
  return out;
}

std::string stamp_of(const std::string& input) {
  if (std::filesystem::is_directory(input)) return listing_hash(list_files(input));
  return std::filesystem::exists(input) ? imaging::stamp_source(input).sha256 : "";
}

bool holds_nothing_else(const std::filesystem::path& path) {
  for (const auto& entry : list_folder(path)) {
    if (!entry.path().filename().string().starts_with('.')) return false;
  }
  return true;
}

}  // namespace

OutputFolder::OutputFolder(const std::string& path, const Json& identity)
    : path_(storage::Place::parse(path).path()), lock_(path) {
  const auto opened = storage::open_store(storage::Place::parse(path_));
  storage::Store& store = *opened;
  if (!store.exists(kIdentityFile)) {
    if (!holds_nothing_else(path_)) {
      fail(ErrorCode::usage, "{}: holds other things than predictions; name a new folder", path);
    }
    store.remove_leftovers();  // of a call that was killed while it wrote this file
    store.put_text(kIdentityFile, dump_json(identity));
    return;
  }
  const Json found = parse_json(store.get_text(kIdentityFile), store.describe(kIdentityFile));
  if (found == identity) {
    store.remove_leftovers();
    if (store.exists(kInputsFile))
      known_.update(parse_json(store.get_text(kInputsFile), store.describe(kInputsFile)));
    return;
  }
  for (const auto& [key, value] : identity.items()) {
    if (found.contains(key) && found.at(key) == value) continue;
    fail(
        ErrorCode::usage,
        "{}: holds predictions with another '{}' (predict.json has {}, this call {}). Name another "
        "output folder.",
        path, key, found.value(key, Json()).dump(), value.dump());
  }
  fail(ErrorCode::usage, "{}: holds predictions of another kind; name another output folder", path);
}

std::string OutputFolder::store_for(const std::vector<std::string>& inputs) const {
  const std::string key = joined(inputs);
  const std::string name = sha256_hex(std::as_bytes(std::span(key))).substr(0, 16);
  return (path_ / kWork / (name + ".zarr")).string();
}

void OutputFolder::clear_work() const {
  std::error_code error;
  std::filesystem::remove_all(path_ / kWork, error);
  if (error) {
    fail(ErrorCode::io, "{}: can't be removed ({})", (path_ / kWork).string(), error.message());
  }
}

void check_apart(const std::string& out, const std::string& input) {
  const std::string own = full_path(out), other = full_path(input);
  if (own != other && !own.starts_with(other + "/")) return;
  fail(ErrorCode::usage,
       "{} lies in the input {}, so its results would be inputs of the next call. Name an output "
       "folder elsewhere.",
       out, input);
}

std::string OutputFolder::patients_key() const {
  const std::string key = full_path(path_.string()) + ".key";
  return std::filesystem::exists(key) ? key : "";
}

void OutputFolder::keep_patients_key(const std::string& store) const {
  const std::string made = store + ".key", key = full_path(path_.string()) + ".key";
  if (!std::filesystem::exists(made)) return;
  try {
    if (!std::filesystem::exists(key)) {
      // With the rights of the original.
      const auto rights = static_cast<mode_t>(std::filesystem::status(made).permissions());
      const std::string text = read_file(made);
      storage::write_file(key, std::as_bytes(std::span(text)), rights & 0777);
      log::info("{}: the new key lies there, beside the predictions", key);
    }
    // An interrupted call leaves its store; the key must not lie in the folder with it.
    std::filesystem::remove(made);
  } catch (const std::exception& error) {
    fail(ErrorCode::io, "{}: can't be moved to {} ({})", made, key, error.what());
  }
}

std::vector<std::string> OutputFolder::stamps_of(const std::vector<std::string>& inputs) {
  std::vector<std::string> out;
  for (const std::string& input : inputs) out.push_back(stamp_of(input));
  return out;
}

std::optional<std::vector<std::string>> OutputFolder::finished(
    const std::vector<std::string>& inputs) const {
  const auto found = known_.at(kInputs).find(joined(inputs));
  if (found == known_.at(kInputs).end()) return std::nullopt;
  const auto images = images_of(inputs);
  for (const std::string& id : images) {
    if (!std::filesystem::exists(result(id))) return std::nullopt;
  }
  const auto stamps = stamps_of(inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (stamps[i] == found->at("stamps").at(i)) continue;
    if (std::filesystem::is_directory(inputs[i])) return std::nullopt;
    fail(ErrorCode::usage,
         "{}: has changed since it was predicted into {}. Predict it into another output folder, "
         "or remove {} first.",
         inputs[i], path_.string(), fmt::join(images, ", "));
  }
  return images;
}

std::vector<std::string> OutputFolder::images_of(const std::vector<std::string>& inputs) const {
  const auto found = known_.at(kInputs).find(joined(inputs));
  if (found == known_.at(kInputs).end()) return {};
  return found->at("images").get<std::vector<std::string>>();
}

void OutputFolder::mark_finished(const std::vector<std::string>& inputs,
                                 const std::vector<std::string>& stamps,
                                 const std::vector<std::string>& ids) {
  known_[kInputs][joined(inputs)] = {{"stamps", stamps}, {"images", ids}};
  keep_known();
}

std::string OutputFolder::content_of(const std::string& id) const {
  return known_.at(kImages).value(id, "");
}

void OutputFolder::remember(const std::map<std::string, std::string>& contents) {
  for (const auto& [id, content] : contents) known_[kImages][id] = content;
  if (!contents.empty()) keep_known();
}

void OutputFolder::keep_known() {
  storage::open_store(storage::Place::parse(path_))->put_text(kInputsFile, dump_json(known_));
}

}  // namespace headrace::predict
