#pragma once
#include <map>
#include <string>
#include <vector>

#include "headrace/imaging/dicom/file_headers.hpp"

namespace headrace::imaging {

/// Files by what tells their series apart.
using SeriesFiles = std::map<std::string, std::vector<const FileHeader*>>;

/// Keys of series that fit each other as parts of one: of one study, number, frame of reference and
/// geometry, with slices in different places.
using SplitSeries = std::vector<std::string>;

std::vector<SplitSeries> find_split_series(const SeriesFiles& series);

void join_series(const std::vector<SplitSeries>& split, SeriesFiles& series);

/// Adds the problem of CT series of one study that can't be told apart by their numbers: one for
/// each number. Where they are `split` the text says how to join them.
void find_same_numbers(const std::vector<SplitSeries>& split, const Pseudonymizer& pseudonym,
                       DicomScan& scan);

}  // namespace headrace::imaging
