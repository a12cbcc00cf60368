#pragma once

namespace headrace::result {

// Names in the folder of a prediction (docs/formats.md, "Predictions").

inline constexpr const char* kKind = "prediction";
inline constexpr int kFormat = 1;
inline constexpr const char* kGroupFile = "zarr.json";
inline constexpr const char* kFindingsFile = "findings.json";
inline constexpr const char* kLabelsGroup = "labels";
inline constexpr const char* kClassesName = "classes";
inline constexpr const char* kClassesGroup = "labels/classes";
inline constexpr const char* kLesionsName = "lesions";
inline constexpr const char* kLesionsGroup = "labels/lesions";
inline constexpr const char* kProbability = "0";  ///< the array of the image itself

}  // namespace headrace::result
