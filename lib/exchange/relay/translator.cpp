#include "translator.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "iropt/infer/infer.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/builder.h"
#include "iropt/support/edit_distance.h"
#include "iropt/support/lookup.h"
#include "iropt/support/stack.h"
#include "ops/op_table.h"
#include "parser_core.h"
#include "schedule.h"
#include "type_check.h"

namespace iropt::relay {

namespace {

const DictAttr* ToAttributes(const GraphFunction& function) {
  std::vector<DictAttr::Entry> attributes;
  for (const Attribute& attribute : function.attributes) {
    if (const Attr* value = ToLiteralAttr(attribute.value)) attributes.emplace_back(attribute.name, value);
  }
  return DictAttr::Get(attributes);
}

// The type of a function as its annotations give it; null if there are not enough of them.
const FuncType* DeclaredType(const Graph& graph, const GraphFunction& function) {
  std::vector<const Type*> params;
  for (const NodeId param : function.params) {
    params.push_back(graph.vars[graph[param].index].type);
    if (params.back() == nullptr) return nullptr;
  }
  return function.result ? FuncType::Get(params, function.result) : nullptr;
}

// Returns whether the types of parameters follow from calls only.
bool LacksTypes(const Graph& graph, const GraphFunction& function) {
  return std::ranges::any_of(function.params,
                             [&](NodeId param) { return graph.vars[graph[param].index].type == nullptr; });
}

// The function of the module that a call of a function with type parameters, or with parameters without types, calls,
// for these types of arguments. Null after an error, or if the function does not have such.
using Instantiate = std::function<const GlobalVar*(std::string_view name, std::span<const Type* const> args)>;

// Builds one function of the module.
class FunctionTranslator {
 public:
  FunctionTranslator(const Graph& graph, NodeId node, const Module& module, Workspace& workspace,
                     const Instantiate& instantiate, DiagnosticEngine& diagnostics)
      : graph_(graph),
        node_(node),
        schedule_(graph, node),
        module_(module),
        workspace_(workspace),
        instantiate_(instantiate),
        diagnostics_(diagnostics),
        inferrer_(&module, workspace.arena(), &diagnostics),
        builder_(workspace, &inferrer_),
        values_(node - schedule_.low() + 1),
        let_vars_(values_.size(), kNoNode) {}

  // Null after an error. With types, these are those of the parameters.
  const Function* Run(std::span<const Type* const> types = {}) {
    FindLetNames();
    const Function* function = BuildFunction(node_, types);
    return CheckLets() ? function : nullptr;
  }

 private:
  size_t Slot(NodeId id) const { return id - schedule_.low(); }
  const GraphFunction& FunctionOf(NodeId id) const { return graph_.functions[graph_[id].index]; }

  bool Error(SourceSpan span, DiagId kind, std::string message) {
    diagnostics_.Error(span, kind, std::move(message));
    return false;
  }

  // ---- Lets

  template <class F>
  void ForEachLet(F&& f) const {
    for (NodeId id = schedule_.low(); id <= node_; ++id) {
      const GraphNode& node = graph_[id];
      if (node.kind != GraphKind::kLets || !schedule_.IsUsed(id)) continue;
      for (uint32_t i = 0; i + 1 < node.operands.size(); ++i) f(graph_.let_vars[node.index + i]);
    }
  }

  // A value has the name of the first variable that is bound to it.
  void FindLetNames() {
    ForEachLet([&](NodeId var) {
      const NodeId value = schedule_.Resolve(var);
      if (value >= schedule_.low() && let_vars_[Slot(value)] == kNoNode) let_vars_[Slot(value)] = var;
    });
  }

  std::string_view NameOf(NodeId id) const {
    const NodeId var = let_vars_[Slot(id)];
    return var == kNoNode ? std::string_view() : graph_.vars[graph_[var].index].name;
  }

  bool CheckLets() {
    bool ok = true;
    ForEachLet([&](NodeId id) {
      const GraphVar& var = graph_.vars[graph_[id].index];
      const NodeId node = schedule_.Resolve(id);
      const Expr* value = node >= schedule_.low() ? values_[Slot(node)] : nullptr;
      if (value != nullptr && value->type != nullptr) ok &= CheckAnnotation(var.type, value->type, var.span);
    });
    return ok;
  }

