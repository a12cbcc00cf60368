#include "headrace/ingest/inputs/common_options.hpp"

#include <fmt/format.h>

#include "headrace/core/option_name.hpp"

namespace headrace::ingest {

WorkOption columns_option(std::vector<std::string>& columns, const std::string& group) {
  return {"columns", &columns,
          "further columns of the table, separated by commas, that are kept with the images: "
          "numbers, or texts that identify nobody",
          group};
}

WorkOption align_option(std::int64_t& align, const std::string& group) {
  return WorkOption{
      "align", &align,
      fmt::format("chunks of images begin at multiples of this many bytes of their file, a power "
                  "of two up to 65536; 0: anywhere. 4096 for reading by GPUDirect, with {} zstd",
                  Option{"codec"}),
      group}
      .hashed_if(align > 0);
}

WorkOption jobs_option(int& jobs) {
  return {"jobs", &jobs, "threads; 0: every core; the store is the same for any number", ""};
}

WorkOption on_error_option(OnError& on_error) {
  return {"on_error", choice_variable(on_error),
          "inputs that can't be ingested: stop (all are named, nothing is stored), skip (they are "
          "left out and listed)",
          ""};
}

WorkOption accept_option(Accepted& accept) {
  return {"accept", choices_variable(accept),
          "what is refused as more likely an error than meant, and is meant here, separated by "
          "commas",
          ""};
}

WorkOption device_option(device::DeviceChoice& device) {
  return {"device", choice_variable(device),
          "where masks and statistics are computed: cpu, cuda (a GPU; decoding and encoding stay "
          "with the CPU), auto (a GPU where there is one); the store is the same",
          ""};
}

}  // namespace headrace::ingest
