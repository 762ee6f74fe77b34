// AlterOpImpl: replaces PrimFuncs by other implementations of the same operator, which may want other layouts.
//
//   op_impl_map={"relax.relu": "relu_2d"}, op_buffer_transforms={"relax.relu": ["lambda i: (i // 4, i % 4)", ...]}
//
//   y = R.call_tir(cls.relu, (x,), ...)      a = R.layout_transform(x, lambda i: (i // 4, i % 4))
//                                      -->   b = R.call_tir(cls.relax_relu_replacement, (a,), ...)
//                                            y = R.layout_transform(b, lambda axis0, axis1: (axis0 * 4 + axis1,))
//
// A PrimFunc states its operator in the attribute operator_name. The replacements are PrimFuncs of the file, or of the
// module. A transformation for each parameter, results last, maps the positions in the program to those in the
// replacement. Padding that a transformation adds is removed from results by a PrimFunc "remove_pad". Scalar constants
// keep their layout. It is an error if the layout of a result has no inverse. O(nodes), plus the maps at each call.
//
// Source: TVM 0.18's pass of this name.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "iropt/analysis/tir/complete_prim_func.h"
#include "iropt/arith/analyzer.h"
#include "iropt/arith/index_map.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/clone.h"
#include "iropt/ir/location.h"
#include "iropt/ir/module_builder.h"
#include "iropt/ir/ndarray.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/ir/tir/builder.h"
#include "iropt/op/op_attrs.h"
#include "iropt/op/ops/call_tir.h"
#include "iropt/op/ops/reorder.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/transform/options/AlterOpImpl.h"
#include "op_impls.h"
#include "transform/relax/lowering/relax_functions.h"
#include "transform/relax/util/named_prim_funcs.h"

namespace iropt {

namespace {

// def remove_pad(input[p0, ...], output[i0, ...]): output[...] = input[...]
const PrimFunc* MakeRemovePad(size_t rank, DataType dtype, Workspace& workspace) {
  tir::FuncBuilder b(workspace);
  std::vector<const PrimExpr*> from, to, indices;
  std::vector<std::string> names;
  for (size_t i = 0; i < rank; ++i) {
    from.push_back(workspace.NewPrimVar(fmt::format("p{}", i), DataType::Int(64)));
    to.push_back(workspace.NewPrimVar(fmt::format("i{}", i), DataType::Int(64)));
    names.push_back(fmt::format("ax{}", i));
  }
  const tir::Buffer* input = tir::MakeBuffer(workspace, {.shape = from, .dtype = dtype}, "input");
  const tir::Buffer* output = tir::MakeBuffer(workspace, {.shape = to, .dtype = dtype}, "output");
  b.AddParam(workspace.NewPrimVar("var_input", DataType::Handle()), input);
  b.AddParam(workspace.NewPrimVar("var_output", DataType::Handle()), output);
  const std::vector<std::string_view> views(names.begin(), names.end());
  {
    const tir::LoopFrame loops = b.Grid(views, to);
    const tir::Frame block = b.Block("output");
    for (size_t i = 0; i < rank; ++i) {
      indices.push_back(b.Axis(tir::IterVarType::kDataPar, fmt::format("v_ax{}", i), to[i], loops.vars[i]));
    }
    b.Store(output, indices, b.Load(input, indices));
  }
  b.SetAttr(attr::kOperatorName, StrAttr::Get("remove_pad"));
  b.SetAttr(attr::kNoAlias, IntAttr::Bool(true));
  return CompletePrimFunc(b);
}

bool IsScalarConstant(const Expr* e) {
  const auto* constant = As<Constant>(e);
  return constant && constant->data->shape().empty();
}

// The functions that the pass adds, each once.
class AddedFunctions {
 public:
  AddedFunctions(const OpImpls& impls, const NamedPrimFuncs& sources, const Module& old, ModuleBuilder& builder)
      : impls_(impls), sources_(sources), old_(old), builder_(builder) {}

  // The implementation of an operator, or null.
  const OpImpl* Find(std::string_view kind) const {
    const auto found = impls_.find(kind);
    return found == impls_.end() ? nullptr : &found->second;
  }

  const ModuleEntry* Source(const OpImpl& impl) const { return sources_.Find(impl.function, old_); }

  const GlobalVar* Replacement(std::string_view kind, const PrimFunc& source) {
    const GlobalVar*& name = replacements_[std::string(kind)];
    if (name) return name;
    Workspace workspace(builder_.module());
    auto* func = workspace.New<PrimFunc>(*To<PrimFunc>(CloneFunction(&source, workspace)));
    func->attrs = func->attrs->With(attr::kOperatorName, StrAttr::Get(kind))->Without(attr::kGlobalSymbol);
    std::string hint = fmt::format("{}_replacement", kind);
    std::ranges::replace_if(
        hint, [](unsigned char c) { return !std::isalnum(c) && c != '_'; }, '_');
    return name = builder_.AddFunction(func, workspace.Finish(), hint);
  }