  bool CheckAnnotation(const Type* annotated, const Type* inferred, SourceSpan span) {
    if (annotated == nullptr || Agrees(annotated, inferred)) return true;
    return Error(span, "type-mismatch",
                 fmt::format("the annotation {} contradicts the type of the value, {}", TypeToString(annotated),
                             TypeToString(inferred)));
  }

  // ---- Functions

  // With the types of the arguments of a call, or without.
  const Function* BuildFunction(NodeId id, std::span<const Type* const> types = {}) {
    const GraphFunction& function = FunctionOf(id);
    std::vector<const Var*> params;
    for (const NodeId param : function.params) {
      const GraphVar& var = graph_.vars[graph_[param].index];
      const bool given = params.size() < types.size() && (function.is_generic || var.type == nullptr);
      const Type* type = given ? types[params.size()] : var.type;
      if (type == nullptr) return MissingType(var);
      // The function may be one of another function of the module, by its number.
      if (param < schedule_.low()) return NotInScope(graph_[param]), nullptr;
      Var* made = workspace_.NewVar(var.name, type);
      made->set_span(NodeSpan(var.span));
      values_[Slot(param)] = made;
      params.push_back(made);
    }
    const Expr* body = BuildScope(schedule_.Body(id));
    if (body == nullptr || !CheckAnnotation(function.result, body->type, function.result_span)) return nullptr;
    return builder_.MakeFunction(params, body, ToAttributes(function));
  }

  // A function that refers to itself needs its variable, and the type of that, before it is built.
  const Var* SelfOf(NodeId id) {
    const Var*& self = selves_[id];
    if (self != nullptr) return self;
    const GraphFunction& function = FunctionOf(id);
    const FuncType* type = DeclaredType(graph_, function);
    if (type == nullptr) return MissingTypes(function.name_span);
    return self = workspace_.NewVar(NameOf(id), type);
  }

  // A function with parameters without types waits for its first call.
  bool BindFunction(NodeId id, bool is_output) {
    if (LacksTypes(graph_, FunctionOf(id))) {
      waiting_[id] = {scope_, is_output};
      return true;
    }
    const Function* function = BuildFunction(id);
    if (function == nullptr) return false;
    if (const auto self = selves_.find(id); self != selves_.end()) {
      builder_.EmitNormalized(workspace_.New<VarBinding>(self->second, function));
      values_[Slot(id)] = self->second;
      return true;
    }
    return BindTo(id, function, is_output);
  }

  // The callee of a call in its own scope, with the types of the arguments. False after an error.
  bool BindWaiting(NodeId id, std::span<const Type* const> types) {
    const auto waiting = waiting_.find(id);
    if (waiting == waiting_.end() || waiting->second.scope != scope_) return true;
    const bool is_output = waiting->second.is_output;
    waiting_.erase(waiting);
    const Function* function = BuildFunction(id, types);
    return function != nullptr && BindTo(id, function, is_output);
  }

  // ---- Scopes

  const Expr* BuildScope(const ScheduledScope& scope) {
    return WithStack([&]() -> const Expr* {
      std::vector<const BindingBlock*> blocks;
      const uint32_t outer = std::exchange(scope_, ++num_scopes_);
      const bool ok = BuildBindings(scope, blocks);
      scope_ = outer;
      const Expr* result = ok ? Value(scope.result) : nullptr;
      if (result == nullptr) return nullptr;
      const auto* tuple = As<Tuple>(result);
      // The empty tuple has no variable in TVMScript.
      if (!IsLeaf(result) && (!tuple || !tuple->fields.empty())) {
        builder_.BeginDataflowBlock();
        result = builder_.EmitOutput(result);
        blocks.push_back(builder_.EndBlock());
      }
      return builder_.Seq(blocks, result);
    });
  }

