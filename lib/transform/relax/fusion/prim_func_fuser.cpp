#include "prim_func_fuser.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "iropt/analysis/tir/loop_jumps.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/infer/prim_func_type.h"
#include "iropt/infer/print/print_names.h"
#include "iropt/ir/clone.h"
#include "iropt/ir/context.h"
#include "iropt/ir/tir/builder.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/substitute.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/call_tir.h"
#include "iropt/support/lookup.h"
#include "iropt/support/stack.h"

namespace iropt {

namespace {

using Buffers = std::vector<const tir::Buffer*>;

// Gives each block of the function a name of its own, and lists each buffer once among its reads and writes.
class BlockFinisher : public tir::StmtExprMutator {
 public:
  // `version` is that of TVM whose names of blocks are wanted.
  BlockFinisher(Workspace& workspace, TextVersion version) : StmtExprMutator(workspace), version_(version) {}

 protected:
  const tir::Stmt* VisitBlock(const tir::Block* old) override {
    const auto* block = To<tir::Block>(StmtExprMutator::VisitBlock(old));
    const std::string name = UniqueName(std::string(block->name_hint));
    const auto reads = EachOnce(block->reads);
    const auto writes = EachOnce(block->writes);
    if (name == block->name_hint && reads.size() == block->reads.size() && writes.size() == block->writes.size())
      return block;
    auto* copy = workspace().New<tir::Block>(*block);
    copy->name_hint = workspace().arena().CopyString(name);
    copy->reads = workspace().Copy(reads);
    copy->writes = workspace().Copy(writes);
    return copy;
  }

 private:
  static std::vector<const tir::BufferRegion*> EachOnce(List<const tir::BufferRegion*> regions) {
    std::vector<const tir::BufferRegion*> result;
    LookupSet<const tir::Buffer*> seen;
    for (const tir::BufferRegion* region : regions) {
      if (seen.insert(region->buffer)) result.push_back(region);
    }
    return result;
  }

  // TVM 0.23 and newer count on from the number at the end of a name, older ones append another one.
  std::string UniqueName(const std::string& prefix) {
    std::string name = prefix;
    if (version_ >= TextVersion::kV0_23) {
      const size_t end = prefix.find_last_not_of("0123456789") + 1;
      uint64_t number = 0;
      const bool counts_on =
          std::from_chars(prefix.data() + end, prefix.data() + prefix.size(), number).ec == std::errc();
      const std::string base = counts_on ? prefix.substr(0, end) : prefix;
      while (counts_.contains(name)) name = fmt::format("{}{}", base, ++number);
    } else {
      while (counts_.contains(name)) name = fmt::format("{}_{}", prefix, ++counts_[prefix]);
    }
    counts_[name] = 0;
    return name;
  }

  const TextVersion version_;
  LookupMap<std::string, int> counts_;
};

class PrimFuncFuser {
 public:
  explicit PrimFuncFuser(const Module& module) : module_(module), workspace_(module) {}

  // Empty if it was made.
  std::string Run(const Function& function, FusedPrimFunc& result) {
    const auto* body = As<SeqExpr>(function.body);
    if (!body) return "its body has another form";
    for (const BindingBlock* block : body->blocks) {
      for (const Binding* binding : block->bindings) NoteOperands(*binding);
    }
    for (const Var* param : function.params) {
      if (!AddParam(*param))
        return fmt::format("parameter '{}' is not a tensor of known shape or a shape", param->name());
    }
    for (const BindingBlock* block : body->blocks) {
      for (const Binding* binding : block->bindings) {
        if (AddBinding(*binding)) continue;
        if (!inconsistent_.empty()) return inconsistent_;
        return fmt::format("'{}' is not the result of a PrimFunc", binding->var->name());
      }
    }
    Buffers outputs;
    if (!BuffersOf(body->body, outputs) || bodies_.empty()) return "it has results that no PrimFunc computes";
    if (!AddOutputs(outputs, result)) return "two of its results are in the memory of one parameter";
    for (const tir::Buffer* buffer : overwritten_) {
      if (std::ranges::find(outputs, buffer) == outputs.end())
        return fmt::format("it works in place on parameter '{}', which is not one of its results", buffer->name);
    }
    result.function = Finish(outputs);
    result.storage = workspace_.Finish();
    return {};
  }

