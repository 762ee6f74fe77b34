// The operators of Relay for passes, see iropt/infer/relay_operators.h.
#include <vector>

#include "iropt/infer/relay_operators.h"
#include "iropt/support/check.h"
#include "iropt/support/version.h"
#include "ops/op_table.h"

namespace iropt::relay {

namespace {

const Expr* BuildOperator(std::string_view name, std::span<const Expr* const> args,
                          std::span<const PyKeyword> attributes, SourceSpan span, BlockBuilder& builder,
                          const Module& module, DiagnosticEngine& diagnostics) {
  const Operator* op = FindOperator(name);
  IROPT_CHECK(op != nullptr, "unknown operator {}", name);
  std::vector<Attribute> given;
  for (const PyKeyword& keyword : attributes) given.push_back({keyword.name, span, keyword.value});
  const OperatorCall call{op, List<Attribute>(std::span<const Attribute>(given))};
  return OpCall(call, span, span, args, builder, module, diagnostics).Build();
}

}  // namespace

}  // namespace iropt::relay

extern "C" const iropt::RelayOperators* iroptGetRelayOperators() {
  static const iropt::RelayOperators operators{IROPT_VERSION, &iropt::relay::BuildOperator};
  return &operators;
}
