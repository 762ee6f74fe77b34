// SplitCallTIRByPattern: calls functions of a library for the first loop nests of PrimFuncs that match patterns.
//
//   patterns=[{"name": "my_matmul", "pattern": "matmul"}]
//
//   z = R.call_tir(cls.matmul_exp, (x, y), ...)   -->   lv = R.call_dps_packed("my_matmul", (x, y), out_sinfo=...)
//                                                       z = R.call_tir(cls.unfused_epilogue, (lv,), ...)
//
// A pattern is the name of a PrimFunc of the file, or of the module, with one loop nest; a list of names stands for
// nests one after the other. The first entry that matches is taken. The library gets the tensors that its patterns
// read, in the order of their parameters, and then the values of their scalar parameters; it writes the last nest's
// tensor. The remaining nests become a PrimFunc of their own. What stays: functions whose remaining nests use other
// tensors of the nests that match, and calls with tir_vars. O(nodes), times the number of patterns.
//
// Source: the rules are those of TVM 0.18's pass of this name, which takes a callback that returns source code.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "iropt/arith/analyzer.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/infer/prim_func_type.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/clone.h"
#include "iropt/ir/module_builder.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/call_packed.h"
#include "iropt/op/ops/call_tir.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "iropt/transform/options/SplitCallTIRByPattern.h"
#include "nest_matcher.h"
#include "transform/relax/lowering/relax_functions.h"
#include "transform/relax/util/named_prim_funcs.h"

namespace iropt {

namespace {

// An entry of the option.
struct LibraryPattern {
  std::string name;  // of the function of the library
  std::vector<std::string> nests;
};

using BufferSet = LookupSet<const tir::Buffer*>;

// Parts into which a PrimFunc is split.
struct Split {
  const LibraryPattern* pattern = nullptr;  // null: it stays
  std::vector<uint32_t> inputs = {};        // parameters that the library reads
  std::vector<const PrimExpr*> scalars = {};
  const tir::Buffer* output = nullptr;         // of the library
  const GlobalVar* epilogue = nullptr;         // null if nothing remains
  std::vector<uint32_t> epilogue_inputs = {};  // parameters that it reads, after the output of the library
};

BufferSet BuffersIn(std::span<const tir::Stmt* const> stmts) {
  BufferSet buffers;
  for (const tir::Stmt* stmt : stmts) {
    tir::PostOrderVisit(stmt, [&](const Node* node) {
      if (const auto* load = As<tir::BufferLoad>(node)) buffers.insert(load->buffer);
      if (const auto* store = As<tir::BufferStore>(node)) buffers.insert(store->buffer);
    });
  }
  return buffers;
}

// Splits one function.
class PatternSplitter {
 public:
  PatternSplitter(const PrimFunc& func, size_t num_inputs) : func_(func), num_inputs_(num_inputs) {
    const auto* realize = As<tir::BlockRealize>(func.body);
    root_ = realize ? realize->block : nullptr;
    if (!root_) return;
    const auto* seq = As<tir::SeqStmt>(root_->body);
    if (seq) nests_.assign(seq->seq.begin(), seq->seq.end());
    if (!seq) nests_.push_back(root_->body);
  }

  // The patterns are those of `library`, in order. False if they do not match, or if the function cannot be split
  // there.
  bool Run(const LibraryPattern& library, const std::vector<const PrimFunc*>& patterns, ModuleBuilder& builder,
           Split& split) {
    const size_t count = patterns.size();
    if (!root_ || count == 0 || count > nests_.size()) return false;
    Split made{.pattern = &library};
    std::vector<const tir::Buffer*> read;
    for (size_t i = 0; i < count; ++i) {
      const std::optional<NestMatch> match = MatchNest(nests_[i], *patterns[i]);
      if (!match || match->buffers.empty()) return false;
      read.insert(read.end(), match->buffers.begin(), match->buffers.end());
      made.scalars.insert(made.scalars.end(), match->scalars.begin(), match->scalars.end());
    }
    made.output = StoredIn(nests_[count - 1]);
    for (const tir::Buffer* buffer : read) {
      const std::optional<uint32_t> param = ParamOf(buffer);
      if (param && *param < num_inputs_ && std::ranges::find(made.inputs, *param) == made.inputs.end())
        made.inputs.push_back(*param);
    }
    if (!CanCut(count, made.output)) return false;
    if (count < nests_.size()) AddEpilogue(count, builder, made);
    split = std::move(made);
    return true;
  }