 private:
  // The variable of the PrimFunc for a symbolic variable of the Relax function.
  const tir::Var* SizeOf(const tir::Var* var) {
    const tir::Var*& size = sizes_[var];
    if (!size) size = workspace_.NewPrimVar(var->name, var->dtype);
    return size;
  }

  std::vector<const PrimExpr*> Shape(List<const PrimExpr*> dims) {
    const auto size = [this](const tir::Var* var) -> const PrimExpr* { return SizeOf(var); };
    std::vector<const PrimExpr*> shape;
    for (const PrimExpr* dim : dims) {
      const PrimExpr* copy = tir::Substitute(dim, size, workspace_);
      shape.push_back(copy);
    }
    return shape;
  }

  // Notes the buffers of a PrimFunc for variables that it is called with.
  void NoteOperands(const Binding& binding) {
    const auto* bound = As<VarBinding>(&binding);
    const auto* call = bound ? As<Call>(bound->value) : nullptr;
    const PrimFunc* function = call ? CalledPrimFunc(*call) : nullptr;
    const auto* args = function ? As<Tuple>(call->args[1]) : nullptr;
    const size_t count = args ? std::min<size_t>(args->fields.size(), function->param_buffers.size()) : 0;
    for (size_t i = 0; i < count; ++i) {
      const auto* var = As<Var>(args->fields[i]);
      if (var) operands_.try_emplace(var, function->param_buffers[i]);
    }
  }

  // The PrimFunc that R.call_tir or R.call_tir_inplace calls; null for other calls.
  const PrimFunc* CalledPrimFunc(const Call& call) const {
    const auto* op = As<Op>(call.op);
    if (!op || !IsOneOf(*op, op::kCallTir, op::kCallTirInplace)) return nullptr;
    const auto* callee = As<GlobalVar>(call.args[0]);
    const ModuleEntry* entry = callee ? module_.Find(callee) : nullptr;
    return entry ? As<PrimFunc>(entry->func) : nullptr;
  }

  // The memory of a tensor is laid out as that of the PrimFuncs that it is given to.
  bool AddParam(const Var& param) {
    if (const auto* tensor = As<TensorType>(param.type)) {
      if (!tensor->known || tensor->dtype.is_void()) return false;
      tir::BufferSpec spec{.shape = Shape(tensor->dims), .dtype = tensor->dtype};
      const auto* operand = operands_.Find(&param);
      if (const tir::Buffer* like = operand ? *operand : nullptr) {
        spec.scope = like->scope();
        spec.axis_separators = {like->axis_separators.begin(), like->axis_separators.end()};
      }
      AddBufferParam(tir::MakeBuffer(workspace_, spec, param.name()), fmt::format("p_{}", param.name()));
      buffers_[&param] = {param_buffers_.back()};
      return true;
    }
    if (const auto* shape = As<ShapeType>(param.type)) {
      return shape->known && std::ranges::all_of(shape->values, [this](const PrimExpr* e) { return AddScalar(e); });
    }
    const auto* scalar = As<PrimType>(param.type);
    return scalar && scalar->value && AddScalar(scalar->value);
  }

  bool AddScalar(const PrimExpr* e) {
    const auto* var = As<tir::Var>(e);
    if (var) scalars_.push_back(SizeOf(var));
    return var != nullptr;
  }

  void AddBufferParam(const tir::Buffer* buffer, std::string_view name) {
    params_.push_back(workspace_.NewPrimVar(name, DataType::Handle()));
    param_buffers_.push_back(buffer);
  }

  // The buffers of an operand or a result; tuples are those of their fields.
  bool BuffersOf(const Expr* e, Buffers& buffers) const {
    if (const auto* tuple = As<Tuple>(e))
      return WithStack([&] {
        return std::ranges::all_of(tuple->fields, [&](const Expr* field) { return BuffersOf(field, buffers); });
      });
    const auto* var = As<Var>(e);
    const auto found = var ? buffers_.find(var) : buffers_.end();
    if (found == buffers_.end()) return false;
    buffers.insert(buffers.end(), found->second.begin(), found->second.end());
    return true;
  }

  static size_t NumTensors(const Type* type) {
    const auto* tuple = As<TupleType>(type);
    if (!tuple) return 1;
    size_t count = 0;
    for (const Type* field : tuple->fields) count += WithStack([&] { return NumTensors(field); });
    return count;
  }

