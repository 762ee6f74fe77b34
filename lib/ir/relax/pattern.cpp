#include "iropt/ir/relax/pattern.h"

#include <algorithm>
#include <array>

#include "iropt/support/check.h"
#include "iropt/support/debug_output.h"

namespace iropt {

namespace {

constexpr DebugChannel kMatchDebug("match");

// For debug output.
std::string_view NameOf(PatternKind kind) {
  switch (kind) {
    case PatternKind::kWildcard: return "anything";
    case PatternKind::kVar: return "a variable";
    case PatternKind::kConstant: return "a constant";
    case PatternKind::kExpr: return "an expression";
    case PatternKind::kCall: return "a call";
    case PatternKind::kTuple: return "a tuple";
    case PatternKind::kTupleInAnyOrder: return "a tuple in any order";
    case PatternKind::kTupleGetItem: return "a projection";
    case PatternKind::kShape: return "a shape";
    case PatternKind::kPrimValue: return "a scalar";
    case PatternKind::kFunction: return "a function";
    case PatternKind::kOr: return "one of two patterns";
    case PatternKind::kAnd: return "all of several patterns";
    case PatternKind::kNot: return "anything but a pattern";
  }
  IROPT_UNREACHABLE("a kind of pattern {}", static_cast<int>(kind));
}

std::string Describe(const PatternNode& pattern) {
  const PatternNode* callee = pattern.kind == PatternKind::kCall ? &pattern.children[0].node() : nullptr;
  const auto* op = callee ? As<Op>(callee->expr) : nullptr;
  return op ? fmt::format("a call of {}", op->name) : std::string(NameOf(pattern.kind));
}

std::string Describe(const Expr* leaf, const Expr* value) {
  const auto* call = As<Call>(value);
  const auto* op = call ? As<Op>(call->op) : As<Op>(value);
  std::string text(NodeKindName(value->kind));
  if (op) text += fmt::format(" {}", op->name);
  const auto* var = As<Var>(leaf);
  return var ? fmt::format("'{}' ({})", var->name(), text) : text;
}

std::shared_ptr<PatternNode> New(PatternKind kind) {
  auto node = std::make_shared<PatternNode>();
  node->kind = kind;
  return node;
}

Pattern WithChildren(PatternKind kind, std::span<const Pattern> children) {
  auto node = New(kind);
  node->children.assign(children.begin(), children.end());
  return Pattern(std::move(node));
}

bool SameLiteral(const Expr* a, const Expr* b) {
  if (a == b) return true;
  if (a->kind != b->kind) return false;
  switch (a->kind) {
    case NodeKind::kStringImm: return To<StringImm>(a)->value == To<StringImm>(b)->value;
    case NodeKind::kDataTypeImm: return To<DataTypeImm>(a)->value == To<DataTypeImm>(b)->value;
    case NodeKind::kExternFunc: return To<ExternFunc>(a)->global_symbol == To<ExternFunc>(b)->global_symbol;
    default: return false;
  }
}

}  // namespace

std::shared_ptr<PatternNode> Pattern::Copy() const { return std::make_shared<PatternNode>(*node_); }

Pattern Pattern::Commutative() const {
  IROPT_CHECK(node_->kind == PatternKind::kCall && node_->children.size() == 3, "a commutative call has two operands");
  auto node = Copy();
  node->commutative = true;
  return Pattern(std::move(node));
}

Pattern Pattern::AnyMoreArgs() const {
  auto node = Copy();
  node->more_args = true;
  return Pattern(std::move(node));
}

Pattern Pattern::WithAttrs(const Attr* attrs) const {
  auto node = Copy();
  node->attrs = attrs;
  return Pattern(std::move(node));
}

Pattern Pattern::WithDtype(DataType dtype) const {
  auto node = Copy();
  node->dtype = dtype;
  return Pattern(std::move(node));
}

Pattern Pattern::WithRank(int rank) const {
  auto node = Copy();
  node->rank = rank;
  return Pattern(std::move(node));
}

Pattern Pattern::WithDims(std::span<const PrimExpr* const> dims) const {
  auto node = Copy();
  node->has_dims = true;
  node->dims.assign(dims.begin(), dims.end());
  return Pattern(std::move(node));
}

Pattern Pattern::UsedOnce() const {
  auto node = Copy();
  node->used_once = true;
  return Pattern(std::move(node));
}

Pattern Pattern::Where(Predicate holds) const {
  auto node = Copy();
  node->predicates.push_back(std::move(holds));
  return Pattern(std::move(node));
}

Pattern Pattern::WhereLeaf(Predicate holds) const {
  auto node = Copy();
  node->leaf_predicates.push_back(std::move(holds));
  return Pattern(std::move(node));
}

Pattern Wildcard() { return Pattern(New(PatternKind::kWildcard)); }
Pattern IsVar() { return Pattern(New(PatternKind::kVar)); }
Pattern IsConstant() { return Pattern(New(PatternKind::kConstant)); }

Pattern IsExpr(const Expr* expr) {
  auto node = New(PatternKind::kExpr);
  node->expr = expr;
  return Pattern(std::move(node));
}

Pattern IsCall(Pattern callee, std::span<const Pattern> args) {
  auto node = New(PatternKind::kCall);
  node->children.push_back(std::move(callee));
  node->children.insert(node->children.end(), args.begin(), args.end());
  return Pattern(std::move(node));
}

Pattern IsCall(const Op* op, std::span<const Pattern> args) { return IsCall(IsExpr(op), args); }

Pattern IsTuple(std::span<const Pattern> fields) { return WithChildren(PatternKind::kTuple, fields); }

Pattern IsTupleInAnyOrder(std::span<const Pattern> fields) {
  return WithChildren(PatternKind::kTupleInAnyOrder, fields);
}

Pattern IsTupleGetItem(Pattern tuple, int index) {
  auto node = New(PatternKind::kTupleGetItem);
  node->children.push_back(std::move(tuple));
  node->index = index;
  return Pattern(std::move(node));
}

Pattern IsShape(std::span<const PrimExpr* const> dims) {
  auto node = New(PatternKind::kShape);
  node->dims.assign(dims.begin(), dims.end());
  return Pattern(std::move(node));
}

Pattern IsPrimValue(const PrimExpr* value) {
  auto node = New(PatternKind::kPrimValue);
  node->dims.push_back(value);
  return Pattern(std::move(node));
}

Pattern IsFunction(std::span<const Pattern> params, Pattern body) {
  auto node = New(PatternKind::kFunction);
  node->children.assign(params.begin(), params.end());
  node->children.push_back(std::move(body));
  return Pattern(std::move(node));
}

Pattern operator|(const Pattern& a, const Pattern& b) {
  return WithChildren(PatternKind::kOr, std::array<Pattern, 2>{a, b});
}

Pattern IsAll(std::span<const Pattern> patterns) { return WithChildren(PatternKind::kAnd, patterns); }

Pattern IsNot(Pattern pattern) { return WithChildren(PatternKind::kNot, std::array<Pattern, 1>{std::move(pattern)}); }

const Op* RootOp(const Pattern& pattern) {
  const PatternNode& node = pattern.node();
  return node.kind == PatternKind::kCall ? As<Op>(node.children[0].node().expr) : nullptr;
}

bool CountsUses(const Pattern& pattern) {
  const PatternNode& node = pattern.node();
  return node.used_once || std::ranges::any_of(node.children, &CountsUses);
}

const Expr* ResolveAlias(const Expr* expr, const Definitions& definitions) {
  while (const auto* var = As<Var>(expr)) {
    const Expr* value = definitions.ValueOf(var);
    if (!value || !IsLeaf(value)) break;
    expr = value;
  }
  return expr;
}

const Expr* DefinitionOf(const Expr* expr, const Definitions& definitions) {
  const Expr* leaf = ResolveAlias(expr, definitions);
  const auto* var = As<Var>(leaf);
  const Expr* value = var ? definitions.ValueOf(var) : nullptr;
  return value ? value : leaf;
}

bool Match::Try(const Pattern& pattern, const Expr* expr) {
  Undo({0, 0});
  return Visit(pattern, expr);
}

const Call* Match::CallAt(const Pattern& part) const {
  const Expr* leaf = Find(part.node());
  return leaf ? As<Call>(DefinitionOf(leaf, definitions_)) : nullptr;
}

const PrimExpr* Match::DimOf(const tir::Var* var) const {
  for (const auto& [bound, dim] : dims_) {
    if (bound == var) return dim;
  }
  return nullptr;
}

bool Match::Undo(Mark mark) {
  parts_.resize(mark.parts);
  dims_.resize(mark.dims);
  return false;
}

const Expr* Match::Find(const PatternNode& part) const {
  for (const auto& [node, expr] : parts_) {
    if (node == &part) return expr;
  }
  return nullptr;
}

bool Match::Visit(const Pattern& pattern, const Expr* expr) {
  const Expr* leaf = ResolveAlias(expr, definitions_);
  if (const Expr* before = Find(pattern.node())) return before == leaf || SameLiteral(before, leaf);
  const Mark mark = Here();
  const Expr* value = DefinitionOf(leaf, definitions_);
  if (!VisitKind(pattern.node(), leaf, value)) {
    IROPT_DEBUG(kMatchDebug, "{} does not match {}", Describe(leaf, value), Describe(pattern.node()));
    return Undo(mark);
  }
  if (!Holds(pattern.node(), leaf, value)) {
    IROPT_DEBUG(kMatchDebug, "{} matches {}, and not its conditions", Describe(leaf, value), Describe(pattern.node()));
    return Undo(mark);
  }
  parts_.emplace_back(&pattern.node(), leaf);
  return true;
}

bool Match::VisitKind(const PatternNode& pattern, const Expr* leaf, const Expr* value) {
  switch (pattern.kind) {
    case PatternKind::kWildcard: return true;
    case PatternKind::kVar: return leaf == value && Is<Var>(leaf);
    case PatternKind::kConstant: return Is<Constant>(value);
    case PatternKind::kExpr: return SameLiteral(pattern.expr, value);
    case PatternKind::kCall: return Is<Call>(value) && VisitCall(pattern, To<Call>(value));
    case PatternKind::kTuple: {
      const auto* tuple = As<Tuple>(value);
      return tuple && tuple->fields.size() == pattern.children.size() &&
             VisitAll(pattern.children, tuple->fields, false);
    }
    case PatternKind::kTupleInAnyOrder: {
      const auto* tuple = As<Tuple>(value);
      if (!tuple || tuple->fields.size() != pattern.children.size()) return false;
      std::vector<bool> taken(tuple->fields.size(), false);
      return VisitInAnyOrder(pattern.children, tuple->fields, taken);
    }
    case PatternKind::kTupleGetItem: {
      const auto* item = As<TupleGetItem>(value);
      if (!item || (pattern.index != kAnyIndex && item->index != pattern.index)) return false;
      return Visit(pattern.children[0], item->tuple);
    }
    case PatternKind::kShape: return Is<ShapeExpr>(value) && MatchDims(pattern.dims, To<ShapeExpr>(value)->values);
    case PatternKind::kPrimValue: return Is<PrimValue>(value) && MatchDim(pattern.dims[0], To<PrimValue>(value)->value);
    case PatternKind::kFunction: return Is<Function>(value) && VisitFunction(pattern, To<Function>(value));
    case PatternKind::kOr: return Visit(pattern.children[0], leaf) || Visit(pattern.children[1], leaf);
    case PatternKind::kAnd:
      return std::ranges::all_of(pattern.children, [&](const Pattern& child) { return Visit(child, leaf); });
    case PatternKind::kNot: return VisitNot(pattern, leaf);
  }
  return false;
}

bool Match::VisitCall(const PatternNode& pattern, const Call* call) {
  const size_t num_args = pattern.children.size() - 1;
  if (call->args.size() < num_args || (call->args.size() > num_args && !pattern.more_args)) return false;
  const Mark mark = Here();
  // A visit of an operator costs more than the comparison.
  const PatternNode& callee = pattern.children[0].node();
  const Op* op = callee.predicates.empty() && callee.leaf_predicates.empty() ? As<Op>(callee.expr) : nullptr;
  if (op ? op != call->op : !Visit(pattern.children[0], call->op)) return false;
  if (pattern.attrs && !AttrEqual(pattern.attrs, call->attrs)) return Undo(mark);
  const std::span<const Pattern> args = std::span(pattern.children).subspan(1);
  if (VisitAll(args, call->args, false)) return true;
  return (pattern.commutative && VisitAll(args, call->args, true)) || Undo(mark);
}

// The patterns of a prefix of the expressions; of two in the other order with `swap`.
bool Match::VisitAll(std::span<const Pattern> patterns, List<const Expr*> exprs, bool swap) {
  if (patterns.size() > exprs.size()) return false;
  const Mark mark = Here();
  for (size_t i = 0; i < patterns.size(); ++i) {
    if (!Visit(patterns[i], exprs[swap ? 1 - i : i])) return Undo(mark);
  }
  return true;
}

bool Match::VisitFunction(const PatternNode& pattern, const Function* function) {
  const std::span<const Pattern> params = std::span(pattern.children).first(pattern.children.size() - 1);
  if (params.size() != function->params.size()) return false;
  for (size_t i = 0; i < params.size(); ++i) {
    if (!Visit(params[i], function->params[i])) return false;
  }
  const auto* seq = As<SeqExpr>(function->body);
  return Visit(pattern.children.back(), seq && seq->blocks.empty() ? seq->body : function->body);
}

bool Match::VisitInAnyOrder(std::span<const Pattern> patterns, List<const Expr*> fields, std::vector<bool>& taken) {
  if (patterns.empty()) return true;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (taken[i]) continue;
    const Mark mark = Here();
    taken[i] = true;
    if (Visit(patterns[0], fields[i]) && VisitInAnyOrder(patterns.subspan(1), fields, taken)) return true;
    taken[i] = false;
    Undo(mark);
  }
  return false;
}