  bool BuildBindings(const ScheduledScope& scope, std::vector<const BindingBlock*>& blocks) {
    bool ok = true;
    bool open = false;
    for (size_t i = 0; i < scope.order.size() && !diagnostics_.error_limit_reached(); ++i) {
      const bool barrier = Schedule::IsBarrier(graph_[scope.order[i]]);
      if (barrier && open) blocks.push_back(builder_.EndBlock());
      if (barrier) {
        builder_.BeginBindingBlock();
      } else if (!open) {
        builder_.BeginDataflowBlock();
      }
      ok &= Bind(scope.order[i], scope.is_output[i]);
      open = !barrier;
      if (barrier) blocks.push_back(builder_.EndBlock());
    }
    if (open) blocks.push_back(builder_.EndBlock());
    return ok;
  }

  // Binds the value of the node to a variable. False after an error.
  bool Bind(NodeId id, bool is_output) {
    if (graph_[id].kind == GraphKind::kFunction) return BindFunction(id, is_output);
    const Expr* value = Build(id);
    return value != nullptr && BindTo(id, value, is_output);
  }

  bool BindTo(NodeId id, const Expr* value, bool is_output) {
    if (IsLeaf(value) && !(is_output && Is<DataflowVar>(value))) return values_[Slot(id)] = value, true;
    if (is_output && builder_.current_block_is_dataflow()) {
      value = builder_.EmitOutput(value, NameOf(id));
    } else {
      const bool is_argument = Is<Tuple>(value) && graph_[id].kind != GraphKind::kTuple;
      value = is_argument ? builder_.NormalizeArgument(value) : builder_.Emit(value, NameOf(id));
    }
    values_[Slot(id)] = value;
    return !builder_.failed();
  }

  // ---- Expressions. Null after an error, which may be that of an operand.

  // As an operand: a leaf, or a tuple of them.
  const Expr* Value(NodeId id) {
    id = schedule_.Resolve(id);
    const GraphNode& node = graph_[id];
    switch (node.kind) {
      case GraphKind::kError: return nullptr;
      case GraphKind::kConstant: return graph_.constants[node.index];
      case GraphKind::kGlobal: return GlobalOf(node);
      case GraphKind::kTuple:
        if (id < schedule_.low() || !schedule_.IsBoundTuple(id)) return WithStack([&] { return TupleOf(node); });
        break;
      default: break;
    }
    if (id < schedule_.low()) return NotInScope(node);
    const Expr* value = values_[Slot(id)];
    if (value != nullptr) return value;
    // Only a function that is being built is used before it has a value; others have failed.
    if (node.kind == GraphKind::kFunction) return waiting_.contains(id) ? WithoutTypes(id) : SelfOf(id);
    return node.kind == GraphKind::kVar ? NotInScope(node) : nullptr;
  }

  std::nullptr_t WithoutTypes(NodeId id) {
    for (const NodeId param : FunctionOf(id).params) {
      const GraphVar& var = graph_.vars[graph_[param].index];
      if (var.type == nullptr) return MissingType(var);
    }
    return nullptr;
  }
  std::nullptr_t MissingType(const GraphVar& var) {
    Error(var.span, "missing-annotation", fmt::format("parameter '%{}' needs a type", var.name));
    return nullptr;
  }

  // The type of a function that was not translated follows from its annotations, unless it has an error.
  std::nullptr_t MissingTypes(SourceSpan span) {
    if (!diagnostics_.has_errors())
      Error(span, "missing-annotation", "a function that calls itself needs types of its parameters and its result");
    return nullptr;
  }

  const Expr* NotInScope(const GraphNode& node) {
    Error(node.span, "undefined-variable", "the variable is used outside of its scope");
    return nullptr;
  }

  const Expr* GlobalOf(const GraphNode& node) {
    const std::string_view name = graph_.globals[node.index];
    const ModuleEntry* entry = module_.Find(name);
    if (entry != nullptr && entry->func->type != nullptr) return entry->var;
    if (entry != nullptr) return MissingTypes(node.span);
    DiagnosticBuilder error =
        diagnostics_.Error(node.span, "unknown-function", fmt::format("the module has no function '@{}'", name));
    std::vector<std::string_view> names;
    for (const ModuleEntry& other : module_.functions()) names.push_back(other.var->name);
    if (const auto nearest = NearestName(name, names)) error.Note(fmt::format("did you mean '@{}'?", *nearest));
    return nullptr;
  }