  bool AddBinding(const Binding& binding) {
    const auto* bound = As<VarBinding>(&binding);
    if (!bound) return false;
    if (const auto* call = As<Call>(bound->value)) return AddCall(*call, buffers_[bound->var]);
    Buffers all;
    if (const auto* item = As<TupleGetItem>(bound->value)) {
      if (!BuffersOf(item->tuple, all)) return false;
      const auto& type = *To<TupleType>(item->tuple->type);
      size_t begin = 0;
      for (int32_t i = 0; i < item->index; ++i) begin += NumTensors(type.fields[static_cast<size_t>(i)]);
      const auto first = all.begin() + static_cast<ptrdiff_t>(begin);
      buffers_[bound->var] = {first, first + static_cast<ptrdiff_t>(NumTensors(item->type))};
      return true;
    }
    return BuffersOf(bound->value, buffers_[bound->var]);
  }

  bool AddCall(const Call& call, Buffers& results) {
    const PrimFunc* function = CalledPrimFunc(call);
    const auto* args = function ? As<Tuple>(call.args[1]) : nullptr;
    if (!args || args->fields.size() > function->params.size()) return false;
    if (HasReturns(function->body)) {
      inconsistent_ = "a PrimFunc in it returns before its end, so that nothing can follow it";
      return false;
    }
    Cloner cloner(workspace_);
    values_.clear();
    Buffers inputs;
    if (!BuffersOf(args, inputs) || inputs.size() != args->fields.size()) return false;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!MapBuffer(function->param_buffers[i], inputs[i], cloner)) return false;
    }
    const size_t num_local = allocated_.size();
    if (!AddResults(call, *To<Op>(call.op), *function, inputs, cloner, results)) return false;
    if (call.args.size() > 2 && !MatchScalars(*function, As<ShapeExpr>(call.args[2]))) return false;
    for (const auto& [var, value] : values_) cloner.Map(var, value);
    const auto* root = As<tir::BlockRealize>(function->body);
    if (!root) {
      // A function without blocks allocates buffers by statements.
      bodies_.push_back(cloner.Clone(function->body));
      return true;
    }
    const auto* body = cloner.Clone(root)->block;
    // The buffers of the function come before its results.
    allocated_.insert(allocated_.begin() + static_cast<ptrdiff_t>(num_local), body->alloc_buffers.begin(),
                      body->alloc_buffers.end());
    bodies_.push_back(body->body);
    return true;
  }

  bool MapBuffer(const tir::Buffer* from, const tir::Buffer* to, Cloner& cloner) {
    if (!from || from->shape.size() != to->shape.size()) return false;
    if (from->scope() != to->scope() || !std::ranges::equal(from->axis_separators, to->axis_separators)) {
      inconsistent_ =
          fmt::format("inconsistent buffers '{}' and '{}' are mapped to the same tensor", to->name, from->name);
      return false;
    }
    for (uint32_t i = 0; i < from->shape.size(); ++i) MatchValue(from->shape[i], to->shape[i]);
    cloner.Map(from, to);
    cloner.Map(from->data, static_cast<const PrimExpr*>(to->data));
    return true;
  }

  // Finds the values of the variables of a PrimFunc from a size and its value.
  void MatchValue(const PrimExpr* size, const PrimExpr* value) {
    if (const auto* var = As<tir::Var>(size)) {
      values_.emplace(var, value);
    } else if (const auto* binary = As<tir::BinaryExpr>(size); binary && value->kind == size->kind) {
      const auto* parts = static_cast<const tir::BinaryExpr*>(value);
      WithStack([&] {
        MatchValue(binary->a, parts->a);
        MatchValue(binary->b, parts->b);
      });
    }
  }

  bool MatchScalars(const PrimFunc& function, const ShapeExpr* values) {
    if (!values || values->values.size() > function.params.size()) return false;
    const size_t first = function.params.size() - values->values.size();
    const std::vector<const PrimExpr*> scalars = Shape(values->values);
    for (size_t i = 0; i < scalars.size(); ++i) MatchValue(function.params[first + i], scalars[i]);
    return true;
  }