  const GlobalVar* RemovePad(size_t rank, DataType dtype) {
    const GlobalVar*& name = remove_pads_[{rank, dtype.ToString()}];
    if (name) return name;
    Workspace workspace(builder_.module());
    const PrimFunc* func = MakeRemovePad(rank, dtype, workspace);
    return name = builder_.AddFunction(func, workspace.Finish(), "remove_pad");
  }

 private:
  const OpImpls& impls_;
  const NamedPrimFuncs& sources_;
  const Module& old_;
  ModuleBuilder& builder_;
  std::map<std::string, const GlobalVar*, std::less<>> replacements_;
  std::map<std::pair<size_t, std::string>, const GlobalVar*> remove_pads_;
};

class ImplMutator : public ExprMutator {
 public:
  ImplMutator(const Module& module, AddedFunctions& added, Workspace& workspace, TypeInferrer& inferrer,
              DiagnosticEngine& diagnostics)
      : ExprMutator(workspace, &inferrer), module_(module), added_(added), diagnostics_(diagnostics) {}

  bool has_errors() const { return has_errors_ || failed(); }

 protected:
  const Expr* VisitCall(const Call* old) override {
    const auto* call = To<Call>(ExprMutator::VisitCall(old));
    const auto* callee = IsOp(call->op, op::kCallTir) ? As<GlobalVar>(call->args[0]) : nullptr;
    const ModuleEntry* entry = callee ? module_.Find(callee) : nullptr;
    const auto* func = entry ? As<PrimFunc>(entry->func) : nullptr;
    if (!func || !call->type_args || !Is<Tuple>(call->args[1]) || has_errors()) return call;
    const std::string_view kind = func->StringAttr(attr::kOperatorName);
    const OpImpl* impl = added_.Find(kind);
    const Expr* result = impl ? Replace(*call, *func, kind, *impl) : call;
    return result ? result : call;
  }

 private:
  const Expr* Fail(const Call& call, std::string message) {
    has_errors_ = true;
    diagnostics_.Error(Location(call), "pass-failed", std::move(message));
    return nullptr;
  }

  const Expr* Replace(const Call& call, const PrimFunc& func, std::string_view kind, const OpImpl& impl) {
    const ModuleEntry* source = added_.Source(impl);
    if (!source) return Fail(call, fmt::format("neither the file nor the module has a PrimFunc '{}'", impl.function));
    const auto& replacement = *To<PrimFunc>(source->func);
    const size_t params = replacement.params.size();
    if (params != func.params.size())
      return Fail(call, fmt::format("the replacement '{}' does not have {} parameters as the function does",
                                    impl.function, func.params.size()));
    for (const size_t count :
         {impl.transforms.size(), impl.axis_separators.size(), impl.input_axis_separators.size()}) {
      if (count != 0 && count != params)
        return Fail(call, fmt::format("a list for '{}' has {} of the layouts or axes of {} parameters", impl.function,
                                      count, params));
    }
    const GlobalVar* name = added_.Replacement(kind, replacement);
    // It may be there since an earlier run.
    return name == call.args[0] ? &call : MakeCall(call, replacement, name, impl);
  }

  const Expr* MakeCall(const Call& call, const PrimFunc& replacement, const GlobalVar* callee, const OpImpl& impl) {
    std::vector<const Expr*> fields;
    std::vector<const Type*> all_types;
    for (const Expr* field : To<Tuple>(call.args[1])->fields) {
      const size_t i = fields.size();
      const IndexMapAttr* map = impl.transforms.empty() ? nullptr : impl.transforms[i];
      const bool is_changed = map && !IsScalarConstant(field);
      fields.push_back(is_changed ? Transform(field, map, impl, i) : field);
      all_types.push_back(is_changed ? MappedType(call, field->type, impl, i) : field->type);
      if (!all_types.back()) return nullptr;
    }
    const size_t first = fields.size();
    const Type* old_type = call.type_args->fields[0];
    const auto* tuple = As<TupleType>(old_type);
    std::vector<const Type*> types;
    for (size_t i = 0; i < (tuple ? tuple->fields.size() : 1); ++i) {
      types.push_back(MappedType(call, tuple ? tuple->fields[i] : old_type, impl, first + i));
      if (!types.back()) return nullptr;
    }
    all_types.insert(all_types.end(), types.begin(), types.end());
    const bool all_known = std::ranges::all_of(all_types, [](const Type* type) {
      const auto* tensor = As<TensorType>(type);
      return tensor && tensor->known;
    });
    if (all_known && !AcceptsTensors(replacement, all_types))
      return Fail(call,
                  fmt::format("the replacement '{}' does not take these tensors in their new layouts", impl.function));
    Arena& arena = workspace().arena();
    const Type* const out[] = {tuple ? TupleType::Get(arena, types) : types[0]};
    std::vector<const Expr*> args(call.args.begin(), call.args.end());
    args[0] = callee;
    args[1] = workspace().New<Tuple>(workspace().Copy(fields), nullptr);
    const Expr* result = NewLike<Call>(workspace(), call, call.op, workspace().Copy(args), call.attrs,
                                       TupleType::Get(arena, out), nullptr);
    if (impl.transforms.empty()) return result;
    if (!tuple) return Restore(call, result, types[0], old_type, impl, first);
    const Var* all = builder().Emit(result);
    std::vector<const Expr*> results;
    for (uint32_t i = 0; i < tuple->fields.size(); ++i) {
      const Expr* item = workspace().New<TupleGetItem>(all, static_cast<int>(i), nullptr);
      const Expr* restored = Restore(call, builder().Emit(item), types[i], tuple->fields[i], impl, first + i);
      if (!restored) return nullptr;
      results.push_back(Is<Var>(restored) ? restored : builder().Emit(restored));
    }
    return workspace().New<Tuple>(workspace().Copy(results), nullptr);
  }

