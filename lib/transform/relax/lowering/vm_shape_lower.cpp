// VMShapeLower: makes the checks of types, and the computation of shapes, explicit.
//
//   def main(x: R.Tensor(["n", 8])):               def main(x: R.Tensor(["n", 8])):
//     s = R.vm.alloc_storage(R.shape([n * 32]))      heap = R.call_builtin_with_ctx("vm.builtin.alloc_shape_heap",
//     (2,))
//                                                    R.call_packed("vm.builtin.check_tensor_info", x, 2, ...)
//                                             -->    R.call_packed("vm.builtin.match_shape", x, heap, 2, 1, 0, 0, 8,
//                                             "")
//                                                    cls.shape_func(heap)    # H[1] = H[0] * 32
//                                                    gv = R.call_packed("vm.builtin.make_shape", heap, 1, 1, 1)
//                                                    s = R.vm.alloc_storage(gv)
//
// Each scalar expression of a function has a slot in its shape heap. Parameters, match_casts and results that need it
// are checked; with the attribute num_input, weights are checked only if their shapes are not constant. The first
// occurrence of a variable defines it, and all expressions that can then be computed are, by one PrimFunc. Types keep
// their expressions: run this pass last. emit_err_ctx=False leaves out the texts for messages.
//
// Local functions are an error, run LambdaLift before. The calls count as impure, run ToNonDataflow and
// RemovePurityChecking before.
//
// O(nodes). Source: TVM 0.18's pass of this name.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "impure_calls.h"
#include "iropt/infer/print/type_printer.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/op/ops/call.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/transform/options/VMShapeLower.h"
#include "relax_functions.h"
#include "shape_heap.h"

namespace iropt {

namespace {

// Options of the check of a value.
struct CheckMode {
  bool always = false;        // also what is known to hold: arguments come from outside
  bool dynamic_only = false;  // only tensors whose shapes are not constant
  const Expr* context = nullptr;
};

class ShapeLowerer : public ExprMutator {
 public:
  ShapeLowerer(const ModuleEntry& entry, Workspace& workspace, TypeInferrer& inferrer, ModuleBuilder& module,
               DiagnosticEngine& diagnostics, bool emit_err_ctx)
      : ExprMutator(workspace, &inferrer),
        name_(entry.var->name),
        function_(*To<Function>(entry.func)),
        module_(module),
        diagnostics_(diagnostics),
        emit_err_ctx_(emit_err_ctx),
        calls_(workspace),
        heap_(function_, builder(), module, diagnostics) {}

  bool has_errors() const { return has_errors_ || heap_.failed() || failed(); }

  const Function* Run() {
    builder().BeginBindingBlock();
    heap_.Allocate();
    MatchParams();
    const Expr* body = VisitExpr(function_.body);
    if (!Is<SeqExpr>(body)) body = builder().NormalizeArgument(body);
    std::vector<const BindingBlock*> blocks{builder().EndBlock()};
    if (const auto* seq = As<SeqExpr>(body)) {
      blocks.insert(blocks.end(), seq->blocks.begin(), seq->blocks.end());
      body = seq->body;
    }
    builder().BeginBindingBlock();
    CheckResult(body);
    blocks.push_back(builder().EndBlock());
    const Expr* lowered = builder().Seq(blocks, body, function_.body->span());
    return NewLike<Function>(workspace(), function_, function_.params, lowered, function_.ret_type, function_.is_pure,
                             function_.attrs, function_.type);
  }

 protected:
  const Expr* VisitShapeExpr(const ShapeExpr* shape) override { return heap_.MakeShape(*shape); }
  const Expr* VisitPrimValue(const PrimValue* scalar) override { return heap_.MakeScalar(*scalar); }

  const Expr* VisitFunction(const Function* local) override {
    Fail(*local, "VMShapeLower does not lower local functions: run LambdaLift before");
    return local;
  }

