#pragma once
#include <string>
#include <vector>

namespace headrace::ingest {

/// Refuses a list of classes that has a name of a dataset.json at another value: masks that were
/// made by the one would be read by the other, and classes swapped. Nothing is compared where
/// classes state the values of masks.
///
/// given   as named_classes reads them
/// stated  names of the dataset.json by value
/// path    of that file
/// errors  usage
void check_class_order(const std::vector<std::string>& given,
                       const std::vector<std::string>& stated, const std::string& path);

/// The same for the dataset.json in a folder of masks, such as nnU-Net's predictions have; nothing
/// where there is none, or none that lists labels.
void check_class_order_beside(const std::vector<std::string>& given, const std::string& folder);

}  // namespace headrace::ingest
