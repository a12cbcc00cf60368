#include "headrace/loader/stall_json.hpp"

namespace headrace::loader {

Json stall_json(const StallStats& stats) {
  return {{"batches", stats.batches},
          {"samples", stats.samples},
          {"bytes_read", stats.bytes_read},
          {"plan_s", stats.plan_s},
          {"read_s", stats.read_s},
          {"decode_s", stats.decode_s},
          {"transform_s", stats.transform_s},
          {"copy_s", stats.copy_s},
          {"device_decode_s", stats.device_decode_s},
          {"device_transform_s", stats.device_transform_s},
          {"data_wait_s", stats.data_wait_s},
          {"model_wait_s", stats.model_wait_s},
          {"wall_s", stats.wall_s},
          {"stall_fraction", stats.stall_fraction()}};
}

}  // namespace headrace::loader
