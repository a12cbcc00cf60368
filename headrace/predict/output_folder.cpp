#include "headrace/predict/output_folder.hpp"

#include <fmt/ranges.h>

#include <span>
#include <system_error>

#include "headrace/core/error.hpp"
#include "headrace/core/sha256.hpp"
#include "headrace/predict/full_path.hpp"
#include "headrace/storage/local_store.hpp"
#include "headrace/storage/source_stamp.hpp"

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

bool holds_nothing_else(const std::filesystem::path& path) {
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    if (!entry.path().filename().string().starts_with('.')) return false;
  }
  return true;
}

}  // namespace

OutputFolder::OutputFolder(const std::string& path, const Json& identity)
    : path_(path), lock_(path) {
  storage::LocalStore store(path_);
  if (!store.exists(kIdentityFile)) {
    if (!holds_nothing_else(path_)) {
      fail(ErrorCode::usage, "{}: holds other things than predictions; name a new folder", path);
    }
    store.put_text(kIdentityFile, dump_json(identity));
    return;
  }
  const Json found = parse_json(store.get_text(kIdentityFile), store.describe(kIdentityFile));
  if (found == identity) {
    store.remove_leftovers();
    if (store.exists(kInputsFile))
      inputs_ = parse_json(store.get_text(kInputsFile), store.describe(kInputsFile));
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
  if (!std::filesystem::exists(made) || std::filesystem::exists(key)) return;
  // With the rights of the original, and whole or not at all.
  std::error_code error;
  std::filesystem::copy_file(made, key + ".part", std::filesystem::copy_options::overwrite_existing,
                             error);
  if (!error) std::filesystem::rename(key + ".part", key, error);
  if (error) fail(ErrorCode::io, "{}: can't be copied to {} ({})", made, key, error.message());
}

std::optional<std::vector<std::string>> OutputFolder::finished(
    const std::vector<std::string>& inputs) const {
  const auto found = inputs_.find(joined(inputs));
  if (found == inputs_.end()) return std::nullopt;
  const auto images = found->at("images").get<std::vector<std::string>>();
  for (const std::string& id : images) {
    if (!std::filesystem::exists(result(id))) return std::nullopt;
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (storage::stamp_source(inputs[i]).sha256 == found->at("stamps").at(i)) continue;
    fail(ErrorCode::usage,
         "{}: has changed since it was predicted into {}. Predict it into another output folder, "
         "or remove {} first.",
         inputs[i], path_.string(), fmt::join(images, ", "));
  }
  return images;
}

bool OutputFolder::knows(const std::vector<std::string>& inputs) const {
  return inputs_.contains(joined(inputs));
}

void OutputFolder::mark_finished(const std::vector<std::string>& inputs,
                                 const std::vector<std::string>& ids) {
  Json stamps = Json::array();
  for (const std::string& input : inputs) {
    if (!std::filesystem::is_regular_file(input)) return;
    stamps.push_back(storage::stamp_source(input).sha256);
  }
  inputs_[joined(inputs)] = {{"stamps", stamps}, {"images", ids}};
  storage::LocalStore(path_).put_text(kInputsFile, dump_json(inputs_));
}

}  // namespace headrace::predict
