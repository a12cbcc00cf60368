#include "headrace/loader/config/loader_config_parts.hpp"

namespace headrace::loader::detail {

Fields network_fields(LoaderConfig& config) {
  storage::NetworkOptions& network = config.network;
  const auto key = [](const char* name, Form form, const char* what, const char* usual = "") {
    return Field{name, std::move(form), what, usual}.decides_nothing();
  };
  return {
      key("hosts", form::texts(network.hosts),
          "that may be spoken to, as slides.site:8443, beside those of URLs in data", "none"),
      key("ca_file", form::text(network.ca_file),
          "certificates of the authorities that are trusted (PEM)", "the system's"),
      key("connections", form::number(network.connections, 1, 1024), "at once, to one host"),
      key("stall_s", form::number(network.stall_s, 1, 3600),
          "a request on which no byte came for so long is made again"),
      key("give_up_s", form::number(network.give_up_s, 1, 86400),
          "after so long a request that does not succeed is an error"),
  };
}

void read_network(YamlMap map, LoaderConfig& config) {
  read_fields(map, network_fields(config));
  map.finish();
}

}  // namespace headrace::loader::detail
