#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "learn/model/parameters.hpp"

namespace headrace::model {

/// The outcome for a model's tensors and classes when weights of another training were taken.
struct Transfer {
  std::vector<std::string> taken, fresh;  ///< tensors of the model, in its order
  std::vector<std::string> unused;        ///< tensors of the file that the model has no place for
  /// Classes of the model whose rows of the heads were taken, and the others.
  std::vector<std::string> taken_classes, fresh_classes;
};

/// Copies tensors (of names `prefix`…) into parameters of the same name and shape; the other
/// parameters do not change. A head (a tensor named `head.…` or `….head.…`, one row for each class)
/// is taken row by row: a class gets the row of the class of its name, and keeps its own values
/// where the file has none.
///
/// in      own_classes    names of the model's classes, in order
///         their_classes  of the file's; empty: not known, so no head is taken
/// errors  usage, naming `origin`, when no tensor fits
Transfer transfer_parameters(Parameters& parameters, const std::vector<NamedTensor>& tensors,
                             const std::string& prefix, const std::vector<std::string>& own_classes,
                             const std::vector<std::string>& their_classes,
                             const std::string& origin);

}  // namespace headrace::model
