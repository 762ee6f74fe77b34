#include "iropt/transform/relax/precision/lower_operators.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/element.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/ir/relax/tuple_leaves.h"
#include "iropt/ir/relax/visitor.h"
#include "iropt/op/op_attrs.h"
#include "iropt/op/ops/call_packed.h"
#include "iropt/op/ops/datatype.h"
#include "iropt/runtime/value.h"
#include "iropt/transform/relax/simplify/dead_code_elimination.h"
#include "transform/relax/util/onnx_opset.h"

namespace iropt {

namespace {

constexpr DataType kWide = DataType::Float(32);

// A companion of the leaves of a tuple that says nothing about them.
struct Everywhere {
  Everywhere Field(uint32_t) const { return *this; }
};

bool IsWide(const Type* type) {
  const auto* tensor = As<TensorType>(type);
  return tensor && tensor->dtype == kWide;
}

// The attributes of a call whose accumulators and results have the dtype.
const Attr* WithOutDtype(const Call& call, DataType dtype) {
  const OpInfo& info = *To<Op>(call.op)->info;
  const OpAttr* attr = info.FindAttr("out_dtype");
  if (!attr) return call.attrs;
  const auto field = static_cast<uint32_t>(attr - info.attrs.data());
  const auto* record = To<ObjectAttr>(call.attrs);
  const auto* given = As<DTypeAttr>(record->values[field]);
  if (!given || given->value != kWide) return call.attrs;
  return record->With(field, DTypeAttr::Get(dtype));
}

// The explicit result types of a call that is not of an operator, with the dtype.
const TupleType* WithOutTypes(const Call& call, DataType dtype, Arena& arena) {
  if (!IsWholeMove(call)) return call.type_args;
  return To<TupleType>(MapLeaves(call.type_args, Everywhere(), arena, [&](const Type* leaf, Everywhere) -> const Type* {
    return IsWide(leaf) ? To<TensorType>(leaf)->With(arena, dtype, To<TensorType>(leaf)->vdevice) : leaf;
  }));
}

// The variables that keep their types: the result, and what branches, local functions and match_casts use.
class KeptVars : private ExprVisitor {
 public:
  explicit KeptVars(const Function& function) {
    const auto* seq = As<SeqExpr>(function.body);
    if (!seq) return;
    for (const BindingBlock* block : seq->blocks) {
      for (const Binding* binding : block->bindings) {
        const Expr* value = ValueOf(binding);
        if (Is<MatchCast>(binding) || Is<If>(value) || Is<Function>(value) || Is<SeqExpr>(value)) VisitExpr(value);
      }
    }
    VisitExpr(seq->body);
  }
  bool Contains(const Var* var) const { return vars_.contains(var); }

 private:
  void VisitVar(const Var* var) override { vars_.insert(var); }
  LookupSet<const Expr*> vars_;
};

class OperatorLowering : public ExprMutator {
 public:
  OperatorLowering(const LookupSet<const Call*>& calls, DataType lower, const KeptVars& kept, Workspace& workspace,
                   TypeInferrer& inferrer)
      : ExprMutator(workspace, &inferrer), calls_(calls), lower_(lower), kept_(kept) {}

 protected:
  // Values that were converted in a block are not visible after it.
  const BindingBlock* VisitBlock(const BindingBlock* block) override {
    const auto outer = std::exchange(converted_, {});
    const BindingBlock* visited = ExprMutator::VisitBlock(block);
    converted_ = outer;
    return visited;
  }

  void VisitVarBinding(const VarBinding* binding) override {
    const auto* call = As<Call>(binding->value);
    if (!call) return ReEmit(binding, VisitExpr(binding->value));
    const bool is_lower = calls_.contains(call);
    uint32_t i = 0;
    const List<const Expr*> args = MapList(call->args, workspace(), [&](const Expr* arg) {
      const Expr* now = builder().NormalizeArgument(VisitExpr(arg));
      const Type* type = call->args[i++]->type;
      return builder().NormalizeArgument(is_lower ? Lower(now) : Restore(now, type));
    });
    if (is_lower) {
      const TupleType* types = WithOutTypes(*call, lower_, workspace().arena());
      return ReEmit(binding, Rebuild(*call, call->op, args, WithOutDtype(*call, lower_), types, nullptr));
    }
    ReEmit(binding, Rebuild(*call, VisitExpr(call->op), args, call->attrs, call->type_args, call->type));
  }

 private:
  struct Typed {
    const Type* type;
    Typed Field(uint32_t index) const {
      const auto* tuple = As<TupleType>(type);
      return {tuple ? tuple->fields[index] : nullptr};
    }
  };

  // A value that keeps its type is converted back, for uses in the lower dtype it was computed in before.
  void ReEmit(const VarBinding* binding, const Expr* value) {
    const Expr* normal = builder().Normalize(value);
    const Type* type = binding->var->type;
    if (!kept_.Contains(binding->var) || !normal->type || TypeEqual(normal->type, type))
      return ReEmitBinding(binding, normal);
    const Expr* lowered = builder().NormalizeArgument(normal);
    if (!Is<TensorType>(type)) return ReEmitBinding(binding, builder().Normalize(Restore(lowered, type)));
    ReEmitBinding(binding, AsType(lowered, kWide));
    const Expr* now = RemapOf(binding->var);
    converted_[{now ? now : binding->var, true}] = lowered;
  }

