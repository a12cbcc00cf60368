"""Headers name what they use of the precompiled headers: the build no longer shows that, since these are always there.

For each precompiled header of cmake/HeadracePrecompiled.cmake, the names that only it gives, as a regular expression.
"""
import re

NAMES = {
    "algorithm": r"std::(?:min|max|clamp|sort|min_element|max_element|copy_n|fill_n|any_of|all_of|none_of|find_if|lower_bound|upper_bound)\b",
    "array": r"std::array\b",
    "atomic": r"std::atomic\b",
    "bit": r"std::(?:bit_cast|popcount|countr_zero|countl_zero|bit_width|bit_ceil|has_single_bit)\b",
    "chrono": r"std::chrono::",
    "cmath": r"std::(?:abs|floor|ceil|round|sqrt|exp|log|isfinite|isnan|lround|llround)\(",
    "condition_variable": r"std::condition_variable\b",
    "cstdint": r"std::u?int(?:8|16|32|64)_t\b",
    "cstring": r"std::mem(?:cpy|set|cmp|move)\b",
    "exception": r"std::(?:exception_ptr|current_exception|rethrow_exception)\b",
    "filesystem": r"std::filesystem::",
    "functional": r"std::function\b",
    "limits": r"std::numeric_limits\b",
    "map": r"std::map\b",
    "memory": r"std::(?:unique_ptr|shared_ptr|weak_ptr|make_unique|make_shared)\b",
    "mutex": r"std::(?:mutex|lock_guard|unique_lock|scoped_lock|once_flag|call_once)\b",
    "numeric": r"std::(?:accumulate|iota|inner_product)\b",
    "optional": r"std::(?:optional|nullopt)\b",
    "set": r"std::set\b",
    "span": r"std::span\b",
    "string": r"std::(?:string|to_string|stoi)\b",
    "string_view": r"std::string_view\b",
    "thread": r"std::(?:thread|jthread|this_thread)\b",
    "tuple": r"std::(?:tuple|tie|make_tuple)\b",
    "utility": r"std::(?:pair|swap|exchange|move|forward)\b",
    "variant": r"std::(?:variant|visit|get_if|monostate)\b",
    "vector": r"std::vector\b",
    "fmt/format.h": r"fmt::",
    "nlohmann/json.hpp": r"nlohmann::",
}


def missing_includes(text):
    """(header, line) of each precompiled header that the text of a header file uses and does not include."""
    included = set(re.findall(r"^\s*#\s*include <([^>]+)>", text, re.MULTILINE))
    code = re.sub(r"//[^\n]*", "", text)
    for header, names in NAMES.items():
        found = re.search(names, code)
        if found and header not in included:
            yield header, code[:found.start()].count("\n") + 1
