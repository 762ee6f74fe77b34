// The meaning of T.name in expressions. The rows come from functions.def; names are found by binary search.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "iropt/support/function_ref.h"
#include "scalar_parser.h"

namespace iropt::text {

inline bool Give(const PrimExpr* e, PyValue& out) {
  if (e) out = PyValue(e);
  return e != nullptr;
}

template <class T>
const PrimExpr* Spanned(T* node, Span span) {
  node->set_span(span);
  return node;
}

struct TirFunction {
  static constexpr size_t kMaxParams = 6;

  std::string_view name;
  std::string_view full_name;  // "T.name", for messages
  // `v` are the arguments by parameter, null if absent. False after an error.
  bool (*make)(ScalarParser& p, PyArgs& args, const PyValue* const* v, PyValue& out);
  bool ignores_dtype;
  uint8_t required;
  std::string_view param_names[kMaxParams];

  constexpr std::span<const std::string_view> params() const {
    const auto* end = std::ranges::find(param_names, std::string_view());
    return {param_names, static_cast<size_t>(end - param_names)};
  }
};

std::span<const TirFunction> TirFunctions();
// Null if T has no such function. O(log rows).
const TirFunction* FindTirFunction(std::string_view name);
// Binds the arguments and makes the value. False after an error.
bool CallTirFunction(ScalarParser& p, const TirFunction& function, PyArgs& args, PyValue& out);

// T.Let(body, where={name: value}). Null after an error.
const PrimExpr* MakeLet(ScalarParser& p, const PyValue& name, const PyValue& value, const PyValue& body, Span span);

// The data type that T.<name> names, with the spellings of all versions; none for T.handle.
std::optional<DataType> TirDTypeName(std::string_view name);

// Names after T. that only statements have, for messages.
std::vector<std::string_view> TirStatementNames();
// Calls f(name, parameters, number of required ones) for every statement T.name(...).
void ForEachTirStatement(
    FunctionRef<void(std::string_view name, std::span<const std::string_view> params, size_t required)> f);

}  // namespace iropt::text
