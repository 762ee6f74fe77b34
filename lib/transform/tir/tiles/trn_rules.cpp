#include "transform/tir/tiles/trn_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace iropt {

namespace {

struct TrnRule {
  std::string_view operation;
  Result<const tir::Stmt*> (*lower)(const TrnContext&);
};
constexpr TrnRule kTrnRules[] = {
    {"add", LowerTrnBinary},    {"copy", LowerTrnCopy},        {"exp", LowerTrnActivation},
    {"gemm", LowerTrnGemm},     {"max", LowerTrnReduction},    {"maximum", LowerTrnBinary},
    {"memset", LowerTrnUnary},  {"min", LowerTrnReduction},    {"minimum", LowerTrnBinary},
    {"mul", LowerTrnBinary},    {"reciprocal", LowerTrnUnary}, {"reduce_negate", LowerTrnReduction},
    {"select", LowerTrnSelect}, {"sqrt", LowerTrnActivation},  {"sub", LowerTrnBinary},
    {"sum", LowerTrnReduction},
};

}  // namespace

Result<const tir::Stmt*> LowerTrnTile(const TrnContext& context) {
  const TileCall& call = context.call;
  const auto* rule = std::ranges::find(kTrnRules, call.name, &TrnRule::operation);
  if (rule == std::end(kTrnRules))
    return Error{ErrorCode::PassFailed,
                 fmt::format("Trainium has no instruction for 'T.{}.{}'", call.scope, call.name)};
  if (call.scope != "tile")
    return Error{ErrorCode::PassFailed,
                 fmt::format("Trainium has no groups of threads: expected 'T.tile.{}'", call.name)};
  return rule->lower(context);
}

}  // namespace iropt