  // The buffers of the results, new ones or those of operands.
  bool AddResults(const Call& call, const Op& op, const PrimFunc& function, const Buffers& inputs, Cloner& cloner,
                  Buffers& results) {
    std::vector<const Type*> types = {call.type_args ? call.type_args->fields[0] : call.type};
    if (const auto* tuple = As<TupleType>(types[0])) types.assign(tuple->fields.begin(), tuple->fields.end());
    std::vector<int64_t> inplace(types.size(), -1);
    if (op.id == op::kCallTirInplace) {
      const auto* indices = As<ListAttr>(To<ObjectAttr>(call.attrs)->Find("inplace_indices"));
      for (size_t i = 0; indices && i < indices->values.size() && i < inplace.size(); ++i)
        inplace[i] = To<IntAttr>(indices->values[i])->value;
    }
    // Buffers of one name are told apart as in the text, so that a function that was read from it gives the same names.
    PrintNames names({});
    for (const tir::Buffer* buffer : function.param_buffers) {
      if (buffer != nullptr) names.Define(buffer, buffer->name);
    }
    size_t next = inputs.size();
    for (size_t i = 0; i < types.size(); ++i) {
      if (inplace[i] >= 0) {
        if (static_cast<size_t>(inplace[i]) >= inputs.size()) return false;
        results.push_back(inputs[static_cast<size_t>(inplace[i])]);
        if (std::ranges::find(param_buffers_, results.back()) != param_buffers_.end())
          overwritten_.push_back(results.back());
        continue;
      }
      const auto* type = As<TensorType>(types[i]);
      const tir::Buffer* buffer = next < function.params.size() ? function.param_buffers[next++] : nullptr;
      if (!type || !type->known || !buffer) return false;
      results.push_back(NewBuffer(*buffer, names.Find(buffer), *type));
      if (!MapBuffer(buffer, results.back(), cloner)) return false;
      allocated_.push_back(results.back());
    }
    return true;
  }

  // As in TVM, the offset keeps its dtype, if the type gives the sizes another one.
  const tir::Buffer* NewBuffer(const tir::Buffer& like, std::string_view like_name, const TensorType& type) {
    const bool is_at_start = arith::IsInt(like.elem_offset, 0);
    const PrimExpr* offset = is_at_start ? IRContext::Current().Int(0, like.elem_offset->dtype) : nullptr;
    const tir::BufferSpec spec{.shape = Shape(type.dims),
                               .dtype = like.dtype,
                               .elem_offset = offset,
                               .scope = like.scope(),
                               .axis_separators = {like.axis_separators.begin(), like.axis_separators.end()}};
    const std::string base = fmt::format("{}_intermediate", like_name);
    const size_t number = num_named_[base]++;
    const std::string name = number == 0 ? base : fmt::format("{}_{}", base, number);
    return tir::MakeBuffer(workspace_, spec, name);
  }

  // Results that are not in the memory of a parameter become parameters. A parameter that is returned unchanged is
  // copied: the call does not work in place on it.
  bool AddOutputs(Buffers& outputs, FusedPrimFunc& result) {
    const size_t num_inputs = param_buffers_.size();
    size_t number = 0;
    for (const tir::Buffer*& output : outputs) {
      auto found = std::ranges::find(param_buffers_, output);
      const bool is_unchanged =
          found != param_buffers_.end() && std::ranges::find(overwritten_, output) == overwritten_.end();
      if (is_unchanged) {
        output = CopyOf(*output);
        found = param_buffers_.end();
      }
      if (found == param_buffers_.end()) {
        AddBufferParam(output, fmt::format("p_output{}", number++));
        result.inplace.push_back(-1);
        continue;
      }
      const auto index = static_cast<size_t>(found - param_buffers_.begin());
      const auto value = static_cast<int64_t>(index);
      if (index >= num_inputs || std::ranges::find(result.inplace, value) != result.inplace.end()) return false;
      result.inplace.push_back(value);
    }
    const bool none = std::ranges::all_of(result.inplace, [](int64_t index) { return index < 0; });
    if (none) result.inplace.clear();
    return true;
  }

