#include "headrace/loader/config/loader_config_parts.hpp"

namespace headrace::loader::detail {

namespace {

Fields s3_fields(storage::S3Options& s3) {
  const auto key = [](const char* name, Form form, const char* what, const char* usual) {
    return Field{name, std::move(form), what, usual}.decides_nothing();
  };
  return {
      key("endpoint", form::text(s3.endpoint),
          "where buckets of s3:// lie, as https://s3.site:9000; names its host",
          "AWS_ENDPOINT_URL, or Amazon's"),
      key("region", form::text(s3.region), "of the bucket", "AWS_REGION, or us-east-1"),
      key("addressing", form::choice(s3.addressing),
          "where the bucket's name stands in a URL; auto: in the host at Amazon's, else in the path",
          "auto"),
      key("anonymous", form::flag(s3.anonymous), "requests are not signed", "false"),
      key("profile", form::text(s3.profile), "of ~/.aws/credentials, whose keys are used",
          "the environment's keys"),
  };
}

Fields cache_fields(storage::CacheOptions& cache) {
  const auto key = [](const char* name, Form form, const char* what, const char* usual = "") {
    return Field{name, std::move(form), what, usual}.decides_nothing();
  };
  return {
      key("folder", form::text(cache.folder),
          "of this machine, where ranges that were read from servers are kept", "none are kept"),
      key("size_gb", form::number(cache.size_gb, 0.001, 1e6),
          "what the folder may hold, of 1e9 bytes"),
  };
}

}  // namespace

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
      Field{"s3", form::section(s3_fields(network.s3)), "how buckets of s3:// are reached"}
          .written_if(network.s3 != storage::S3Options{})
          .decides_nothing(),
      Field{"cache", form::section(cache_fields(network.cache)), "what was read is kept on disk"}
          .written_if(network.cache != storage::CacheOptions{})
          .decides_nothing(),
  };
}

void read_network(YamlMap map, LoaderConfig& config) {
  read_fields(map, network_fields(config));
  map.finish();
}

}  // namespace headrace::loader::detail
