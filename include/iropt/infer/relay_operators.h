// The operators of Relay, TVM's former graph-level IR, as expressions of Relax, for passes that think in them. They
// come with the shared object of Relay's text format, which a program loads when it needs them.
#pragma once

#include <span>
#include <string_view>

#include "iropt/diag/diagnostic.h"
#include "iropt/diag/source.h"
#include "iropt/infer/py_value.h"
#include "iropt/ir/relax/builder.h"
#include "iropt/support/result.h"

namespace iropt {

// Table that the shared object exports, as the C function `const iropt::RelayOperators* iroptGetRelayOperators()`.
struct RelayOperators {
  const char* version;  // IROPT_VERSION
  // Builds the expression that stands for a call of the operator when its text is read: nested calls with their types.
  // Attributes that are left out have Relay's defaults. Null after a report to `diagnostics`, or to those of the
  // builder's type inferrer.
  const Expr* (*build)(std::string_view name, std::span<const Expr* const> args, std::span<const PyKeyword> attributes,
                       SourceSpan span, BlockBuilder& builder, const Module& module, DiagnosticEngine& diagnostics);
};
inline constexpr const char* kRelayOperatorsEntryPoint = "iroptGetRelayOperators";

// Fails with ErrorCode::Usage if the shared object is not there, or is of another version.
Result<const RelayOperators*> LoadRelayOperators();

}  // namespace iropt
