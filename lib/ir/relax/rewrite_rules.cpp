#include "iropt/ir/relax/rewrite_rules.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "iropt/diag/joint_spans.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/origin_scope.h"
#include "iropt/ir/relax/tuple_leaves.h"
#include "iropt/ir/relax/walk.h"
#include "iropt/ir/rewrite_limit.h"
#include "iropt/support/debug_output.h"

namespace iropt {

// That of pattern.cpp.
static constexpr DebugChannel kRuleDebug("match");

// ---- The index

void RuleSet::Add(RewriteRule rule) {
  const auto index = static_cast<uint32_t>(rules_.size());
  counts_uses_ |= CountsUses(rule.pattern);
  AddRoot(rule.pattern, index);
  rules_.push_back(std::move(rule));
}

void RuleSet::AddRoot(const Pattern& pattern, uint32_t index) {
  const PatternNode& node = pattern.node();
  switch (node.kind) {
    case PatternKind::kOr:
      for (const Pattern& alternative : node.children) AddRoot(alternative, index);
      return;
    case PatternKind::kTupleGetItem: return AddOperand(roots_[nullptr], 0, node.children[0], index);
    case PatternKind::kCall: break;
    default: return any_root_.push_back(index);
  }
  const Op* op = RootOp(pattern);
  if (!op) return any_root_.push_back(index);
  Root& root = roots_[op];
  // The first operand that must be a call of an operator decides.
  for (size_t i = 1; i < node.children.size(); ++i) {
    if (!RootOp(node.children[i])) continue;
    AddOperand(root, i - 1, node.children[i], index);
    if (node.commutative) AddOperand(root, 2 - i, node.children[i], index);
    return;
  }
  root.always.push_back(index);
}

void RuleSet::AddOperand(Root& root, size_t position, const Pattern& operand, uint32_t index) {
  const Op* op = RootOp(operand);
  if (!op) return root.always.push_back(index);
  if (position >= root.by_operand.size()) root.by_operand.resize(position + 1);
  root.by_operand[position][op].push_back(index);
}

bool RuleSet::RootOf(const Expr& expr, const Expr*& root) {
  if (const auto* call = As<Call>(&expr)) {
    root = call->op;
    return true;
  }
  root = nullptr;
  return Is<TupleGetItem>(&expr);
}

void RuleSet::FindCandidates(const Expr& expr, const Definitions& definitions, std::vector<uint32_t>& scratch) const {
  scratch.clear();
  const Expr* key = nullptr;
  if (!RootOf(expr, key)) return;
  if (key) scratch.insert(scratch.end(), any_root_.begin(), any_root_.end());
  const auto* found = roots_.Find(key);
  if (!found) return;
  const Root& root = *found;
  scratch.insert(scratch.end(), root.always.begin(), root.always.end());
  const auto* item = As<TupleGetItem>(&expr);
  const List<const Expr*> operands = item ? List<const Expr*>(&item->tuple, 1) : To<Call>(&expr)->args;
  for (size_t i = 0; i < std::min<size_t>(operands.size(), root.by_operand.size()); ++i) {
    if (root.by_operand[i].empty()) continue;
    const auto* call = As<Call>(DefinitionOf(operands[i], definitions));
    const auto rules = call ? root.by_operand[i].find(call->op) : root.by_operand[i].end();
    if (rules != root.by_operand[i].end()) scratch.insert(scratch.end(), rules->second.begin(), rules->second.end());
  }
  std::ranges::sort(scratch);
  scratch.erase(std::unique(scratch.begin(), scratch.end()), scratch.end());
}

// ---- Where replacements come from

namespace {

// Gives the calls of a replacement that a rule made the place of the replaced code.
class OriginGiver {
 public:
  OriginGiver(Span origin, Workspace& workspace) : origin_(origin), workspace_(workspace) {}

  const Expr* Give(const Expr* expr) {
    const auto* call = As<Call>(expr);
    if (call == nullptr || call->span().known()) return expr;
    const auto found = given_.find(expr);
    if (found != given_.end()) return found->second;
    auto* copy = workspace_.New<Call>(*call);
    copy->args = MapList(call->args, workspace_, [&](const Expr* arg) { return Give(arg); });
    copy->set_span(origin_);
    return given_[expr] = copy;
  }