  // A new buffer, and at the end of the body loops that copy the elements to it.
  const tir::Buffer* CopyOf(const tir::Buffer& from) {
    const tir::BufferSpec spec{.shape = {from.shape.begin(), from.shape.end()},
                               .dtype = from.dtype,
                               .scope = from.scope(),
                               .axis_separators = {from.axis_separators.begin(), from.axis_separators.end()}};
    const tir::Buffer* to = tir::MakeBuffer(workspace_, spec, fmt::format("{}_copy", from.name));
    std::vector<const tir::Var*> loops;
    std::vector<const tir::IterVar*> axes;
    std::vector<const PrimExpr*> values;
    std::vector<const PrimExpr*> indices;
    std::vector<const tir::Range*> region;
    const arith::PrimBuilder make(workspace_);
    for (const PrimExpr* extent : from.shape) {
      loops.push_back(workspace_.NewPrimVar("ax", extent->dtype));
      const tir::Var* axis = workspace_.NewPrimVar("v_ax", extent->dtype);
      const auto* domain = workspace_.New<tir::Range>(make.Int(0, extent->dtype), extent);
      axes.push_back(workspace_.New<tir::IterVar>(domain, axis, tir::IterVarType::kDataPar));
      values.push_back(loops.back());
      indices.push_back(axis);
      region.push_back(workspace_.New<tir::Range>(axis, make.Int(1, extent->dtype)));
    }
    const auto region_of = [&](const tir::Buffer* buffer) {
      const std::vector<const tir::BufferRegion*> regions = {
          workspace_.New<tir::BufferRegion>(buffer, workspace_.Copy(region))};
      return workspace_.Copy(regions);
    };
    const List<const PrimExpr*> places = workspace_.Copy(indices);
    const auto* value = workspace_.New<tir::BufferLoad>(from.dtype, &from, places);
    const tir::Stmt* store = workspace_.New<tir::BufferStore>(to, value, places);
    const auto* block = workspace_.New<tir::Block>(workspace_.Copy(axes), region_of(&from), region_of(to), "T_copy",
                                                   List<const tir::Buffer*>(), List<const tir::MatchBufferRegion*>(),
                                                   DictAttr::Empty(), nullptr, store);
    const tir::Stmt* body = workspace_.New<tir::BlockRealize>(workspace_.Copy(values), make.Bool(true), block);
    for (size_t i = loops.size(); i-- > 0;) {
      body = workspace_.New<tir::For>(loops[i], make.Int(0, loops[i]->dtype), from.shape[i], tir::ForKind::kSerial,
                                      body, nullptr, DictAttr::Empty());
    }
    bodies_.push_back(body);
    return to;
  }

  const PrimFunc* Finish(const Buffers& outputs) {
    for (const tir::Var* scalar : scalars_) {
      params_.push_back(scalar);
      param_buffers_.push_back(nullptr);
    }
    std::erase_if(allocated_,
                  [&](const tir::Buffer* buffer) { return std::ranges::find(outputs, buffer) != outputs.end(); });
    const TextVersion version = module_.text_version().value_or(TextVersion::kV0_18);
    const tir::Stmt* body = BlockFinisher(workspace_, version).VisitStmt(tir::MakeSeq(workspace_, bodies_));
    const auto* root = workspace_.New<tir::Block>(
        List<const tir::IterVar*>(), List<const tir::BufferRegion*>(), List<const tir::BufferRegion*>(), "root",
        workspace_.Copy(allocated_), List<const tir::MatchBufferRegion*>(), DictAttr::Empty(), nullptr, body);
    const auto* always = workspace_.New<tir::IntImm>(DataType::Bool(), 1);
    const auto* realize = workspace_.New<tir::BlockRealize>(List<const PrimExpr*>(), always, root);
    const DictAttr* attrs = DictAttr::Empty()->With(attr::kNoAlias, IntAttr::Bool(true));
    auto* function = workspace_.New<PrimFunc>(workspace_.Copy(params_), workspace_.Copy(param_buffers_), realize,
                                              TupleType::Get({}), attrs, nullptr);
    function->type = PrimFuncType(function);
    return function;
  }

  const Module& module_;
  Workspace workspace_;
  LookupMap<const tir::Var*, const tir::Var*> sizes_;
  std::vector<const tir::Var*> params_;
  Buffers param_buffers_;
  std::vector<const tir::Var*> scalars_;
  LookupMap<const Var*, const tir::Buffer*> operands_;  // of PrimFuncs, by the variables given for them
  std::string inconsistent_;  // why a PrimFunc or a buffer has no place in it; empty if none was found
  std::unordered_map<const Var*, Buffers> buffers_;  // of the variables of the Relax function
  Buffers allocated_;
  Buffers overwritten_;  // those of parameters on which calls work in place
  std::vector<const tir::Stmt*> bodies_;
  LookupMap<std::string, size_t> num_named_;
  std::unordered_map<const tir::Var*, const PrimExpr*> values_;  // of the variables of the current PrimFunc
};

}  // namespace

std::string FusePrimFuncs(const Function& function, const Module& module, FusedPrimFunc& result) {
  return PrimFuncFuser(module).Run(function, result);
}

}  // namespace iropt
