#include "describe_node.h"

#include <fmt/format.h>

#include <optional>

#include "iropt/infer/infer.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/text/script/printer.h"

namespace iropt::lsp {

namespace {

// Finds what defines a scalar.
class BoundsFinder : public tir::StmtExprVisitor {
 public:
  explicit BoundsFinder(const tir::Var* var) : var_(var) {}

  std::string Run(const PrimFunc* func) {
    VisitStmt(func->body);
    return std::move(bounds_);
  }

 protected:
  void VisitFor(const tir::For* loop) override {
    if (loop->loop_var == var_) Found(loop->min, loop->extent);
    if (bounds_.empty()) StmtExprVisitor::VisitFor(loop);
  }
  void VisitBlock(const tir::Block* block) override {
    for (const tir::IterVar* iter_var : block->iter_vars) {
      if (iter_var->var == var_ && iter_var->dom) Found(iter_var->dom->min, iter_var->dom->extent);
    }
    if (bounds_.empty()) StmtExprVisitor::VisitBlock(block);
  }
  void VisitLetStmt(const tir::LetStmt* let) override {
    if (let->var == var_) bounds_ = fmt::format("{} = {}", var_->name, ScalarToString(let->value));
    if (bounds_.empty()) StmtExprVisitor::VisitLetStmt(let);
  }

 private:
  void Found(const PrimExpr* min, const PrimExpr* extent) {
    const auto* constant_min = As<tir::IntImm>(min);
    const auto* constant_extent = As<tir::IntImm>(extent);
    const std::string end = constant_min && constant_extent
                                ? fmt::format("{}", constant_min->value + constant_extent->value)
                            : constant_min && constant_min->value == 0
                                ? ScalarToString(extent)
                                : fmt::format("{} + {}", ScalarToString(min), ScalarToString(extent));
    const std::string begin = constant_min ? fmt::format("{}", constant_min->value) : ScalarToString(min);
    bounds_ = fmt::format("{} <= {} < {}", begin, var_->name, end);
  }

  const tir::Var* var_;
  std::string bounds_;
};

std::string TypeOfScalar(const tir::Var& var) {
  return var.dtype.is_handle() ? std::string("T.handle") : fmt::format("T.{}", var.dtype.ToString());
}

}  // namespace

std::string DescribeBuffer(const tir::Buffer& buffer) {
  std::string shape;
  for (const PrimExpr* extent : buffer.shape) {
    const auto* constant = As<tir::IntImm>(extent);
    if (!shape.empty()) shape += ", ";
    shape += constant ? fmt::format("{}", constant->value) : ScalarToString(extent);
  }
  if (buffer.shape.size() == 1) shape += ",";
  std::string text = fmt::format("T.Buffer(({}), \"{}\"", shape, buffer.dtype.ToString());
  if (buffer.scope() != "global") text += fmt::format(", scope=\"{}\"", buffer.scope());
  return text + ")";
}

std::string DescribeNode(std::string_view name, const Node* node) {
  if (!node) return {};
  if (Var::ClassOf(node->kind)) {
    const Type* type = static_cast<const Expr*>(node)->type;
    return type ? fmt::format("{}: {}", name, TypeToString(type)) : std::string(name);
  }
  if (const auto* buffer = As<tir::Buffer>(node)) return fmt::format("{}: {}", name, DescribeBuffer(*buffer));
  if (const auto* iter_var = As<tir::IterVar>(node)) return fmt::format("{}: {}", name, TypeOfScalar(*iter_var->var));
  if (tir::Var::ClassOf(node->kind))
    return fmt::format("{}: {}", name, TypeOfScalar(*static_cast<const tir::Var*>(node)));
  if (PrimExpr::ClassOf(node->kind)) {
    const auto* scalar = static_cast<const PrimExpr*>(node);
    return fmt::format("{}: T.{}", name, scalar->dtype.ToString());
  }
  return std::string(name);
}

std::string DescribeBounds(const tir::Var* var, const BaseFunc* func) {
  const auto* prim = func ? As<PrimFunc>(func) : nullptr;
  return prim && prim->body ? BoundsFinder(var).Run(prim) : std::string();
}

}  // namespace iropt::lsp
