// What the library says about scalar expressions, compared with their exact values. A context must be current.
#pragma once

#include <cstdint>
#include <string>

namespace iropt::generate {

// What is wrong about random expression number `index`; empty if nothing.
std::string CheckScalar(uint64_t index);
// What is wrong about random iterator map number `index`; empty if nothing.
std::string CheckIterMap(uint64_t index);

}  // namespace iropt::generate
