#pragma once
#include <string>

#include "headrace/loader/plan/preprocessing.hpp"
#include "headrace/storage/store.hpp"

namespace headrace::loader {

// Files of a run folder, and the key of run.json, from which the preprocessing is read.
inline constexpr const char* kRunFile = "run.json";
inline constexpr const char* kPreprocessingFile = "preprocessing.json";
inline constexpr const char* kPreprocessingHash = "preprocessing_sha256";
inline constexpr int kRunFormat = 2;  ///< of run.json

/// The value of kPreprocessingHash.
std::string hash_of(const Preprocessing& preprocessing);

/// The preprocessing that the run in this folder was trained with.
/// Errors: not_found (no run), unsupported (a run of an earlier version), malformed, corrupt (its
/// hash is not that in run.json).
Preprocessing read_run_preprocessing(const storage::Store& run);

}  // namespace headrace::loader
