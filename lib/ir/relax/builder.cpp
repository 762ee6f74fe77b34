#include "iropt/ir/relax/builder.h"

#include <algorithm>
#include <utility>

#include "iropt/ir/relax/origin_scope.h"
#include "iropt/ir/relax/rebuild.h"

namespace iropt {

namespace {

bool HasNestedSeq(const BindingBlock* block) {
  return std::ranges::any_of(block->bindings, [](const Binding* binding) { return Is<SeqExpr>(ValueOf(binding)); });
}

// Appends the block with SeqExprs that variables are bound to as part of it, as the blocks around their bindings.
void AppendFlat(const BindingBlock* block, Workspace& workspace, std::vector<const BindingBlock*>& blocks) {
  if (!HasNestedSeq(block)) return blocks.push_back(block);
  Rebuilder rebuilder(workspace, nullptr, Retype::kNever);
  std::vector<const Binding*> bindings;
  const auto end_block = [&] {
    blocks.push_back(rebuilder.Rebuild(*block, workspace.Copy(bindings)));
    bindings.clear();
  };
  for (const Binding* binding : block->bindings) {
    const auto* seq = As<SeqExpr>(ValueOf(binding));
    if (seq == nullptr) {
      bindings.push_back(binding);
      continue;
    }
    end_block();
    // The inner blocks are flat: they were normalized before the outer ones.
    blocks.insert(blocks.end(), seq->blocks.begin(), seq->blocks.end());
    bindings.push_back(rebuilder.Rebuild(*binding, binding->var, seq->body));
  }
  end_block();
}

thread_local Span current_origin;

// The span of a binding of the value.
Span OriginOf(const Expr* value) { return value->span().known() ? value->span() : current_origin; }

template <class B>
const Binding* WithSpan(const B& binding, Span span, Workspace& workspace) {
  B* copy = workspace.New<B>(binding);
  copy->set_span(span);
  return copy;
}

}  // namespace

OriginScope::OriginScope(Span origin) : outer_(std::exchange(current_origin, origin)) {}
OriginScope::~OriginScope() { current_origin = outer_; }
Span OriginScope::Current() { return current_origin; }

BlockBuilder::BlockBuilder(Workspace& workspace, TypeInferrer* inferrer) : workspace_(workspace), inferrer_(inferrer) {}

BlockBuilder::Frame& BlockBuilder::top() {
  IROPT_CHECK(depth_ > 0, "no block is being built");
  return frames_[depth_ - 1];
}
const BlockBuilder::Frame& BlockBuilder::top() const { return const_cast<BlockBuilder*>(this)->top(); }

bool BlockBuilder::current_block_is_dataflow() const { return top().is_dataflow; }

void BlockBuilder::BeginBlock(bool is_dataflow) {
  if (depth_ == frames_.size()) frames_.emplace_back();
  frames_[depth_++].is_dataflow = is_dataflow;
}

const BindingBlock* BlockBuilder::EndBlock() {
  const Frame& frame = top();
  const List<const Binding*> bindings = workspace_.Copy(frame.bindings);
  DropBlock();
  if (frame.is_dataflow) return workspace_.New<DataflowBlock>(bindings);
  return workspace_.New<BindingBlock>(bindings);
}

void BlockBuilder::DropBlock() {
  Frame& frame = top();
  frame.bindings.clear();
  frame.normalized.clear();
  --depth_;
}

const Var* BlockBuilder::Emit(const Expr* value, std::string_view name_hint) {
  return EmitAs(top().is_dataflow, value, name_hint);
}

const Var* BlockBuilder::EmitOutput(const Expr* value, std::string_view name_hint) {
  IROPT_CHECK(top().is_dataflow, "an output outside of a dataflow block");
  return EmitAs(false, value, name_hint);
}

const Var* BlockBuilder::EmitAs(bool is_dataflow, const Expr* value, std::string_view name_hint) {
  value = Normalize(value);
  // A name of a function has no type of its own.
  const Var* var = NewVar(is_dataflow, name_hint, value->type ? value->type : InferType(value));
  VarBinding* binding = workspace_.New<VarBinding>(var, value);
  binding->set_span(OriginOf(value));
  top().bindings.push_back(binding);
  Record(var, value);
  return var;
}

const Var* BlockBuilder::EmitMatchCast(const Expr* value, const Type* type, std::string_view name_hint) {
  value = Normalize(value);
  const Var* var = NewVar(top().is_dataflow, name_hint, type);
  MatchCast* binding = workspace_.New<MatchCast>(var, value, type);
  binding->set_span(OriginOf(value));
  top().bindings.push_back(binding);
  return var;
}

void BlockBuilder::EmitNormalized(const Binding* binding) {
  Frame& frame = top();
  IROPT_CHECK(frame.is_dataflow || !binding->var->is_dataflow(), "dataflow variable {} outside of a dataflow block",
              binding->var->name());
  IROPT_CHECK(binding->var->type != nullptr, "variable {} has no type", binding->var->name());
  if (!binding->span().known() && current_origin.known()) {
    const auto* cast = As<MatchCast>(binding);
    binding = cast ? WithSpan(*cast, current_origin, workspace_)
                   : WithSpan(*To<VarBinding>(binding), current_origin, workspace_);
  }
  frame.bindings.push_back(binding);
  if (const auto* var_binding = As<VarBinding>(binding)) Record(binding->var, var_binding->value);
}

const Expr* BlockBuilder::LookupBinding(const Var* var) const { return values_.Find(var); }

void BlockBuilder::Record(const Var* var, const Expr* value) { values_.Set(var, value); }

const Call* BlockBuilder::MakeCall(const Expr* op, std::span<const Expr* const> args, const Attr* attrs,
                                   const TupleType* type_args) {
  Call* call = workspace_.New<Call>(op, workspace_.Copy(args), attrs, type_args, nullptr);
  call->type = InferType(call);
  return call;
}

const SeqExpr* BlockBuilder::Seq(std::span<const BindingBlock* const> blocks, const Expr* body, Span span) {
  std::vector<const BindingBlock*> flat;
  flat.reserve(blocks.size());
  for (const BindingBlock* block : blocks) AppendFlat(block, workspace_, flat);
  SeqExpr* seq = workspace_.New<SeqExpr>(JoinBlocks(workspace_.Copy(flat), workspace_), body, nullptr);
  seq->type = inferrer_ == nullptr && body->type != nullptr ? body->type : InferType(seq);
  seq->flags = SeqExpr::kNormalized;
  seq->set_span(span);
  return seq;
}

const Function* BlockBuilder::MakeFunction(std::span<const Var* const> params, const Expr* body, const DictAttr* attrs,
                                           bool is_pure) {
  const auto* function = workspace_.New<Function>(workspace_.Copy(params), body, nullptr, is_pure, attrs,
                                                  static_cast<const Type*>(nullptr));
  return To<Function>(Normalize(function));
}

const Type* BlockBuilder::InferType(const Expr* expr) {
  IROPT_CHECK(inferrer_ != nullptr, "{} has no type, and there is no inferrer", NodeKindName(expr->kind));
  if (const Type* type = inferrer_->Infer(expr)) return type;
  failed_ = true;
  return ObjectType::Get();
}

const Var* BlockBuilder::NewVar(bool is_dataflow, std::string_view name_hint, const Type* type) {
  const std::string_view name = UniqueName(!name_hint.empty() ? name_hint : is_dataflow ? "lv" : "gv");
  if (is_dataflow) return workspace_.NewDataflowVar(name, type);
  return workspace_.NewVar(name, VisibleType(type, workspace_.arena()));
}

}  // namespace iropt
