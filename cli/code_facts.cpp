#include "cli/code_facts.hpp"

#include "cli/code_version.hpp"

namespace headrace::cli {

Json code_facts() {
  const BuildFacts build = build_facts();
  return {{"version", code_version()},
          {"build_type", build.type},
          {"compiler", build.compiler},
          {"flags", build.flags}};
}

}  // namespace headrace::cli