  const Expr* Lower(const Expr* arg) {
    return ConvertItems(arg, Everywhere(), workspace(), [this](const Expr* item, Everywhere) {
      if (!IsWide(item->type)) return item;
      const auto* constant = As<Constant>(item);
      return constant ? LowerConstant(*constant) : Cast(item, true);
    });
  }

  const Expr* Restore(const Expr* arg, const Type* type) {
    return ConvertItems(arg, Typed{type}, workspace(), [this](const Expr* item, Typed to) {
      const auto* tensor = As<TensorType>(item->type);
      return tensor && tensor->dtype == lower_ && IsWide(to.type) ? Cast(item, false) : item;
    });
  }

  const Expr* LowerConstant(const Constant& constant) {
    const Expr*& made = constants_[constant.data];
    if (made) return made;
    const std::shared_ptr<NDArray> array = NDArray::Make(lower_, constant.data->shape());
    DispatchElement(lower_, [&]<class T>(std::type_identity<T>) {
      const std::span<const float> from = constant.data->As<float>();
      std::ranges::transform(from, array->MutableAs<T>().begin(),
                             [](float x) { return Element<T>::Store(static_cast<MathOf<T>>(x)); });
    });
    auto* node = const_cast<Constant*>(MakeConstant(array, workspace()));
    node->set_span(constant.span());
    return made = node;
  }

  const Expr* AsType(const Expr* value, DataType dtype) {
    const AstypeAttrs::Values values{.dtype = dtype};
    return builder().MakeCall(GetOp(op::kAstype), {value}, MakeOpAttrs(op::kAstype, values));
  }

  // The value in the lower dtype, or in float32.
  const Expr* Cast(const Expr* value, bool to_lower) {
    value = builder().NormalizeArgument(value);
    const std::pair key(value, to_lower);
    if (const auto found = converted_.find(key); found != converted_.end()) return found->second;
    const Expr* cast = builder().Emit(AsType(value, to_lower ? lower_ : kWide));
    converted_[key] = cast;
    // What comes from the lower dtype goes back there without loss.
    if (!to_lower) converted_[{cast, true}] = value;
    return cast;
  }

  const LookupSet<const Call*>& calls_;
  const DataType lower_;
  const KeptVars& kept_;
  std::map<std::pair<const Expr*, bool>, const Expr*> converted_;  // by value and direction, in this block
  std::map<const NDArray*, const Expr*> constants_;
};

}  // namespace

bool IsWholeMove(const Call& call) {
  static constexpr std::string_view kNames[] = {"onnx.DepthToSpace", "onnx.Gather", "onnx.GatherElements",
                                                "onnx.GatherND", "onnx.SpaceToDepth"};
  const auto* name = IsOp(call.op, op::kCallPurePacked) && !call.args.empty() ? As<ExternFunc>(call.args[0]) : nullptr;
  return name && call.type_args && std::ranges::find(kNames, name->global_symbol) != std::end(kNames);
}

bool CanLower(const Call& call, DataType dtype, const Module& module) {
  Workspace workspace(module);
  OpTypeInferrer inferrer(&module, workspace.arena(), nullptr);
  std::vector<const Expr*> args;
  for (const Expr* arg : call.args) {
    const Type* type = arg->type;
    if (!type) {
      args.push_back(arg);  // a function
      continue;
    }
    const Type* lowered =
        MapLeaves(type, Everywhere(), workspace.arena(), [&](const Type* leaf, Everywhere) -> const Type* {
          const auto* tensor = As<TensorType>(leaf);
          return tensor && tensor->dtype == kWide ? tensor->With(workspace.arena(), dtype, tensor->vdevice) : leaf;
        });
    args.push_back(lowered == type ? arg : workspace.NewVar("x", lowered));
  }
  const auto* lowered = workspace.New<Call>(call.op, workspace.Copy(args), WithOutDtype(call, dtype),
                                            WithOutTypes(call, dtype, workspace.arena()), nullptr);
  const Type* type = inferrer.Infer(lowered);
  return type && AllLeaves(type, [&](const Type* leaf) {
           const auto* tensor = As<TensorType>(leaf);
           return !tensor || tensor->dtype != kWide;
         });
}

Result<Module> LowerOperators(const Module& module, const GlobalVar& name, const LookupSet<const Call*>& calls,
                              DataType dtype, DiagnosticEngine& diagnostics) {
  const ModuleEntry& entry = *module.Find(&name);
  const auto& function = *To<Function>(entry.func);
  Workspace workspace(module, entry.storage);
  OpTypeInferrer inferrer(&module, workspace.arena(), &diagnostics);
  const KeptVars kept(function);
  OperatorLowering lowering(calls, dtype, kept, workspace, inferrer);
  const auto* lowered = To<Function>(lowering.VisitExpr(&function));
  if (lowering.failed()) return Failure{ErrorCode::PassFailed};
  lowered = RemoveDeadBindings(lowered, &module, workspace);
  Module result = module;
  result.Set(&name, lowered, workspace.Finish());
  if (dtype == DataType::BFloat(16) && !calls.empty()) RequireOpset(result, kOpsetOfBfloat, false);
  return result;
}

}  // namespace iropt