 private:
  static const tir::Buffer* StoredIn(const tir::Stmt* nest) {
    const tir::Buffer* stored = nullptr;
    tir::PostOrderVisit(nest, [&](const Node* node) {
      if (const auto* store = As<tir::BufferStore>(node)) stored = store->buffer;
    });
    return stored;
  }

  std::optional<uint32_t> ParamOf(const tir::Buffer* buffer) const {
    const auto found = std::ranges::find(func_.param_buffers, buffer);
    if (found == func_.param_buffers.end()) return std::nullopt;
    return static_cast<uint32_t>(found - func_.param_buffers.begin());
  }

  // Returns whether nothing but the output of the last matching nest is needed after it.
  bool CanCut(size_t count, const tir::Buffer* output) const {
    const std::span<const tir::Stmt* const> all(nests_);
    const BufferSet rest = BuffersIn(all.subspan(count));
    for (const tir::Stmt* nest : all.first(count)) {
      const tir::Buffer* stored = StoredIn(nest);
      const std::optional<uint32_t> param = ParamOf(stored);
      if (param && *param < num_inputs_) return false;
      if (stored != output && (param || rest.contains(stored))) return false;
    }
    const bool is_whole = count == nests_.size();
    const bool one_result = func_.params.size() == num_inputs_ + 1;
    return is_whole ? one_result && ParamOf(output) == num_inputs_ : !ParamOf(output);
  }

  // def unfused_epilogue(input, ...): the remaining nests
  void AddEpilogue(size_t count, ModuleBuilder& builder, Split& made) {
    Workspace workspace(builder.module());
    const std::vector<const tir::Stmt*> rest(nests_.begin() + static_cast<ptrdiff_t>(count), nests_.end());
    const BufferSet used = BuffersIn(rest);
    std::vector<const tir::Var*> params = {workspace.NewPrimVar("input", DataType::Handle())};
    std::vector<const tir::Buffer*> buffers = {made.output};
    for (uint32_t i = 0; i < func_.params.size(); ++i) {
      const tir::Buffer* buffer = func_.param_buffers[i];
      if (i < num_inputs_ && !used.contains(buffer)) continue;
      params.push_back(func_.params[i]);
      buffers.push_back(buffer);
      if (i < num_inputs_) made.epilogue_inputs.push_back(i);
    }
    std::vector<const tir::Buffer*> allocated;
    for (const tir::Buffer* buffer : root_->alloc_buffers) {
      if (buffer != made.output && used.contains(buffer)) allocated.push_back(buffer);
    }
    auto* root = workspace.New<tir::Block>(*root_);
    root->alloc_buffers = workspace.Copy(allocated);
    root->body = tir::MakeSeq(workspace, rest);
    auto* realize = workspace.New<tir::BlockRealize>(*To<tir::BlockRealize>(func_.body));
    realize->block = root;
    PrimFunc epilogue = func_;
    epilogue.params = workspace.Copy(params);
    epilogue.param_buffers = workspace.Copy(buffers);
    epilogue.body = realize;
    epilogue.attrs = func_.attrs->Without(attr::kGlobalSymbol);
    Workspace own(builder.module());
    auto* copy = own.New<PrimFunc>(*To<PrimFunc>(CloneFunction(&epilogue, own, {.copy_free_vars = true})));
    copy->type = PrimFuncType(copy);
    made.epilogue = builder.AddFunction(copy, own.Finish(), "unfused_epilogue");
  }

  const PrimFunc& func_;
  const size_t num_inputs_;
  const tir::Block* root_ = nullptr;
  std::vector<const tir::Stmt*> nests_;
};

// The splits of all functions, each made once.
class Splits {
 public:
  Splits(const std::vector<LibraryPattern>& patterns, const NamedPrimFuncs& sources, const Module& module,
         ModuleBuilder& builder)
      : libraries_(patterns), sources_(sources), module_(module), builder_(builder) {}

