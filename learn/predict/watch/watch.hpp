#pragma once
#include <functional>
#include <optional>
#include <string>

#include "headrace/core/enum_names.hpp"
#include "learn/predict/predict.hpp"

namespace headrace::predict {

enum class WatchNews {
  predicted,  ///< an image
  kept,       ///< an image whose result an interrupted call had finished
  left_out,   ///< an input, or an image, that can't be predicted
  waiting     ///< an input beside which a file is still being copied, and has not grown for a while
};

}  // namespace headrace::predict

namespace headrace {
template <>
inline constexpr auto kNamesOf<predict::WatchNews> =
    names<predict::WatchNews>({{predict::WatchNews::predicted, "predicted"},
                               {predict::WatchNews::kept, "kept"},
                               {predict::WatchNews::left_out, "left-out"},
                               {predict::WatchNews::waiting, "waiting"}});
}  // namespace headrace

namespace headrace::predict {

struct WatchEvent {
  WatchNews news = WatchNews::predicted;
  std::string input;       ///< below the watched folder
  std::string id, folder;  ///< of the result, where there is one
  std::string text;        ///< what was found, in one line; or the reason
};

struct WatchRequest {
  PredictRequest predict;  ///< without inputs, images and split; `stopped` ends the watch
  std::string folder;
  double interval_s = 5;               ///< between two looks
  double settle_s = 10;                ///< for so long a copy must not have changed
  std::optional<double> until_idle_s;  ///< end when nothing new came for so long; empty: never
  std::function<void(const WatchEvent&)> said;
};

/// Predicts what is copied into a folder and its subfolders, until `stopped` or until it was idle:
/// slides or volumes in files, and DICOM in a folder of its own (arrivals_in). An input is taken
/// when it is whole (Settling), and once: what earlier calls finished is kept, also after a kill.
/// An input that can't be predicted is said once and tried again when it has changed; one that
/// changed after it was predicted is said and left alone. The runs are opened once. out/cases.csv
/// is written when there is nothing left to do.
/// errors  as predict, of runs and folders; not_found (no such folder); io where the output can't
///         be written. While it watches, an input's own fault is never an error.
void watch(const WatchRequest& request);

}  // namespace headrace::predict
