// Statements that TVM 0.25 added, which are attributes in the IR: scopes of threads, hints, operations that are one.
#include <fmt/format.h>

#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "iropt/arith/prim_builder.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op_id.h"
#include "printer.h"

namespace iropt::text {
namespace {

// Returns the number of variables from that of this node on in a statement such as `bx, by = T.cta_id([4, 2])`; 0 for
// other nodes.
int64_t RestOfScope(const tir::AttrStmt* stmt) {
  if (!stmt || stmt->attr_key != attr::kScopeId || !Is<tir::IterVar>(stmt->node)) return 0;
  const tir::Call* preferred = CallOf(stmt->value, op::kTirPreferredExtent);
  const PrimExpr* rest = preferred && preferred->args.size() == 2 ? preferred->args[0] : stmt->value;
  const int64_t* count = arith::AsInt(rest);
  return count ? *count : 0;
}

}  // namespace

bool TirStmtPrinter::PrintTirxAttr(const tir::AttrStmt* stmt) {
  const bool concise = top().concise;
  const auto unnamed = [] { return std::string_view(); };
  if (RestOfScope(stmt) > 0) {
    PrintScopeIds(stmt, concise);
    return true;
  }
  if (stmt->attr_key == attr::kHint) {
    const tir::Call* operands = CallOf(stmt->value, op::kTirListArg);
    if (!operands) return false;
    PrintScoped(stmt, stmt->body, concise, unnamed, [&] {
      out_.Append("T.hint(");
      prim_.PrintOperands(operands->args, false);
      out_.Append(')');
    });
    return true;
  }
  if (stmt->attr_key == attr::kComposeOp && CallOf(stmt->value, op::kTirTileCall)) {
    PrintScoped(stmt, stmt->body, false, unnamed, [&] { prim_.Print(stmt->value); });
    return true;
  }
  return false;
}

// bx, by = T.cta_id([4, 2], preferred=[8, 2])
void TirStmtPrinter::PrintScopeIds(const tir::AttrStmt* stmt, bool concise) {
  std::vector<const tir::IterVar*> threads;
  std::vector<const PrimExpr*> preferred;
  const tir::AttrStmt* last = stmt;
  for (const tir::AttrStmt* at = stmt;; at = As<tir::AttrStmt>(at->body)) {
    const auto* thread = To<tir::IterVar>(at->node);
    threads.push_back(thread);
    const tir::Call* extent = CallOf(at->value, op::kTirPreferredExtent);
    if (extent) preferred.push_back(extent->args[1]);
    last = at;
    const auto* next = As<tir::AttrStmt>(at->body);
    // The next variable belongs to this statement if it continues the count.
    if (!thread->dom || RestOfScope(next) != RestOfScope(at) - 1 || RestOfScope(next) == 0 ||
        To<tir::IterVar>(next->node)->thread_tag != thread->thread_tag)
      break;
  }
  std::string names;
  const bool flat = context_.Since(TextVersion::kV0_24);
  const auto define = [&]() -> std::string_view {
    for (const tir::IterVar* thread : threads) {
      const std::string_view known = names_.Find(thread->var);
      fmt::format_to(std::back_inserter(names), "{}{}", names.empty() ? "" : ", ",
                     known.empty() ? names_.Define(thread->var) : known);
    }
    if (!flat && !concise && threads.size() > 1) names = fmt::format("({})", names);
    return names;
  };
  const auto call = [&] { PrintScopeCall(threads, preferred); };
  if (!flat) return PrintScoped(stmt, last->body, concise, define, call);
  BeginLine();
  out_.Append(define());
  out_.Append(" = ");
  call();
  PrintRest(last->body);
}

// T.cta_id([4, 2], preferred=[8, 2])
void TirStmtPrinter::PrintScopeCall(std::span<const tir::IterVar* const> threads,
                                    std::span<const PrimExpr* const> preferred) {
  out_.Append("T.");
  out_.Append(threads[0]->thread_tag);
  out_.Append('(');
  bool first = true;
  const auto argument = [&](std::string_view text) {
    if (!std::exchange(first, false)) out_.Append(", ");
    out_.Append(text);
  };
  const auto list = [&](std::string_view name, std::span<const PrimExpr* const> items) {
    argument(name);
    out_.Append('[');
    prim_.PrintItems(items);
    out_.Append(']');
  };
  std::vector<const PrimExpr*> extents;
  for (const tir::IterVar* thread : threads) {
    if (thread->dom) extents.push_back(thread->dom->extent);
  }
  if (!extents.empty()) list("", extents);
  if (preferred.size() == threads.size()) list("preferred=", preferred);
  if (threads[0]->var->dtype != DataType::Int(32)) {
    argument("dtype=");
    prim_.PrintDType(threads[0]->var->dtype);
  }
  out_.Append(')');
}

}  // namespace iropt::text
