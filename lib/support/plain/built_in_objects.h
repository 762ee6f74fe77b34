// Shared objects of the project that are linked into the program. cmake/IroptFormat.cmake makes the table.
#pragma once

#include <span>
#include <string_view>

namespace iropt {

struct BuiltInSymbol {
  std::string_view name;
  void* address;
};

struct BuiltInObject {
  std::string_view name;
  std::span<const BuiltInSymbol> symbols;
};

std::span<const BuiltInObject> BuiltInObjects();

}  // namespace iropt
