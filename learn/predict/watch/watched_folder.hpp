#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "learn/predict/trained_run.hpp"
#include "learn/predict/watch/arrivals.hpp"

namespace headrace::predict {

/// A folder into which slides, or volumes, are copied, seen by polling: network shares tell nobody
/// what other machines write. Only names, sizes and times are read, and of files that may be DICOM
/// without the ending .dcm their first bytes, once as long as they do not change. One thread.
class WatchedFolder {
 public:
  /// run: decides between slides and volumes. Errors: not_found.
  WatchedFolder(const std::string& folder, const TrainedRun& run);
  WatchedFolder(const WatchedFolder&) = delete;
  WatchedFolder& operator=(const WatchedFolder&) = delete;

  /// What lies there now. Errors: io (the folder can't be listed, as of a share that is away).
  std::vector<Arrival> look();
  /// The full path of a name below the folder.
  std::string path_of(const std::string& name) const { return folder_ + "/" + name; }

 private:
  void find_slides(const std::vector<ListedFile>& files);
  bool is_dicom(const ListedFile& file);

  struct Probe {
    ListedFile file;
    bool dicom = false;
  };

  std::string folder_;
  bool volumes_;
  ArrivalRules rules_;
  std::set<std::string> listed_, slides_;  ///< of the last look: all files; slides among them
  std::map<std::string, Probe> probes_;    ///< by path; of files without an ending that tells
};

}  // namespace headrace::predict