  const Expr* TupleOf(const GraphNode& node) {
    std::vector<const Expr*> fields;
    std::vector<const Type*> types;
    for (const NodeId operand : node.operands) {
      const Expr* field = Value(operand);
      if (field == nullptr) return nullptr;
      fields.push_back(field);
      types.push_back(TypeOfExpr(field, &module_));
    }
    auto* tuple = workspace_.New<Tuple>(workspace_.Copy(fields), TupleType::Get(workspace_.arena(), types));
    tuple->set_span(NodeSpan(node.span));
    return tuple;
  }

  const Expr* Build(NodeId id) {
    const GraphNode& node = graph_[id];
    switch (node.kind) {
      case GraphKind::kItem: return BuildItem(node);
      case GraphKind::kTuple: return TupleOf(node);
      case GraphKind::kCall: return BuildCall(node);
      case GraphKind::kOperator:
      case GraphKind::kSign: return BuildOperator(node);
      case GraphKind::kIf: return BuildIf(id);
      default: return nullptr;
    }
  }

  const Expr* BuildItem(const GraphNode& node) {
    const Expr* tuple = Value(node.operands.front());
    if (tuple == nullptr) return nullptr;
    const auto* type = As<TupleType>(tuple->type);
    if (type == nullptr || node.index >= type->fields.size()) {
      Error(node.span, "tuple-index",
            type ? fmt::format("the tuple has no field {}", node.index)
                 : fmt::format("{} does not have fields", TypeToString(tuple->type)));
      return nullptr;
    }
    if (const auto* literal = As<Tuple>(tuple)) return literal->fields[node.index];
    auto* item = workspace_.New<TupleGetItem>(tuple, static_cast<int32_t>(node.index), type->fields[node.index]);
    item->set_span(NodeSpan(node.span));
    return item;
  }

  bool Operands(List<NodeId> nodes, std::vector<const Expr*>& operands) {
    operands.reserve(nodes.size());
    for (const NodeId node : nodes) {
      operands.push_back(Value(node));
      if (operands.back() == nullptr) return false;
    }
    return true;
  }

  const Expr* BuildCall(const GraphNode& node) {
    std::vector<const Expr*> args;
    if (!Operands(List<NodeId>(node.operands.span().subspan(1)), args)) return nullptr;
    const Expr* callee = CalleeOf(node.operands.front(), TypesOf(args, module_));
    if (callee == nullptr) return nullptr;
    auto* call = workspace_.New<Call>(callee, workspace_.Copy(args), nullptr, nullptr, nullptr);
    call->set_span(NodeSpan(node.span));
    call->type = inferrer_.Infer(call);
    return call->type ? call : nullptr;
  }

  const Expr* CalleeOf(NodeId id, const std::vector<const Type*>& types) {
    id = schedule_.Resolve(id);
    const GraphNode& node = graph_[id];
    if (node.kind == GraphKind::kGlobal) {
      if (const GlobalVar* instance = instantiate_(graph_.globals[node.index], types)) return instance;
    }
    if (node.kind == GraphKind::kFunction && !BindWaiting(id, types)) return nullptr;
    return Value(id);
  }

  const Expr* BuildOperator(const GraphNode& node) {
    std::vector<const Expr*> operands;
    if (!Operands(node.operands, operands)) return nullptr;
    const OperatorCall& call = graph_.calls[node.index];
    return OpCall(call, node.span, NameSpan(node, call), operands, builder_, module_, diagnostics_).Build();
  }

  bool CheckConditional(const GraphNode& node, const Type& condition, const Type& then, const Type& otherwise) {
    const Type* boolean = TensorType::Get(std::span<const PrimExpr* const>(), DataType::Bool());
    if (!Agrees(boolean, &condition))
      return Error(
          node.span, "type-mismatch",
          fmt::format("the condition must be {}, but the type is {}", TypeToString(boolean), TypeToString(&condition)));
    if (Agrees(&then, &otherwise)) return true;
    return Error(
        node.span, "type-mismatch",
        fmt::format("the branches have different types, {} and {}", TypeToString(&then), TypeToString(&otherwise)));
  }