  // False after an error.
  bool FindPatterns(DiagnosticEngine& diagnostics) {
    for (const LibraryPattern& library : libraries_) {
      std::vector<const PrimFunc*>& nests = patterns_.emplace_back();
      for (const std::string& name : library.nests) {
        const ModuleEntry* found = sources_.Find(name, module_);
        if (!found) {
          diagnostics.Error({}, "pass-failed",
                            fmt::format("neither the file nor the module has a PrimFunc '{}'", name));
          return false;
        }
        nests.push_back(To<PrimFunc>(found->func));
      }
    }
    return true;
  }

  const Split& Of(const GlobalVar* name, const PrimFunc& func, size_t num_inputs) {
    const auto [known, is_new] = splits_.try_emplace(name);
    if (!is_new || num_inputs >= func.params.size()) return known;
    const bool has_buffers = std::ranges::none_of(func.param_buffers, [](const auto* b) { return b == nullptr; });
    PatternSplitter splitter(func, num_inputs);
    for (size_t i = 0; has_buffers && i < libraries_.size(); ++i) {
      if (splitter.Run(libraries_[i], patterns_[i], builder_, known)) break;
    }
    return known;
  }

 private:
  const std::vector<LibraryPattern>& libraries_;
  const NamedPrimFuncs& sources_;
  const Module& module_;
  ModuleBuilder& builder_;
  std::vector<std::vector<const PrimFunc*>> patterns_;
  LookupMap<const GlobalVar*, Split> splits_;
};

class CallSplitter : public ExprMutator {
 public:
  CallSplitter(const Module& module, Splits& splits, Workspace& workspace, TypeInferrer& inferrer)
      : ExprMutator(workspace, &inferrer), module_(module), splits_(splits) {}

 protected:
  const Expr* VisitCall(const Call* old) override {
    const auto* call = To<Call>(ExprMutator::VisitCall(old));
    const auto* callee = IsOp(call->op, op::kCallTir) ? As<GlobalVar>(call->args[0]) : nullptr;
    const ModuleEntry* entry = callee ? module_.Find(callee) : nullptr;
    const auto* func = entry ? As<PrimFunc>(entry->func) : nullptr;
    const auto* args = func ? As<Tuple>(call->args[1]) : nullptr;
    if (!args || call->args.size() > 2 || !call->type_args) return call;
    const Split& split = splits_.Of(callee, *func, args->fields.size());
    const Expr* result = split.pattern ? Replace(*call, *func, args->fields, split) : nullptr;
    return result ? result : call;
  }

 private:
  // Null if the shape of the library's result is not known here.
  const Expr* Replace(const Call& call, const PrimFunc& func, List<const Expr*> args, const Split& split) {
    LookupMap<const tir::Var*, const PrimExpr*> values;
    for (uint32_t i = 0; i < args.size(); ++i) {
      const auto* tensor = As<TensorType>(args[i]->type);
      if (!tensor || !tensor->known || tensor->dims.size() != func.param_buffers[i]->shape.size()) return nullptr;
      for (uint32_t k = 0; k < tensor->dims.size(); ++k) {
        if (const auto* var = As<tir::Var>(func.param_buffers[i]->shape[k])) values.try_emplace(var, tensor->dims[k]);
      }
    }
    const auto in_caller = [&](const PrimExpr* e) -> const PrimExpr* {
      if (const int64_t* number = arith::AsInt(e)) return arith::PrimBuilder().Int(*number, e->dtype);
      if (const auto* real = As<tir::FloatImm>(e)) return arith::PrimBuilder().Float(real->value, e->dtype);
      return values.Lookup(As<tir::Var>(e));
    };
    std::vector<const Expr*> inputs;
    for (const uint32_t i : split.inputs) inputs.push_back(args[i]);
    for (const PrimExpr* scalar : split.scalars) {
      const PrimExpr* value = in_caller(scalar);
      if (!value) return nullptr;
      inputs.push_back(workspace().New<PrimValue>(value, PrimType::Get(value)));
    }
    const Type* type = call.type_args->fields[0];
    if (split.epilogue) {
      std::vector<const PrimExpr*> dims;
      for (const PrimExpr* dim : split.output->shape) {
        // Dimensions of Relax are int64, those of buffers may be int32.
        const int64_t* size = arith::AsInt(dim);
        dims.push_back(size ? arith::PrimBuilder().Int(*size, DataType::Int(64)) : in_caller(dim));
        if (!dims.back()) return nullptr;
      }
      type = TensorType::Get(dims, split.output->dtype);
    }
    const Expr* library = workspace().New<ExternFunc>(workspace().arena().CopyString(split.pattern->name),
                                                      DictAttr::Empty(), PackedFuncType());
    const Expr* result = MakeCall(call, op::kCallDpsPacked, library, inputs, type);
    if (!split.epilogue) return result;
    inputs = {builder().Emit(result)};
    for (const uint32_t i : split.epilogue_inputs) inputs.push_back(args[i]);
    return MakeCall(call, op::kCallTir, split.epilogue, inputs, call.type_args->fields[0]);
  }

