#include "learn/predict/full_path.hpp"

#include "headrace/storage/place.hpp"

namespace headrace::predict {

std::string full_path(const std::string& path) { return storage::Place::parse(path).absolute(); }

}  // namespace headrace::predict