 private:
  Span origin_;
  Workspace& workspace_;
  std::unordered_map<const Expr*, const Expr*> given_;  // a call may be an operand of several
};

// The places of the code that a match looks at, beginning with what is replaced.
Span OriginOf(const Expr* root, const Match& match) {
  const Definitions& definitions = match.definitions();
  std::vector<SourceSpan> places{Location(root->span().known() ? root->span() : OriginScope::Current())};
  for (const auto& [pattern, leaf] : match.parts()) {
    const auto* var = As<Var>(leaf);
    const bool is_part = pattern->kind == PatternKind::kCall || pattern->kind == PatternKind::kTupleGetItem;
    if (var == nullptr || !is_part) continue;
    if (const Expr* value = definitions.ValueOf(var)) places.push_back(Location(value->span()));
  }
  const SourceSpan joint = Join(places);
  return Span::Of(joint.begin, joint.end);
}

}  // namespace

// ---- The rewriter

RuleRewriter::RuleRewriter(const RuleSet& rules, Workspace& workspace, TypeInferrer& inferrer,
                           std::vector<uint32_t> uses)
    : ExprMutator(workspace, &inferrer), rules_(rules), uses_(std::move(uses)), applied_(rules.rules().size(), 0) {}

const BindingBlock* RuleRewriter::VisitBlock(const BindingBlock* block) {
  const uint32_t outer = std::exchange(block_, ++num_blocks_);
  const BindingBlock* visited = ExprMutator::VisitBlock(block);
  block_ = outer;
  return visited;
}

void RuleRewriter::VisitVarBinding(const VarBinding* binding) {
  fuel_ = kMaxRewrites;
  ExprMutator::VisitVarBinding(binding);
  const Binding* emitted = builder().current_bindings().back();
  Define(emitted->var, ::iropt::ValueOf(emitted));
  if (emitted->var == binding->var || binding->var->id >= uses_.size()) return;
  if (emitted->var->id >= uses_.size()) uses_.resize(emitted->var->id + uses_.size() / 2 + 1);
  uses_[emitted->var->id] = uses_[binding->var->id];
}

void RuleRewriter::VisitMatchCast(const MatchCast* binding) {
  fuel_ = kMaxRewrites;
  ExprMutator::VisitMatchCast(binding);
}

const Expr* RuleRewriter::VisitCall(const Call* call) { return Rewrite(ExprMutator::VisitCall(call)); }

const Expr* RuleRewriter::VisitTupleGetItem(const TupleGetItem* item) {
  return Rewrite(ExprMutator::VisitTupleGetItem(item));
}

const Expr* RuleRewriter::ValueOf(const Var* var) const {
  if (var->id >= definitions_.size()) return nullptr;
  const Definition& definition = definitions_[var->id];
  return definition.block == block_ ? definition.value : nullptr;
}

bool RuleRewriter::IsShared(const Constant* constant) const {
  struct Handler : WalkHandler {
    explicit Handler(LookupMap<const NDArray*, uint32_t>& map) : uses(map) {}
    void OnConstant(const Constant& used) { ++uses[used.data]; }
    LookupMap<const NDArray*, uint32_t>& uses;
  };
  if (constant_uses_.empty() && function_ != nullptr) {
    Handler handler(constant_uses_);
    Walk(*function_, handler);
  }
  return constant_uses_.Lookup(constant->data) > 1;
}

void RuleRewriter::Define(const Var* var, const Expr* value) {
  if (var->id >= definitions_.size()) {
    definitions_.resize(std::max<size_t>(workspace().num_vars(), var->id + definitions_.size() / 2 + 1));
  }
  definitions_[var->id] = {value, block_};
}

const Expr* RuleRewriter::Rewrite(const Expr* expr) {
  if (!expr->type) expr = builder().Normalize(expr);
  while (fuel_ > 0) {
    const Expr* replacement = ApplyRules(expr);
    if (!replacement) break;
    was_stopped_ |= --fuel_ == 0;
    auto outer = std::exchange(bound_, {});
    const Expr* next = BindOperands(replacement);
    bound_ = std::move(outer);
    CountUses(next, 1);
    CountUses(expr, -1);
    if (IsLeaf(next)) return next;
    expr = next;
  }
  return expr;
}

const Expr* RuleRewriter::ApplyRules(const Expr* expr) {
  rules_.FindCandidates(*expr, *this, candidates_);
  if (candidates_.empty()) return nullptr;
  Match match(*this);
  for (const uint32_t index : candidates_) {
    const RewriteRule& rule = rules_.rules()[index];
    if (!match.Try(rule.pattern, expr)) continue;
    const Expr* replacement = rule.replace(match, builder());
    if (!replacement || replacement == expr) {
      IROPT_DEBUG(kRuleDebug, "rule '{}' matches and leaves the code as it is", rule.name);
      continue;
    }
    if (!AllowRewrite(rule.name, *expr)) return nullptr;
    IROPT_DEBUG(kRuleDebug, "rule '{}' is applied", rule.name);
    ++applied_[index];
    return OriginGiver(OriginOf(expr, match), workspace()).Give(replacement);
  }
  return nullptr;
}

const Expr* RuleRewriter::BindOperands(const Expr* expr) {
  const auto bind = [this](const Expr* operand) { return BindOperand(operand); };
  switch (expr->kind) {
    case NodeKind::kCall: {
      const auto* call = static_cast<const Call*>(expr);
      const Expr* bound = Rebuild(*call, call->op, MapList(call->args, workspace(), bind));
      return bound->type ? bound : builder().Normalize(bound);
    }
    case NodeKind::kTuple: {
      const auto* tuple = static_cast<const Tuple*>(expr);
      return builder().Normalize(Rebuild(*tuple, MapList(tuple->fields, workspace(), bind)));
    }
    case NodeKind::kTupleGetItem: {
      const auto* item = static_cast<const TupleGetItem*>(expr);
      return builder().Normalize(Rebuild(*item, BindOperand(item->tuple)));
    }
    default: return expr;
  }
}

// An operand in A-normal form: a leaf or a tuple of leaves.
const Expr* RuleRewriter::BindOperand(const Expr* operand) {
  if (IsLeaf(operand)) return operand;
  if (const auto found = bound_.find(operand); found != bound_.end()) return found->second;
  const Expr* bound = BindOperands(operand);
  if (!Is<Tuple>(bound)) {
    auto outer = bound_;
    CountUses(bound, 1);
    bound = Rewrite(bound);
    bound_ = std::move(outer);
    if (!IsLeaf(bound)) {
      const Var* var = builder().Emit(bound);
      Define(var, builder().LookupBinding(var));
      bound = var;
    }
  }
  bound_[operand] = bound;
  return bound;
}

// The uses by an expression that becomes part of the function, or is replaced; what only a replaced expression uses is
// dead, too.
void RuleRewriter::CountUses(const Expr* expr, int change) {
  if (!rules_.counts_uses()) return;
  std::vector<const Expr*> dead{expr};
  while (!dead.empty()) {
    const Expr* user = dead.back();
    dead.pop_back();
    const auto count = [&](const Expr* leaf) {
      const auto* var = As<Var>(leaf);
      if (!var) return false;
      if (var->id >= uses_.size()) uses_.resize(var->id + uses_.size() / 2 + 1);
      uint32_t& uses = uses_[var->id];
      if (change > 0) {
        ++uses;
      } else if (uses > 0 && --uses == 0) {
        if (const Expr* value = ValueOf(var)) dead.push_back(value);
      }
      return false;
    };
    if (const auto* call = As<Call>(user)) {
      for (const Expr* arg : call->args) AnyLeaf(arg, count);
    } else if (const auto* item = As<TupleGetItem>(user)) {
      count(item->tuple);
    } else {
      AnyLeaf(user, count);
    }
  }
}

}  // namespace iropt
