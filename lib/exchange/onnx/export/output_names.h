// The names of the values of a graph that is written.
#pragma once

#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "exchange/onnx/export/export_context.h"
#include "exchange/onnx/export/fusion.h"
#include "iropt/support/lookup.h"

namespace iropt::onnx {

// The names that the results of a function are to have, and those that the model had for other values.
class OutputNames {
 public:
  // Both must outlive it.
  OutputNames(const Definitions& definitions, ExportContext& context) : definitions_(definitions), context_(context) {}

  // The values that the result consists of get these names.
  void WishFor(const Expr* result, const std::vector<std::string_view>& outputs);
  // The name that the value of a variable is to have, or a field of it.
  std::string_view Of(const Var* var) const;
  std::string_view OfField(const Var* var, size_t i) const;

 private:
  void WishForOne(const Expr* result, std::string_view name);

  const Definitions& definitions_;
  ExportContext& context_;
  LookupMap<const Var*, std::string_view> values_;
  std::map<std::pair<const Var*, size_t>, std::string_view> fields_;
};

}  // namespace iropt::onnx
