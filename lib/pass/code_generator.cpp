#include "iropt/pass/code_generator.h"

#include <fmt/format.h>

#include <map>

namespace iropt {

namespace {

std::map<std::string, CodeGenerator, std::less<>>& TheCodeGenerators() {
  static std::map<std::string, CodeGenerator, std::less<>> generators;
  return generators;
}

}  // namespace

std::string_view SymbolOf(const ModuleEntry& entry) {
  const std::string_view symbol = entry.func->StringAttr(attr::kGlobalSymbol);
  return symbol.empty() ? entry.var->name : symbol;
}

Status AddCodeGenerator(std::string_view name, const CodeGenerator& generate) {
  const auto [added, is_new] = TheCodeGenerators().try_emplace(std::string(name), generate);
  if (is_new) return {};
  return Error{ErrorCode::Usage, fmt::format("there is a code generator '{}' already", added->first)};
}

const CodeGenerator* FindCodeGenerator(std::string_view name) {
  const auto found = TheCodeGenerators().find(name);
  return found == TheCodeGenerators().end() ? nullptr : &found->second;
}

std::vector<std::string_view> CodeGeneratorNames() {
  std::vector<std::string_view> names;
  for (const auto& [name, generate] : TheCodeGenerators()) names.push_back(name);
  return names;
}

}  // namespace iropt
