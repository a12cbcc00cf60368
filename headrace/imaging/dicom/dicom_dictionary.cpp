#include "headrace/imaging/dicom/dicom_dictionary.hpp"

#include <mutex>
#include <utility>

namespace headrace::imaging {
namespace {

struct Suggestion {
  std::mutex mutex;
  std::vector<std::string> files;
};

Suggestion& suggestion() {
  static Suggestion one;
  return one;
}

}  // namespace

void suggest_dicom_dictionary(std::vector<std::string> files) {
  const std::lock_guard lock(suggestion().mutex);
  suggestion().files = std::move(files);
}

std::vector<std::string> suggested_dicom_dictionary() {
  const std::lock_guard lock(suggestion().mutex);
  return suggestion().files;
}

}  // namespace headrace::imaging