  const Expr* MakeCall(const Call& like, OpId op, const Expr* callee, const std::vector<const Expr*>& inputs,
                       const Type* type) {
    const Expr* tuple = workspace().New<Tuple>(workspace().Copy(inputs), nullptr);
    const List<const Expr*> args = workspace().arena().Copy<const Expr*>({callee, tuple});
    const Type* const out[] = {type};
    return NewLike<Call>(workspace(), like, GetOp(op), args, nullptr, TupleType::Get(workspace().arena(), out),
                         nullptr);
  }

  const Module& module_;
  Splits& splits_;
};

std::vector<LibraryPattern> ReadLibraryPatterns(const PassOptions& options) {
  const pass_options::SplitCallTIRByPattern given(options);
  constexpr std::string_view kExpected =
      R"(must be a list of {"name": "my_matmul", "pattern": "matmul"}, with a PrimFunc or a list of them as pattern)";
  std::vector<LibraryPattern> patterns;
  const OptionValue::List* list = given.patterns->as_list();
  if (!list) options.Refuse(given.patterns, kExpected);
  for (const OptionValue& item : list ? *list : OptionValue::List()) {
    const OptionValue* name = item.Find("name");
    const OptionValue* pattern = item.Find("pattern");
    const bool is_complete = name && name->as_string() && pattern && item.as_dict()->size() == 2;
    LibraryPattern& made = patterns.emplace_back();
    if (is_complete) made.name = *name->as_string();
    const OptionValue::List one = {is_complete ? *pattern : OptionValue()};
    for (const OptionValue& nest : is_complete && pattern->as_list() ? *pattern->as_list() : one) {
      if (nest.as_string()) made.nests.push_back(*nest.as_string());
      if (!nest.as_string()) options.Refuse(given.patterns, item.span(), kExpected);
    }
  }
  return patterns;
}

}  // namespace

Pass CreateSplitCallTIRByPattern(const PassOptions& options) {
  const auto patterns = std::make_shared<const std::vector<LibraryPattern>>(ReadLibraryPatterns(options));
  const auto sources =
      std::make_shared<const NamedPrimFuncs>(options, pass_options::SplitCallTIRByPattern(options).file);
  const auto run = [patterns, sources](const Module& module, ModulePassContext& context) -> Result<Module> {
    ModuleBuilder builder(module);
    Splits splits(*patterns, *sources, module, builder);
    if (!splits.FindPatterns(context.diagnostics)) return Failure{ErrorCode::PassFailed};
    const auto split = [&](const ModuleEntry& entry, Workspace& workspace,
                           OpTypeInferrer& inferrer) -> const Function* {
      CallSplitter splitter(module, splits, workspace, inferrer);
      const auto* function = To<Function>(splitter.VisitExpr(entry.func));
      return splitter.failed() ? nullptr : function;
    };
    IROPT_RETURN_IF_ERROR(UpdateRelaxFunctions(builder, context.diagnostics, split));
    return builder.Finish();
  };
  return CreateModulePass(options.info(), run);
}

}  // namespace iropt
