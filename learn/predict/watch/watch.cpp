#include "learn/predict/watch/watch.hpp"

#include <chrono>
#include <thread>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/core/log.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/imaging/source_stamp.hpp"
#include "learn/model/torch_errors.hpp"
#include "learn/predict/input_predictor.hpp"
#include "learn/predict/prediction_runs.hpp"
#include "learn/predict/watch/settling.hpp"
#include "learn/predict/watch/watched_folder.hpp"

namespace headrace::predict {
namespace {

constexpr std::chrono::milliseconds kNap{100};  // a signal is heard so soon

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Errors: usage: what can be refused before anything is written.
void check(const WatchRequest& request) {
  check_apart(request.predict.out, request.folder);
  if (!request.predict.images.empty() || !request.predict.split.empty()) {
    fail(ErrorCode::usage, "{} and {} choose images of a store, and {} is a folder of files",
         Option{"images"}, Option{"split"}, request.folder);
  }
}

/// A bad file of a folder, or a bad image, must not keep the others back.
PredictRequest skipping(PredictRequest request) {
  request.on_error = ingest::OnError::skip;
  return request;
}

class Watch {
 public:
  Watch(const WatchRequest& request, const std::vector<TrainedRun>& runs)
      : request_(request),
        predict_(settled(skipping(request.predict), runs)),
        folder_(request.folder, runs.front()),
        predictor_(predict_, runs),
        settling_(request.settle_s) {}

  void run() {
    log::info("watching {}, a look every {} s", request_.folder, request_.interval_s);
    double last_news_s = now_s();
    while (!stopped()) {
      const bool worked = look();
      if (worked) last_news_s = now_s();
      if (worked) continue;
      if (away_.empty() && settling_.news()) last_news_s = now_s();
      if (away_.empty() && !settling_.pending()) tidy_up();
      const bool idle = !away_.empty() || !settling_.pending();
      if (idle && request_.until_idle_s && now_s() - last_news_s >= *request_.until_idle_s) break;
      nap();
    }
    write_table();
    if (!stopped() && !away_.empty()) fail(ErrorCode::io, "{}", away_);
  }

 private:
  bool stopped() const { return predict_.stopped && predict_.stopped(); }

  void nap() const {
    const double until_s = now_s() + request_.interval_s;
    while (!stopped() && now_s() < until_s) std::this_thread::sleep_for(kNap);
  }

  /// Takes inputs until one was read; true: it is time for another look, since reading and
  /// predicting may have taken long.
  bool look() {
    std::vector<Arrival> arrivals;
    try {
      arrivals = folder_.look();
      away_.clear();
    } catch (const Error& error) {
      if (error.code() != ErrorCode::io) throw;
      if (away_.empty()) log::warning("{}; looking again", error.what());
      away_ = error.what();
      return false;
    }
    settling_.look(arrivals, now_s());
    for (const Arrival& arrival : arrivals) {
      if (stopped()) return true;
      if (settling_.stuck(arrival))
        say({WatchNews::waiting, arrival.name, "", "",
             fmt::format("waits for {}, which is not copied to its end", arrival.waits_for)});
      if (settling_.due(arrival) && take(arrival)) return true;
    }
    return false;
  }

  /// Whether the input was read, not only known.
  bool take(const Arrival& arrival) {
    bool read = true;
    try {
      read = predict(arrival);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::cancelled) return true;
      if (!is_fault_of(arrival, error.code())) throw;
      predictor_.clear_work();
      leave_out(arrival.name, error.what());
    }
    settling_.take(arrival);
    return read;
  }

  bool predict(const Arrival& arrival) {
    if (arrival.without_folder) {
      fail(ErrorCode::usage,
           "{}: DICOM files in the watched folder itself are not taken, since nothing says when "
           "all of a series are there; put each series or study into a folder of its own",
           folder_.path_of(arrival.name));
    }
    PredictOutcome outcome;
    bool read = true;
    try {
      read = predictor_.predict_files(paths_of(arrival), outcome);
    } catch (const Error&) {
      tell(arrival, outcome);  // of a folder, images may be finished
      throw;
    }
    if (read) {
      tell(arrival, outcome);
    } else {
      table_due_ = true;  // the call that finished it has said it, but may have been killed then
    }
    return read;
  }

  void tell(const Arrival& arrival, const PredictOutcome& outcome) {
    table_due_ = table_due_ || !outcome.images.empty();
    for (const PredictedImage& image : outcome.images) {
      say({image.kept ? WatchNews::kept : WatchNews::predicted, arrival.name, image.id,
           image.folder, image.line});
    }
    for (const auto& bad : outcome.left_out) leave_out(arrival.name, bad.reason);
  }

  std::vector<std::string> paths_of(const Arrival& arrival) const {
    std::vector<std::string> out;
    for (const std::string& input : arrival.inputs) out.push_back(folder_.path_of(input));
    return out;
  }

  /// Whether an error is the input's own: one of the system, if its files can't be read.
  bool is_fault_of(const Arrival& arrival, ErrorCode code) const {
    if (code != ErrorCode::io) return ingest::is_of_source(code);
    try {
      for (const ListedFile& file : arrival.files)
        imaging::stamp_source(folder_.path_of(file.path));
      return false;
    } catch (const Error&) {
      return true;
    }
  }

  void leave_out(const std::string& name, const std::string& reason) const {
    say({WatchNews::left_out, name, "", "", reason});
  }

  void say(const WatchEvent& event) const {
    if (request_.said) request_.said(event);
  }

  /// When nothing is left to do: what an earlier call left behind goes too.
  void tidy_up() {
    predictor_.clear_work();
    write_table();
  }

  void write_table() {
    if (std::exchange(table_due_, false)) predictor_.write_table();
  }

  const WatchRequest& request_;
  const PredictRequest predict_;
  WatchedFolder folder_;
  InputPredictor predictor_;
  Settling settling_;
  std::string away_;        ///< why the folder could not be listed; empty: it could
  bool table_due_ = false;  ///< cases.csv lacks an image
};

void watch_folder(const WatchRequest& request) {
  check(request);
  const std::vector<TrainedRun> runs = open_runs(request.predict);
  check_takes_files(runs.front(), request.folder);
  Watch(request, runs).run();
}

}  // namespace

void watch(const WatchRequest& request) {
  model::in_words([&] { watch_folder(request); });
}

}  // namespace headrace::predict