  const Expr* BuildIf(NodeId id) {
    const GraphNode& node = graph_[id];
    const Expr* condition = Value(node.operands.front());
    const Expr* then = BuildScope(schedule_.Then(id));
    const Expr* otherwise = BuildScope(schedule_.Else(id));
    if (condition == nullptr || then == nullptr || otherwise == nullptr) return nullptr;
    if (!CheckConditional(node, *condition->type, *then->type, *otherwise->type)) return nullptr;
    auto* conditional = workspace_.New<If>(condition, then, otherwise, nullptr);
    conditional->set_span(NodeSpan(node.span));
    conditional->type = inferrer_.Infer(conditional);
    return conditional->type ? conditional : nullptr;
  }

  const Graph& graph_;
  NodeId node_;
  Schedule schedule_;
  const Module& module_;
  Workspace& workspace_;
  const Instantiate& instantiate_;
  DiagnosticEngine& diagnostics_;
  OpTypeInferrer inferrer_;
  BlockBuilder builder_;
  std::vector<const Expr*> values_;      // by number of the node, from the lowest one on
  std::vector<NodeId> let_vars_;         // in the same order: the first variable of a let that is bound to the node
  std::map<NodeId, const Var*> selves_;  // of functions that refer to themselves
  struct Waiting {
    uint32_t scope = 0;
    bool is_output = false;
  };
  std::map<NodeId, Waiting> waiting_;  // functions that are not built yet, with the scopes that they belong to
  uint32_t scope_ = 0;                 // the number of the innermost one
  uint32_t num_scopes_ = 0;
};

class ModuleTranslator {
 public:
  ModuleTranslator(const Graph& graph, const FuncStorageRef& storage, DiagnosticEngine& diagnostics)
      : graph_(graph), storage_(storage), diagnostics_(diagnostics) {}

  Module Run() {
    CollectNodes();
    FindCallees();
    DeclareAll();
    for (uint32_t i = 0; i < nodes_.size(); ++i) TranslateWithCallees(i);
    for (uint32_t i = 0; i < nodes_.size(); ++i) {
      if (IsMadeByCalls(i) && !instantiated_[i]) module_.Remove(GlobalVar::Get(FunctionAt(i).name));
    }
    return std::move(module_);
  }

 private:
  const GraphFunction& FunctionAt(uint32_t i) const { return graph_.functions[graph_.definitions[i]]; }

  bool IsMadeByCalls(uint32_t i) const {
    return is_called_[i] && (FunctionAt(i).is_generic || LacksTypes(graph_, FunctionAt(i)));
  }

  void CollectNodes() {
    std::vector<NodeId> of_function(graph_.functions.size());
    for (NodeId id = 0; id < graph_.nodes.size(); ++id) {
      if (graph_[id].kind == GraphKind::kFunction) of_function[graph_[id].index] = id;
    }
    for (const uint32_t definition : graph_.definitions) nodes_.push_back(of_function[definition]);
  }

  // The functions that each function refers to, and those that another one refers to.
  void FindCallees() {
    for (uint32_t i = 0; i < nodes_.size(); ++i) by_name_.emplace(FunctionAt(i).name, i);
    instantiated_.resize(nodes_.size());
    callees_.resize(nodes_.size());
    is_called_.resize(nodes_.size());
    for (uint32_t i = 0; i < nodes_.size(); ++i) {
      for (NodeId id = FunctionAt(i).first_node; id < nodes_[i]; ++id) {
        if (graph_[id].kind != GraphKind::kGlobal) continue;
        const auto callee = by_name_.find(graph_.globals[graph_[id].index]);
        if (callee == by_name_.end()) continue;
        callees_[i].push_back(callee->second);
        if (callee->second != i) is_called_[callee->second] = true;
      }
    }
  }

  // Gives every name its place in the module, with the type that the annotations declare.
  void DeclareAll() {
    for (uint32_t i = 0; i < nodes_.size(); ++i) {
      const GraphFunction& function = FunctionAt(i);
      if (module_.Find(function.name) != nullptr) {
        diagnostics_.Error(function.name_span, "duplicate-function",
                           fmt::format("the module has a function '@{}' already", function.name));
      }
      const GlobalVar* var = GlobalVar::Get(function.name);
      if (function.extern_symbol.empty()) {
        Declare(var, function.name, DeclaredType(graph_, function));
      } else {
        Declare(var, function.extern_symbol, PackedFuncType());
      }
    }
    done_.resize(nodes_.size());
  }

