#include "learn/model/transfer.hpp"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <map>

#include "headrace/core/error.hpp"

namespace headrace::model {
namespace {

bool is_head(const std::string& name) {
  return name.starts_with("head.") || name.find(".head.") != name.npos;
}

/// By class of the model: its row in the file, or -1.
std::vector<std::int64_t> rows_of(const std::vector<std::string>& own,
                                  const std::vector<std::string>& theirs) {
  std::vector<std::int64_t> rows;
  for (const std::string& name : own) {
    const auto found = std::find(theirs.begin(), theirs.end(), name);
    rows.push_back(found == theirs.end() ? -1 : found - theirs.begin());
  }
  return rows;
}

/// Whether `given` is such a head over `classes` classes.
bool fits_head(const at::Tensor& own, const at::Tensor& given, std::size_t classes) {
  return given.dim() == own.dim() && given.size(0) == static_cast<std::int64_t>(classes) &&
         given.sizes().slice(1).equals(own.sizes().slice(1));
}

}  // namespace

Transfer transfer_parameters(Parameters& parameters, const std::vector<NamedTensor>& tensors,
                             const std::string& prefix, const std::vector<std::string>& own_classes,
                             const std::vector<std::string>& their_classes,
                             const std::string& origin) {
  const at::NoGradGuard no_grad;
  std::map<std::string, at::Tensor> given;
  for (const NamedTensor& entry : tensors) {
    if (entry.name.starts_with(prefix)) given[entry.name.substr(prefix.size())] = entry.tensor;
  }
  const std::vector<std::int64_t> rows = rows_of(own_classes, their_classes);
  const bool any_class = std::any_of(rows.begin(), rows.end(), [](auto row) { return row >= 0; });
  Transfer out;
  bool heads_fit = true;
  for (const NamedTensor& parameter : parameters.all()) {
    const auto found = given.find(parameter.name);
    at::Tensor target = parameter.tensor;
    bool fits = false;
    if (found != given.end() && is_head(parameter.name)) {
      fits = any_class && fits_head(target, found->second, their_classes.size());
      heads_fit = heads_fit && fits;
      for (std::size_t c = 0; fits && c < rows.size(); ++c) {
        if (rows[c] < 0) continue;
        target.select(0, static_cast<std::int64_t>(c)).copy_(found->second.select(0, rows[c]));
      }
    } else if (found != given.end() && found->second.sizes() == target.sizes()) {
      fits = true;
      target.copy_(found->second);
    }
    (fits ? out.taken : out.fresh).push_back(parameter.name);
    if (fits) given.erase(found);
  }
  if (out.taken.empty()) {
    fail(ErrorCode::usage,
         "{}: none of its {} tensors has the name and shape of one of the model's {}. Take weights "
         "of a model like this one, or change `model`.",
         origin, tensors.size(), parameters.all().size());
  }
  for (const auto& [name, tensor] : given) out.unused.push_back(name);
  const bool heads = heads_fit && any_class;
  for (std::size_t c = 0; c < rows.size(); ++c) {
    (heads && rows[c] >= 0 ? out.taken_classes : out.fresh_classes).push_back(own_classes[c]);
  }
  return out;
}

}  // namespace headrace::model
