#pragma once
#include <filesystem>
#include <string>

#include "learn/result/image_result.hpp"

namespace headrace::handover {

/// A table of a result as Parquet: regions.csv of a slide, lesions.csv of a volume. Columns are
/// those of the CSV with `id`, the image, in front where it has no such column, so that files of
/// many images can be read as one table. A column's type follows from its name alone, so that all
/// files have the same; an empty cell is null. The file appears whole or not at all.
/// errors  not_found (the result has no such table), malformed (a cell that is not of its column's
///         type), io
void write_findings_parquet(const result::ImageResult& result, const std::string& table,
                            const std::filesystem::path& path);

/// The same for cases.csv of an output folder of predictions; without `id`.
void write_cases_parquet(const std::filesystem::path& table, const std::filesystem::path& path);

}  // namespace headrace::handover
