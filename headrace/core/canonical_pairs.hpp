#pragma once
#include <string>

namespace headrace {

/// A letter as Unicode decomposes it (NFD): its base and its marks; other code points as they are.
std::u32string decomposed(char32_t letter);

}  // namespace headrace