  void VisitMatchCast(const MatchCast* binding) override {
    const Expr* value = VisitExpr(binding->value);
    if (value != binding->value) value = builder().NormalizeArgument(value);
    const auto context = [&] { return fmt::format("match_cast, struct_info={}", Print(binding->match_type)); };
    std::vector<ShapeMatch> matches;
    Check(binding->match_type, value, {.context = ErrorContext(context)}, matches);
    heap_.Match(matches);
    ReEmitMatchCast(binding, value, binding->match_type);
  }

 private:
  void MatchParams() {
    size_t num_input = function_.params.size();
    if (const auto* given = As<IntAttr>(function_.attrs->Find(attr::kNumInput)))
      num_input = static_cast<size_t>(given->value);
    std::vector<ShapeMatch> matches;
    for (uint32_t i = 0; i < function_.params.size(); ++i) {
      const Var* param = function_.params[i];
      const auto context = [&] {
        return fmt::format("fn={}, loc=param[{}], param={}, annotation={}", name_, i, param->name(),
                           Print(param->type));
      };
      Check(param->type, param, {.always = true, .dynamic_only = i >= num_input, .context = ErrorContext(context)},
            matches);
    }
    heap_.Match(matches);
  }

  void CheckResult(const Expr* result) {
    const auto context = [&] {
      return fmt::format("fn={}, loc=return, annotation={}", name_, Print(function_.ret_type));
    };
    std::vector<ShapeMatch> matches;
    Check(function_.ret_type, result, {.context = ErrorContext(context)}, matches);
    heap_.Check(matches);
  }

  // The text that the runtime adds to the message if a check fails.
  template <class F>
  const Expr* ErrorContext(F&& context) {
    return calls_.Text(emit_err_ctx_ ? fmt::format("ErrorContext({}) ", context()) : "");
  }

  // As in the text of the module.
  std::string Print(const Type* type) {
    std::string text;
    {
      OutputStream out(&text);
      PrintNames names({});
      PrintTarget target{&module_.module(), out, names};
      TypePrinter(target).Print(type);
    }
    return text;
  }

  // ---- Checks of types

  // Emits checks of kinds, ranks and dtypes; what remains of the type is added to the matches.
  void Check(const Type* type, const Expr* value, const CheckMode& mode, std::vector<ShapeMatch>& matches) {
    if (!mode.always && IsBaseOf(type, value->type)) return;
    const auto holds = [&](const Type* part) { return !mode.always && IsBaseOf(part, value->type); };
    switch (type->kind) {
      case NodeKind::kObjectType: return;
      case NodeKind::kPrimType: {
        const auto& prim = *To<PrimType>(type);
        if (!holds(PrimType::Get(prim.dtype)))
          Emit("vm.builtin.check_prim_value_info", {value, calls_.DType(prim.dtype), mode.context});
        if (prim.value) matches.push_back({value, {&prim.value, 1}, mode.context, true});
        return;
      }
      case NodeKind::kShapeType: {
        const auto& shape = *To<ShapeType>(type);
        if (!holds(ShapeType::Get(shape.ndim)))
          Emit("vm.builtin.check_shape_info", {value, calls_.Int(shape.ndim), mode.context});
        if (shape.known) matches.push_back({value, shape.values.span(), mode.context});
        return;
      }
      case NodeKind::kTensorType: return CheckTensor(*To<TensorType>(type), value, mode, matches);
      case NodeKind::kTupleType: return CheckTuple(*To<TupleType>(type), value, mode, matches);
      case NodeKind::kFuncType:
        if (mode.always || !Is<FuncType>(value->type)) Emit("vm.builtin.check_func_info", {value, mode.context});
        return;
      default: return Fail(*value, fmt::format("cannot check the type {}", TypeToString(type)));
    }
  }

