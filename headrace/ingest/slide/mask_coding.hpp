#pragma once
#include "headrace/core/enum_names.hpp"

namespace headrace::ingest {

/// How the values of a mask image become classes.
enum class MaskCoding {
  classes,           ///< a value is a class
  panda_radboud,     ///< those of PANDA's masks from Radboud
  panda_karolinska,  ///< those of PANDA's masks from Karolinska
  instances          ///< every value above 0 is class 1
};

}  // namespace headrace::ingest

namespace headrace {
template <>
inline constexpr auto kNamesOf<ingest::MaskCoding> =
    names<ingest::MaskCoding>({{ingest::MaskCoding::classes, "classes"},
                               {ingest::MaskCoding::panda_radboud, "panda-radboud"},
                               {ingest::MaskCoding::panda_karolinska, "panda-karolinska"},
                               {ingest::MaskCoding::instances, "instances"}});
}  // namespace headrace
