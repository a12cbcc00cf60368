#pragma once
#include <string>
#include <vector>

#include "headrace/core/threads.hpp"
#include "headrace/storage/store.hpp"

namespace headrace::ingest {

/// Something in a store that is not in its allow-list and may therefore identify a patient.
struct PhiFinding {
  std::string key;     ///< the object
  std::string at;      ///< where in it, as a JSON pointer; empty: its name
  std::string detail;  ///< what is wrong; never the text itself, which may be an identifier
};

/// Whether a store holds volumes; only these are checked. Errors: io.
bool holds_volumes(const storage::Store& store);

/// Checks every name and every JSON value of a store of volumes against an allow-list: only known
/// keys, and below each of them a number, a hash, one of the words of its list, a class name of the
/// store, or a name as ingest accepts it. Texts that look like a date, a UID or a person's name are
/// findings everywhere, and so are the sentences that an older Headrace stored as notes.
///
/// out     by object, in order; objects of every version, and those of none
/// errors  io
std::vector<PhiFinding> check_phi(const storage::Store& store, ThreadPool& pool);

}  // namespace headrace::ingest