  // Gives the name a function without a body, of this type.
  void Declare(const GlobalVar* var, std::string_view symbol, const Type* type) {
    Workspace workspace;
    const auto* declaration = workspace.New<ExternFunc>(workspace.arena().CopyString(symbol), DictAttr::Empty(), type);
    module_.Set(var, declaration, workspace.Finish());
  }

  // Callees come first, so that their types are known; only those of a cycle need annotations.
  void TranslateWithCallees(uint32_t first) {
    struct Visit {
      uint32_t function;
      size_t next;
    };
    std::vector<Visit> stack;
    const auto enter = [&](uint32_t i) {
      if (done_[i]) return;
      done_[i] = true;
      stack.push_back({i, 0});
    };
    enter(first);
    while (!stack.empty()) {
      Visit& visit = stack.back();
      if (visit.next < callees_[visit.function].size()) {
        enter(callees_[visit.function][visit.next++]);
        continue;
      }
      TranslateFunction(visit.function);
      stack.pop_back();
    }
  }

  void TranslateFunction(uint32_t i) {
    const GraphFunction& function = FunctionAt(i);
    if (function.body == kNoNode || diagnostics_.error_limit_reached()) return;
    // Calls make the functions that they need.
    if (IsMadeByCalls(i)) return;
    Translate(i, GlobalVar::Get(function.name), {});
  }

  const GlobalVar* InstanceOf(std::string_view name, std::span<const Type* const> types) {
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) return nullptr;
    const uint32_t i = found->second;
    const bool depends_on_types = FunctionAt(i).is_generic || LacksTypes(graph_, FunctionAt(i));
    if (!depends_on_types || FunctionAt(i).params.size() != types.size()) return nullptr;
    const auto [known, added] = instances_.try_emplace({i, {types.begin(), types.end()}});
    if (!added) return known;
    known = GlobalVar::Get(instantiated_[i] ? module_.UniqueName(name) : std::string(name));
    instantiated_[i] = true;
    const GlobalVar* var = known;
    // Until it is translated, the result of the function can be anything.
    const ModuleEntry* declared = module_.Find(var);
    if (declared == nullptr || declared->func->type == nullptr)
      Declare(var, var->name, FuncType::Get(types, ObjectType::Get()));
    Translate(i, var, types);
    return var;
  }

  void Translate(uint32_t i, const GlobalVar* var, std::span<const Type* const> types) {
    const GraphFunction& function = FunctionAt(i);
    Workspace workspace(module_, storage_);
    const Function* made =
        FunctionTranslator(graph_, nodes_[i], module_, workspace, instantiate_, diagnostics_).Run(types);
    IROPT_CHECK(made != nullptr || diagnostics_.has_errors(), "'@{}' has failed without an error", function.name);
    if (made == nullptr) return;
    // Functions that no other one calls are for callers from outside.
    if (!is_called_[i] || function.name == "main") {
      auto* exported = workspace.New<Function>(*made);
      exported->attrs = made->attrs->With(attr::kGlobalSymbol, StrAttr::Get(function.name));
      made = exported;
    }
    module_.Set(var, made, workspace.Finish());
  }

  const Graph& graph_;
  const FuncStorageRef& storage_;
  DiagnosticEngine& diagnostics_;
  Module module_;
  std::vector<NodeId> nodes_;  // of the definitions
  std::map<std::string_view, uint32_t> by_name_;
  // Of functions with type parameters: the functions of the module for types of arguments.
  LookupMap<std::pair<uint32_t, std::vector<const Type*>>, const GlobalVar*> instances_;
  std::vector<bool> instantiated_;
  const Instantiate instantiate_ = [this](std::string_view name, std::span<const Type* const> types) {
    return InstanceOf(name, types);
  };
  std::vector<std::vector<uint32_t>> callees_;
  std::vector<bool> is_called_;
  std::vector<bool> done_;
};

}  // namespace

Module Translate(const Graph& graph, const FuncStorageRef& storage, DiagnosticEngine& diagnostics) {
  return ModuleTranslator(graph, storage, diagnostics).Run();
}

}  // namespace iropt::relay