  const Call* Transform(const Expr* value, const IndexMapAttr* map, const OpImpl& impl, size_t param) {
    const auto separators = [param](const std::vector<std::vector<int64_t>>& all) {
      return all.empty() ? std::span<const int64_t>() : std::span<const int64_t>(all[param]);
    };
    const Attr* attrs =
        MakeOpAttrs(op::kLayoutTransform,
                    LayoutTransformAttrs::Values{.index_map = map,
                                                 .axis_separators = separators(impl.axis_separators),
                                                 .input_axis_separators = separators(impl.input_axis_separators)});
    const List<const Expr*> args = workspace().arena().Copy<const Expr*>({value});
    return workspace().New<Call>(GetOp(op::kLayoutTransform), args, attrs, nullptr, nullptr);
  }

  // The type of an argument or a result of the replacement; null after an error.
  const Type* MappedType(const Call& call, const Type* type, const OpImpl& impl, size_t param) {
    const IndexMapAttr* map = impl.transforms.empty() ? nullptr : impl.transforms[param];
    if (!map) return type;
    const auto* tensor = As<TensorType>(type);
    if (!tensor || !tensor->known || tensor->dims.size() != map->params.size()) {
      Fail(call, fmt::format("the layout of parameter {} does not fit the tensor", param));
      return nullptr;
    }
    const Type* mapped = builder().inferrer()->Infer(Transform(workspace().NewVar("result", type), map, impl, param));
    if (!mapped) has_errors_ = true;
    return mapped;
  }

  // A result of the mapped type in the layout of the program; null after an error.
  const Expr* Restore(const Call& call, const Expr* value, const Type* mapped, const Type* type, const OpImpl& impl,
                      size_t param) {
    const IndexMapAttr* map = impl.transforms[param];
    if (!map) return value;
    const auto& tensor = *To<TensorType>(type);
    const IndexMapAttr* inverse = arith::InvertIndexMap(*map, tensor.dims);
    if (!inverse) return Fail(call, fmt::format("the layout of parameter {} has no inverse", param));
    const Call* restored = Transform(value, inverse, impl, param);
    if (!HasPadding(*inverse, mapped, tensor)) return restored;
    const Var* padded = builder().Emit(restored);
    const List<const Expr*> fields = workspace().arena().Copy<const Expr*>({padded});
    const Expr* tuple = workspace().New<Tuple>(fields, nullptr);
    const Expr* callee = added_.RemovePad(tensor.dims.size(), tensor.dtype);
    const List<const Expr*> args = workspace().arena().Copy<const Expr*>({callee, tuple});
    const Type* const out[] = {type};
    return NewLike<Call>(workspace(), call, call.op, args, nullptr, TupleType::Get(workspace().arena(), out), nullptr);
  }

  // Returns whether a tensor of the mapped type may be larger than it was once the inverse is applied.
  bool HasPadding(const IndexMapAttr& inverse, const Type* mapped, const TensorType& tensor) {
    const Call* restored = Transform(workspace().NewVar("result", mapped), &inverse, {}, 0);
    const auto* type = As<TensorType>(builder().inferrer()->Infer(restored));
    return !type || !std::ranges::equal(type->dims, tensor.dims,
                                        [](const PrimExpr* a, const PrimExpr* b) { return arith::ProveEqual(a, b); });
  }

  const Module& module_;
  AddedFunctions& added_;
  DiagnosticEngine& diagnostics_;
  bool has_errors_ = false;
};

}  // namespace

Pass CreateAlterOpImpl(const PassOptions& options) {
  const auto impls = std::make_shared<const OpImpls>(ReadOpImpls(options));
  const auto sources = std::make_shared<const NamedPrimFuncs>(options, pass_options::AlterOpImpl(options).file);
  const auto run = [impls, sources](const Module& module, ModulePassContext& context) -> Result<Module> {
    if (impls->empty()) return module;
    ModuleBuilder builder(module);
    AddedFunctions added(*impls, *sources, module, builder);
    const auto alter = [&](const ModuleEntry& entry, Workspace& workspace,
                           OpTypeInferrer& inferrer) -> const Function* {
      ImplMutator mutator(module, added, workspace, inferrer, context.diagnostics);
      const auto* function = To<Function>(mutator.VisitExpr(entry.func));
      return mutator.has_errors() ? nullptr : function;
    };
    IROPT_RETURN_IF_ERROR(UpdateRelaxFunctions(builder, context.diagnostics, alter));
    return builder.Finish();
  };
  return CreateModulePass(options.info(), run);
}

}  // namespace iropt
