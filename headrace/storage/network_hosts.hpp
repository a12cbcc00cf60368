#pragma once
#include <string>

#include "headrace/storage/place.hpp"

namespace headrace::storage {

/// Adds the host of a place that a user gave, where it is a URL over HTTP, to those that may be spoken
/// to. Never fails: of a URL that can't be opened, who opens it tells why. Of s3:// the bucket is no
/// host; that of its endpoint has to be named.
void name_host_of(const std::string& written);

/// "host:port" of a URL over HTTP, in lower case, with the scheme's port where it states none; of
/// s3:// that of the endpoint. Errors: usage (no host, a user or password in it, a query or
/// fragment; no sound bucket or endpoint).
std::string host_of(const Place& url);

/// Whether it is one of those that may be spoken to. Errors: as host_of.
bool host_is_named(const Place& url);

/// Errors: usage (its host was not named; says how to name it). Local places pass. Every store at a URL
/// is checked so; who knows what named the place says it.
void check_host_is_named(const Place& place, const std::string& named_by);

}  // namespace headrace::storage
