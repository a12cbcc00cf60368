#pragma once
#include <map>
#include <string>
#include <vector>

#include "learn/predict/image_predictor.hpp"
#include "learn/predict/input_store.hpp"
#include "learn/predict/output_folder.hpp"

namespace headrace::predict {

/// Predicts inputs into one output folder, one after the other, with runs that stay open. Its
/// arguments must outlive it. One thread; one process at a time for each output folder.
class InputPredictor {
 public:
  /// Errors: those of OutputFolder.
  InputPredictor(const PredictRequest& request, const std::vector<TrainedRun>& runs);

  /// The files that are ingested together: one by one, but all where several may be channels of
  /// one image.
  std::vector<std::vector<std::string>> groups_of(const std::vector<std::string>& files) const;
  /// Opens stores, by the request's choice of images. Errors: those of open_stores.
  std::vector<InputStore> open(const std::vector<std::string>& stores) const;
  /// Refuses images of different inputs that have one name, or the name of another one's result,
  /// and paths that results can't state, before anything is predicted. Errors: usage.
  void check_names(const std::vector<InputStore>& stores,
                   const std::vector<std::vector<std::string>>& groups) const;

  /// errors  usage (an image has the name of another one's result, or has changed since it was
  ///         predicted; would be enlarged too much, and that is not accepted; with on_error skip
  ///         it is left out), those of ImagePredictor
  void predict_store(const InputStore& store, PredictOutcome& outcome);
  /// Files of one group: they are ingested, predicted, and their store is removed. With on_error
  /// skip, files that can't be read are left out.
  /// returns false where all was finished in an earlier call
  /// errors  as predict_store; those of ingest; usage (files changed since they were predicted, or
  ///         while they were read)
  bool predict_files(const std::vector<std::string>& files, PredictOutcome& outcome);

  /// Removes what was ingested.
  void clear_work() const { folder_.clear_work(); }
  /// Writes cases.csv over all finished images; there must be one. Errors: io.
  void write_table() const;

 private:
  InputChoice choice() const;
  InputStore ingested(const std::vector<std::string>& files, const std::string& path,
                      std::vector<ingest::BadInput>& left_out) const;
  std::map<std::string, std::string> sources(const std::vector<std::string>& files) const;
  void check_source(const std::string& id, const std::string& source) const;
  void check_content(const InputStore& store, std::size_t image, const std::string& content) const;
  void check_enlargement(const InputStore& store, std::size_t image) const;
  InputStore without_enlarged(const InputStore& store, PredictOutcome& outcome) const;

  const PredictRequest& request_;
  const std::vector<TrainedRun>& runs_;
  OutputFolder folder_;
  ImagePredictor images_;
};

}  // namespace headrace::predict