bool Match::VisitNot(const PatternNode& pattern, const Expr* leaf) {
  const Mark mark = Here();
  const bool matches = Visit(pattern.children[0], leaf);
  Undo(mark);
  return !matches;
}

bool Match::Holds(const PatternNode& pattern, const Expr* leaf, const Expr* value) {
  if (pattern.used_once) {
    const auto* var = As<Var>(leaf);
    if (!var || !definitions_.IsUsedOnce(var)) return false;
  }
  if (!pattern.dtype.is_void() || pattern.rank != kUnknownDim || pattern.has_dims) {
    const auto* tensor = As<TensorType>(leaf->type);
    if (!tensor || (!pattern.dtype.is_void() && tensor->dtype != pattern.dtype)) return false;
    if (pattern.rank != kUnknownDim && tensor->ndim != pattern.rank) return false;
    if (pattern.has_dims && (!tensor->known || !MatchDims(pattern.dims, tensor->dims))) return false;
  }
  const auto all_hold = [](const std::vector<Pattern::Predicate>& predicates, const Expr* expr) {
    return std::ranges::all_of(predicates, [&](const Pattern::Predicate& holds) { return holds(expr); });
  };
  return all_hold(pattern.leaf_predicates, leaf) && all_hold(pattern.predicates, value);
}

bool Match::MatchDims(std::span<const PrimExpr* const> patterns, List<const PrimExpr*> dims) {
  if (patterns.size() != dims.size()) return false;
  for (size_t i = 0; i < patterns.size(); ++i) {
    if (!MatchDim(patterns[i], dims[i])) return false;
  }
  return true;
}

// Dimensions are interned, so equal ones are the same node.
bool Match::MatchDim(const PrimExpr* pattern, const PrimExpr* dim) {
  if (!pattern->has_sym_var()) return pattern == dim;
  if (!Is<tir::Var>(pattern)) {
    SymVarMap map;
    for (const auto& [var, value] : dims_) map.Set(var, value);
    return SubstituteSymVars(pattern, map) == dim;
  }
  const auto* var = static_cast<const tir::Var*>(pattern);
  if (const PrimExpr* bound = DimOf(var)) return bound == dim;
  dims_.emplace_back(var, dim);
  return true;
}

}  // namespace iropt