  void CheckTensor(const TensorType& type, const Expr* value, const CheckMode& mode, std::vector<ShapeMatch>& matches) {
    const auto is_constant = [](const PrimExpr* dim) { return Is<tir::IntImm>(dim); };
    if (mode.dynamic_only && type.known && std::ranges::all_of(type.dims, is_constant)) return;
    if (mode.always || !IsBaseOf(TensorType::Get(type.ndim, type.dtype), value->type)) {
      // Since TVM 0.26 there is no dtype for a dtype that is not known.
      const bool is_null = type.dtype.is_void() && workspace().version() >= TextVersion::kV0_26;
      const Expr* dtype = is_null ? calls_.Operator(op::kNullValue, {}) : calls_.DType(type.dtype);
      Emit("vm.builtin.check_tensor_info", {value, calls_.Int(type.ndim), dtype, mode.context});
    }
    if (type.shape_var) return Fail(*value, "cannot check a tensor whose shape is a variable");
    if (type.known) matches.push_back({value, type.dims.span(), mode.context});
  }

  void CheckTuple(const TupleType& type, const Expr* value, const CheckMode& mode, std::vector<ShapeMatch>& matches) {
    const auto* known = As<TupleType>(value->type);
    const uint32_t size = type.fields.size();
    if (known && known->fields.size() != size)
      return Fail(*value, fmt::format("a tuple of {} fields is cast to one of {}", known->fields.size(), size));
    if (mode.always || !known) Emit("vm.builtin.check_tuple_info", {value, calls_.Int(size), mode.context});
    for (uint32_t i = 0; i < size; ++i) {
      WithStack([&] { Check(type.fields[i], FieldOf(value, i), mode, matches); });
    }
  }

  // A field of a tuple, which is bound where it is used first.
  const Expr* FieldOf(const Expr* value, uint32_t index) {
    if (const auto* tuple = As<Tuple>(value)) return tuple->fields[index];
    const auto* type = As<TupleType>(value->type);
    // A variable for it would have no value, and is read as the empty tuple.
    if (type && TypeEqual(type->fields[index], TupleType::Get({})))
      return workspace().New<Tuple>(List<const Expr*>(), TupleType::Get({}));
    if (type) return workspace().New<TupleGetItem>(value, static_cast<int32_t>(index), type->fields[index]);
    return calls_.Packed("vm.builtin.tuple_getitem", {value, calls_.Int(index)}, ObjectType::Get());
  }

  void Emit(std::string_view name, std::initializer_list<const Expr*> args) {
    builder().Emit(calls_.Packed(name, args, BuiltinCalls::Void()), "_");
  }

  void Fail(const Node& at, std::string message) {
    if (!has_errors()) diagnostics_.Error(Location(at), "pass-failed", std::move(message));
    has_errors_ = true;
  }

  const std::string_view name_;
  const Function& function_;
  ModuleBuilder& module_;
  DiagnosticEngine& diagnostics_;
  const bool emit_err_ctx_;
  bool has_errors_ = false;
  BuiltinCalls calls_;
  ShapeHeap heap_;
};

}  // namespace

Pass CreateVMShapeLower(const PassOptions& options) {
  const auto run = [emit = *pass_options::VMShapeLower(options).emit_err_ctx, name = options.info().name](
                       Module module, ModulePassContext& context) -> Result<Module> {
    ModuleBuilder builder(std::move(module));
    const auto lower = [&](const ModuleEntry& entry, Workspace& workspace,
                           OpTypeInferrer& inferrer) -> const Function* {
      ShapeLowerer lowerer(entry, workspace, inferrer, builder, context.diagnostics, emit);
      const Function* function = lowerer.has_errors() ? nullptr : lowerer.Run();
      if (lowerer.has_errors()) return nullptr;
      const Status allowed = CheckImpureCallsAllowed(*function, builder.module(), name, context.diagnostics);
      return allowed.ok() ? function : nullptr;
    };
    IROPT_RETURN_IF_ERROR(UpdateRelaxFunctions(builder, context.diagnostics, lower));
    return builder.Finish();
  };
  return CreateModulePass(options.info(), run);
}

}  // namespace iropt
