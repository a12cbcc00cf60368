#include "headrace/loader/stall_json.hpp"

namespace headrace::loader {

Json stall_json(const StallStats& stats) {
  Json json{{"batches", stats.batches},
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
  if (const Json network = network_json(stats.network); !network.is_null())
    json["network"] = network;
  return json;
}

Json network_json(const storage::NetworkCounters& network) {
  if (network.requests == 0 && network.disk.ranges == 0) return nullptr;
  Json json{{"requests", network.requests},
            {"bytes", network.bytes},
            {"refused", network.refused},
            {"repeated", network.repeated},
            {"made_twice", network.twice},
            {"second_won", network.twice_won},
            {"first_byte_ms_p50", network.first_byte_ms_p50},
            {"first_byte_ms_p99", network.first_byte_ms_p99}};
  const storage::DiskCounters& disk = network.disk;
  if (disk.ranges + disk.damaged + disk.not_kept > 0)
    json["cache"] = {{"ranges", disk.ranges},
                     {"bytes", disk.bytes},
                     {"damaged", disk.damaged},
                     {"not_kept", disk.not_kept}};
  return json;
}

}  // namespace headrace::loader
