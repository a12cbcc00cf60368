#pragma once
#include <vector>

#include "headrace/imaging/dicom/join_series.hpp"

namespace headrace::imaging {

/// Files with pictures by their series. Adds a problem for each SeriesInstanceUID that several
/// patients, studies, modalities or frames of reference have: they are series of their own.
/// Secondary captures within a series of other pictures are left out and listed.
SeriesFiles sort_series(const std::vector<const FileHeader*>& files, const Pseudonymizer& pseudonym,
                        DicomScan& scan);

/// Slices that lost their place: pictures of a series, as large as its own, whose headers do not
/// say where they lie. One problem for each series, which is not whole without them.
/// files: those without a place in space
std::vector<DicomProblem> slices_without_place(const std::vector<const FileHeader*>& files,
                                               const SeriesFiles& series,
                                               const Pseudonymizer& pseudonym);

}  // namespace headrace::imaging
