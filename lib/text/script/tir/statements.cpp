// T.name(...) as a statement: additions to a block or function, and statements with a body.
#include <fmt/format.h>

#include <algorithm>

#include "allocations.h"
#include "functions.h"
#include "iropt/analysis/tir/thread_tags.h"
#include "iropt/arith/analyzer.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/support/characters.h"
#include "iropt/support/name_map.h"
#include "iropt/support/stack.h"
#include "parser.h"
#include "text/script/func_attrs.h"
#include "tirx_statements.h"

namespace iropt::text {

using Kind = PyValue::Kind;

namespace {

PyValue VarValue(const tir::Var* var) { return PyValue(static_cast<const PrimExpr*>(var)); }

// ---- Statements with a body

bool Assert(TirParser& p, PyArgs& args, const PyValue* const* v, PyValue&) {
  std::string_view message;
  if (!p.ToString(*v[1], message)) return false;
  const PrimExpr* condition = p.ToBool(*v[0]);
  if (!condition) return false;
  p.build_.Open<tir::AssertStmt>(args.span, condition, p.ToPrim(*v[1]), nullptr);
  return true;
}

// The node of an attribute: any node with a name, or a value.
const Node* AttrNode(TirParser& p, const PyValue& value) {
  switch (value.kind) {
    case Kind::kBuffer: return value.buffer;
    case Kind::kIterVar: return value.iter_var;
    case Kind::kReducer: return value.reducer;
    case Kind::kString: return StrAttr::Get(value.string());
    case Kind::kAttr: return value.attr;
    case Kind::kNone: return NoneAttr::Get();
    case Kind::kList:
    case Kind::kTvmArray:
    case Kind::kTuple: return p.ToAttr(value, ScriptDialect::kTir);
    default: return p.ToPrim(value);
  }
}

// Null for attributes other than scalars and strings.
const PrimExpr* ScalarOf(TirParser& p, const Attr* attr, Span span) {
  if (const auto* integer = As<IntAttr>(attr)) {
    const bool is_bool = integer->dtype.is_bool();
    return p.ops_.Int(integer->value, is_bool ? DataType::Bool() : DataType::Int(32), span);
  }
  if (const auto* text = As<StrAttr>(attr)) return p.ToPrim(PyValue::String(text->value, span));
  const auto* expr = As<ExprAttr>(attr);
  return expr ? expr->value : nullptr;
}

// T.attr({"key": value, ...}): attributes that belong to no node.
bool AttrStmts(TirParser& p, const PyValue& attrs, Span span) {
  const DictAttr* dict = p.ToDict(&attrs);
  if (!dict) return false;
  // The order is that of the text.
  const std::vector<std::string_view> keys = p.dict_keys();
  for (const std::string_view key : keys) {
    const Attr* attr = dict->Find(key);
    const PrimExpr* value = attr ? ScalarOf(p, attr, span) : nullptr;
    if (!value) return p.Error(attrs.span, "bad-expression", "the value of an attribute is a scalar or a string");
    p.build_.Open<tir::AttrStmt>(span, p.ops_.Int(0, DataType::Int(32), span), key, value, nullptr);
  }
  return true;
}

bool AttrStmt(TirParser& p, PyArgs& args, const PyValue* const* v, PyValue&) {
  if (!v[1] && !v[2]) return AttrStmts(p, *v[0], args.span);
  if (!v[1] || !v[2]) {
    return p.Error(args.span, "missing-argument",
                   fmt::format("missing argument '{}' in call to T.attr", v[1] ? "value" : "attr_key"));
  }
  std::string_view key;
  if (!p.ToString(*v[1], key)) return false;
  const Node* node = AttrNode(p, *v[0]);
  const PrimExpr* value = node ? p.ToPrim(*v[2]) : nullptr;
  if (!value) return false;
  const auto* var = key.starts_with(attr::kPragmaPrefix) ? As<tir::Var>(node) : nullptr;
  p.build_.Open<tir::AttrStmt>(args.span, node, p.ws_.arena().CopyString(key), value, nullptr);
  p.pragma_ = {var, p.build_.mark().stmts, p.build_.depth()};
  return true;
}

bool DeclBuffer(TirParser& p, PyArgs& args, const PyValue* const*, PyValue& result) {
  return Declare(p, args, "T.decl_buffer", "global", result);
}

// T.alloc_local((16,)) and T.alloc_shared((16,)) of TVM 0.25
template <char Scope>
bool AllocScoped(TirParser& p, PyArgs& args, const PyValue* const*, PyValue& result) {
  constexpr bool kLocal = Scope == 'l';
  return Declare(p, args, kLocal ? "T.alloc_local" : "T.alloc_shared", kLocal ? "local" : "shared", result);
}

template <char Scope>
bool Scalar(TirParser& p, PyArgs& args, const PyValue* const*, PyValue& result) {
  return AllocScalar(p, args, Scope == 'l' ? "local" : Scope == 's' ? "shared" : "global", result);
}

bool ScopeId(TirParser& p, PyArgs& args, const PyValue* const*, PyValue& result) { return ScopeIds(p, args, result); }

tir::IterVar* ThreadOf(TirParser& p, const PyValue& value, DataType dtype) {
  if (value.is(Kind::kString)) {
    tir::Var* var = p.ws_.NewPrimVar(p.pending_name(), dtype);
    var->set_span(value.span);
    return p.ws_.New<tir::IterVar>(nullptr, var, tir::IterVarType::kThreadIndex,
                                   p.ws_.arena().CopyString(value.string()));
  }
  const tir::Var* var = p.ToVar(value);
  if (!var) return nullptr;
  const auto it =
      std::find_if(p.env_threads_.begin(), p.env_threads_.end(), [&](const tir::IterVar* t) { return t->var == var; });
  if (it != p.env_threads_.end()) return *it;
  return p.Error(value.span, "bad-expression", fmt::format("'{}' was not made by T.env_thread", var->name));
}

bool SetExtent(TirParser& p, tir::IterVar* thread, const PrimExpr* extent, Span span) {
  if (!thread->dom) {
    thread->dom = p.ws_.New<tir::Range>(p.ops_.Int(0, extent->dtype, span), extent);
    return true;
  }
  arith::Analyzer analyzer(arith::PrimBuilder(p.ws_), arith::Analyzer::SymVars::kAny);
  if (thread->dom->extent->dtype == extent->dtype && analyzer.CanProveEqual(thread->dom->extent, extent)) return true;
  return p.Error(span, "bad-expression",
                 fmt::format("'{}' was launched with another extent before", thread->thread_tag));
}

// bx = T.launch_thread("blockIdx.x", 8), or T.launch_thread(bx, 8) for bx = T.env_thread("blockIdx.x")
bool LaunchThread(TirParser& p, PyArgs& args, const PyValue* const* v, PyValue& result) {
  const PrimExpr* extent = p.ToPrim(*v[1]);
  tir::IterVar* thread = extent ? ThreadOf(p, *v[0], extent->dtype) : nullptr;
  if (!thread || !SetExtent(p, thread, extent, args.span)) return false;
  p.build_.Open<tir::AttrStmt>(args.span, thread,
                               IsVirtualThreadTag(thread->thread_tag) ? attr::kVirtualThread : attr::kThreadExtent,
                               extent, nullptr);
  result = VarValue(thread->var);
  return true;
}

bool EnvThread(TirParser& p, PyArgs&, const PyValue* const* v, PyValue& result) {
  std::string_view tag;
  DataType dtype = DataType::Int(32);
  if (!p.ToString(*v[0], tag) || (v[1] && !p.ToDType(*v[1], dtype))) return false;
  tir::IterVar* thread = ThreadOf(p, *v[0], dtype);
  p.env_threads_.push_back(thread);
  result = VarValue(thread->var);
  return true;
}

// with T.LetStmt(value, T.handle("float32")) as x, or T.LetStmt(value, var=x)
bool LetStmt(TirParser& p, PyArgs& args, const PyValue* const* v, PyValue& result) {
  const tir::Var* var = v[2] ? p.ToVar(*v[2]) : nullptr;
  if (v[2] && !var) return false;
  if (!var && v[1]) {
    const auto* typed = v[1]->is(Kind::kPrim) ? As<tir::Var>(v[1]->prim) : nullptr;
    DataType dtype = typed ? typed->dtype : DataType::Void();
    if (!typed && !p.ToDType(*v[1], dtype)) return false;
    var = p.ws_.NewPrimVar(p.pending_name(), dtype, typed ? typed->pointer : nullptr);
  }
  const PrimExpr* value = var ? p.LetValue(*v[0], var) : p.ToPrim(*v[0]);
  if (!value) return false;
  if (!var) var = p.ws_.NewPrimVar(p.pending_name(), value->dtype);
  p.OpenLet(var, value, args.span);
  result = VarValue(var);
  return true;
}

// with T.let(x, value), in older scripts
bool OldLet(TirParser& p, PyArgs& args, const PyValue* const*, PyValue& result) {
  if (args.positional.size() == 3) {
    return CallTirFunction(p, *FindTirFunction("let"), args, result);
  }
  const PyValue* v[2];
  if (!p.Bind(args, "T.let", {"v", "value"}, 2, v)) return false;
  const tir::Var* var = p.ToVar(*v[0]);
  const PrimExpr* value = var ? p.LetValue(*v[1], var) : nullptr;
  if (!value) return false;
  p.OpenLet(var, value, args.span);
  result = VarValue(var);
  return true;
}

bool Realize(TirParser& p, PyArgs& args, const PyValue* const* v, PyValue&) {
  std::string_view scope;
  if (!p.ToString(*v[1], scope)) return false;
  const tir::BufferRegion* region = p.ToRegion(*v[0]);
  const PrimExpr* condition = region && v[2] ? p.ToBool(*v[2]) : p.True(args.span);
  if (!region || !condition) return false;
  auto* realize = p.ws_.New<tir::BufferRealize>(region->buffer, region->region, condition, nullptr);
  realize->set_span(args.span);
  auto* attr = p.ws_.New<tir::AttrStmt>(region->buffer, attr::kRealizeScope, p.ToPrim(*v[1]), realize);
  attr->set_span(args.span);
  p.build_.Open(attr, &realize->body);
  return true;
}

bool While(TirParser& p, PyArgs& args, const PyValue* const* v, PyValue&) {
  const PrimExpr* condition = p.ToCondition(*v[0]);
  if (condition) p.build_.Open<tir::While>(args.span, condition, nullptr);
  return condition != nullptr;
}

bool If(TirParser& p, PyArgs& args, const PyValue* const* v, PyValue&) {
  const PrimExpr* condition = p.ToCondition(*v[0]);
  if (!condition) return false;
  p.build_.OpenIf(condition, args.span);
  return true;
}

template <bool Else>
bool Branch(TirParser& p, PyArgs& args, const PyValue* const*, PyValue&) {
  const std::string_view what = Else ? "T.Else" : "T.Then";
  if (!p.CountArgs(args, what, 0, 0)) return false;
  const auto branches = p.build_.open_if();
  if (!branches) return p.Error(args.span, "bad-block", fmt::format("{} must be directly in T.If", what));
  if (Else ? branches->else_case || !branches->then_case : branches->then_case) {
    return p.Error(args.span, "bad-block", Else ? "T.Else comes once, after T.Then" : "T.If has a T.Then already");
  }
  p.build_.OpenBranch(Else);
  return true;
}

// ---- Others

bool Evaluate(TirParser& p, PyArgs& args, const PyValue* const* v, PyValue&) {
  const PrimExpr* e = p.ToPrim(*v[0]);
  if (!e) return false;
  auto* stmt = p.ws_.New<tir::Evaluate>(e);
  stmt->set_span(args.span);
  p.build_.Emit(stmt);
  return true;
}

// T.Return(value)
bool Return(TirParser& p, PyArgs& args, const PyValue* const* v, PyValue&) { return EmitReturn(p, *v[0], args.span); }

bool FuncAttr(TirParser& p, PyArgs& args, const PyValue* const* v, PyValue&) {
  const DictAttr* attrs = p.ToDict(v[0]);
  if (!attrs) return false;
  if (p.build_.block() || !p.build_.directly_inside())
    return p.Error(args.span, "bad-block", "T.func_attr must be directly in the function");
  for (uint32_t i = 0; i < attrs->size(); ++i) {
    const std::string_view key = FuncAttrKey(attrs->keys[i]);
    if (p.func_attrs_->Find(key)) {
      return p.Error(args.span, "duplicate-attribute",
                     fmt::format("the function has an attribute \"{}\" already", attrs->keys[i]));
    }
    p.func_attrs_ = p.func_attrs_->With(key, FuncAttrOfText(key, attrs->values[i], p.state_.module->text_version()));
  }
  return true;
}

// A name that stands for the value itself.
bool MetaVar(TirParser& p, PyArgs&, const PyValue* const* v, PyValue& result) {
  result = *v[0];
  p.meta_ = true;
  return true;
}

bool BufferStore(TirParser& p, PyArgs& args, const PyValue* const* v, PyValue&) {
  std::vector<const PrimExpr*> indices;
  if (!p.ToPrims(*v[2], indices)) return false;
  if (!v[0]->is(Kind::kBuffer)) return p.WrongValue(*v[0], "a buffer");
  const tir::Stmt* store = p.MakeStore(v[0]->buffer, indices, *v[1], v[3], args.span);
  if (store) p.build_.Emit(store);
  return store != nullptr;
}

bool PrefetchRegion(TirParser& p, PyArgs& args) {
  static constexpr std::string_view kParams[] = {"buffer", "bounds"};
  const PyValue* v[2];
  if (!BindArguments(args, "T.prefetch", kParams, 2, v, p.diag_)) return false;
  if (!v[0]->is(Kind::kBuffer)) return p.WrongValue(*v[0], "a buffer");
  if (!v[1]->is_list()) return p.WrongValue(*v[1], "a list of ranges");
  std::vector<const tir::Range*> bounds;
  for (const PyValue& item : v[1]->items()) {
    const tir::Range* range = p.ToRange(item);
    if (!range) return false;
    bounds.push_back(range);
  }
  auto* stmt = p.ws_.New<tir::Prefetch>(v[0]->buffer, p.ws_.Copy(bounds));
  stmt->set_span(args.span);
  p.build_.Emit(stmt);
  return true;
}

// T.prefetch(A, [T.Range(0, 4)]) is a statement; T.prefetch(address, ...) calls the intrinsic of this name, whose dtype
// is that of the element at the address.
bool Prefetch(TirParser& p, PyArgs& args, const PyValue* const*, PyValue&) {
  if (args.positional.empty() || args.positional[0].is(Kind::kBuffer) || !args.keywords.empty())
    return PrefetchRegion(p, args);
  std::vector<const PrimExpr*> operands;
  for (const PyValue& value : args.positional) {
    operands.push_back(p.ToPrim(value));
    if (!operands.back()) return false;
  }
  const tir::Call* address = CallOf(operands[0], op::kTirAddressOf);
  const DataType dtype = address && address->args.size() == 1 ? address->args[0]->dtype : DataType::Handle();
  auto* call = p.ws_.New<tir::Call>(dtype, GetOp(op::kTirPrefetch), p.CopyPrims(operands));
  call->set_span(args.span);
  auto* stmt = p.ws_.New<tir::Evaluate>(call);
  stmt->set_span(args.span);
  p.build_.Emit(stmt);
  return true;
}

// ---- What belongs to a block

tir::BlockScope* BlockOf(TirParser& p, const PyArgs& args, std::string_view what) {
  if (tir::BlockScope* block = p.build_.block()) return block;
  return p.Error(args.span, "bad-block", fmt::format("{} is only allowed in a block", what));
}

bool OpenBlock(TirParser& p, PyArgs& args, const PyValue* const* v, PyValue&) {
  std::string_view name;
  if ((v[0] && !p.ToString(*v[0], name))) return false;
  if (v[1] && !v[1]->is(Kind::kBool)) return p.WrongValue(*v[1], "True or False");
  p.build_.OpenBlock(name, !(v[1] && v[1]->boolean), args.span);
  return true;
}

bool Init(TirParser& p, PyArgs& args, const PyValue* const*, PyValue&) {
  tir::BlockScope* block = BlockOf(p, args, "T.init");
  if (!block || !p.CountArgs(args, "T.init", 0, 0)) return false;
  if (block->init) return p.Error(args.span, "bad-block", "the block has an initialization already");
  p.build_.OpenInit();
  return true;
}

bool Where(TirParser& p, PyArgs& args, const PyValue* const* v, PyValue&) {
  tir::BlockScope* block = BlockOf(p, args, "T.where");
  if (!block) return false;
  if (block->predicate) return p.Error(args.span, "bad-block", "the block has a predicate already");
  block->predicate = p.ToBool(*v[0]);
  return block->predicate != nullptr;
}

template <bool Writes>
bool Regions(TirParser& p, PyArgs& args, const PyValue* const*, PyValue&) {
  const std::string_view what = Writes ? "T.writes" : "T.reads";
  tir::BlockScope* block = BlockOf(p, args, what);
  if (!block) return false;
  auto& regions = Writes ? block->writes : block->reads;
  if (regions) return p.Error(args.span, "bad-block", fmt::format("the block has {} already", what));
  if (!args.keywords.empty())
    return p.Error(args.keywords[0].span, "unknown-argument", fmt::format("{} takes regions only", what));
  std::span<const PyValue> items = args.positional;
  if (items.size() == 1 && items[0].is_list()) items = items[0].items();
  std::vector<const tir::BufferRegion*> found;
  found.reserve(items.size());
  for (const PyValue& item : items) {
    const tir::BufferRegion* region = p.ToRegion(item);
    if (!region) return false;
    found.push_back(region);
  }
  regions = std::move(found);
  return true;
}

// Both dictionaries as one, and those inside them that have the same key. Null if they disagree about a key.
const DictAttr* Merge(const DictAttr* a, const DictAttr* b, std::string_view& disputed) {
  for (uint32_t i = 0; i < b->size(); ++i) {
    const Attr* known = a->Find(b->keys[i]);
    const Attr* value = b->values[i];
    if (known && known != value) {
      disputed = b->keys[i];
      if (!Is<DictAttr>(known) || !Is<DictAttr>(value)) return nullptr;
      value = WithStack([&] { return Merge(As<DictAttr>(known), As<DictAttr>(value), disputed); });
      if (!value) return nullptr;
    }
    a = a->With(b->keys[i], value);
  }
  return a;
}

// T.block_attr is allowed once in a block; of T.sblock_attr, its name in TVM 0.26, there may be several.
template <bool Merges>
bool BlockAttr(TirParser& p, PyArgs& args, const PyValue* const* v, PyValue&) {
  constexpr std::string_view kName = Merges ? "T.sblock_attr" : "T.block_attr";
  tir::BlockScope* block = BlockOf(p, args, kName);
  if (!block) return false;
  if (!Merges && block->annotations) return p.Error(args.span, "bad-block", "the block has annotations already");
  const DictAttr* attrs = p.ToDict(v[0]);
  std::string_view disputed;
  if (attrs && block->annotations) {
    attrs = Merge(block->annotations, attrs, disputed);
    if (!attrs)
      return p.Error(args.span, "bad-block", fmt::format("the block has another annotation \"{}\" already", disputed));
  }
  block->annotations = attrs;
  return attrs != nullptr;
}

template <tir::IterVarType Type>
bool Axis(TirParser& p, PyArgs& args, const PyValue* const* v, PyValue& result) {
  DataType dtype = DataType::Int(32);
  tir::BlockScope* block = BlockOf(p, args, "T.axis");
  if (!block) return false;
  if (!p.build_.directly_inside()) return p.Error(args.span, "bad-block", "an axis must be directly in its block");
  if (block->realize && !v[1])
    return p.Error(args.span, "missing-argument", "missing argument 'binding' in call to T.axis");
  const tir::Range* dom = p.ToRange(*v[0]);
  const PrimExpr* binding = dom && v[1] ? p.ToPrim(*v[1]) : nullptr;
  if (!dom || (v[1] && !binding) || (v[2] && !p.ToDType(*v[2], dtype))) return false;
  if (binding && !binding->dtype.is_int()) {
    return p.Error(v[1]->span, "type-mismatch",
                   fmt::format("an axis takes an integer, found '{}'", binding->dtype.ToString()));
  }
  const int bits = std::max({static_cast<int>(dom->min->dtype.bits), static_cast<int>(dom->extent->dtype.bits),
                             static_cast<int>(dtype.bits)});
  const auto widen = [&](const PrimExpr* e) {
    return arith::AsInt(e) ? p.ops_.MakeCast(DataType::Make(dtype.code, bits, 1), e, e->span()) : e;
  };
  dom = p.ws_.New<tir::Range>(widen(dom->min), widen(dom->extent));
  result =
      VarValue(p.build_.Axis(Type, p.pending_name(), dom, binding, DataType::Make(dtype.code, bits, 1), args.span));
  return true;
}

// vi, vj = T.axis.remap("SR", [i, j])
bool Remap(TirParser& p, PyArgs& args, const PyValue* const* v, PyValue& result) {
  std::string_view kinds;
  if (!p.ToString(*v[0], kinds)) return false;
  if (!BlockOf(p, args, "T.axis.remap")) return false;
  if (!p.build_.directly_inside()) return p.Error(args.span, "bad-block", "an axis must be directly in its block");
  if (!v[1]->is_list()) return p.WrongValue(*v[1], "a list of loop variables");
  const std::span<const PyValue> bindings = v[1]->items();
  if (bindings.size() != kinds.size()) {
    return p.Error(args.span, "bad-block",
                   fmt::format("{} kinds of axes for {} bindings", kinds.size(), bindings.size()));
  }
  PyValues vars;
  for (size_t i = 0; i < bindings.size(); ++i) {
    if (kinds[i] != 'S' && kinds[i] != 'R')
      return p.Error(v[0]->span, "bad-block", fmt::format("unknown kind of axis '{}'; expected 'S' or 'R'", kinds[i]));
    const tir::Var* loop_var = p.ToVar(bindings[i]);
    if (!loop_var) return false;
    const auto loop =
        std::find_if(p.loops_.begin(), p.loops_.end(), [&](const auto& l) { return l.first == loop_var; });
    if (loop == p.loops_.end())
      return p.Error(bindings[i].span, "bad-block",
                     fmt::format("'{}' is not a variable of an enclosing loop", loop_var->name));
    const tir::IterVarType type = kinds[i] == 'S' ? tir::IterVarType::kDataPar : tir::IterVarType::kCommReduce;
    vars.push_back(VarValue(p.build_.Axis(type, {}, loop->second, loop_var, loop_var->dtype, args.span)));
  }
  result = vars.size() == 1 ? vars[0] : p.ListOf(Kind::kTvmArray, vars, args.span);
  return true;
}

// Directly in a block or function the buffer belongs to that. Since TVM 0.24, T.alloc_buffer is the statement that is
// T.decl_buffer here, and T.sblock_alloc_buffer is for the block around; then the text imports tirx.
template <bool Anywhere>
bool AllocBuffer(TirParser& p, PyArgs& args, const PyValue* const*, PyValue& result) {
  if (!Anywhere && (p.state_.is_tirx || !p.build_.directly_inside()))
    return Declare(p, args, "T.alloc_buffer", "global", result);
  tir::BufferSpec spec;
  if (!p.ReadBufferSpec(args, "T.alloc_buffer", nullptr, spec)) return false;
  result = PyValue(tir::MakeBuffer(p.ws_, spec, p.pending_name(), args.span), args.span);
  p.build_.AllocBuffer(result.buffer);
  return true;
}

// A parameter as a buffer, or a part of a buffer in a block under a name of its own.
bool MatchBuffer(TirParser& p, PyArgs& args, const PyValue* const*, PyValue& result) {
  const PyValue* source = nullptr;
  tir::BufferSpec spec;
  if (!p.ReadBufferSpec(args, "T.match_buffer", &source, spec)) return false;
  const auto* var = source && source->is(Kind::kPrim) ? As<tir::Var>(source->prim) : nullptr;
  const tir::Buffer* buffer = nullptr;
  if (var) {
    TirSignature& signature = *p.signature_;
    const auto param = std::find(signature.params.begin(), signature.params.end(), var);
    if (param == signature.params.end())
      return p.Error(source->span, "bad-expression", fmt::format("'{}' is not a parameter of the function", var->name));
    if (p.build_.block() || !p.build_.directly_inside())
      return p.Error(args.span, "bad-block", "a parameter is matched directly in the function");
    buffer = tir::MakeBuffer(p.ws_, spec, p.pending_name(), args.span);
    signature.buffers[static_cast<size_t>(param - signature.params.begin())] = buffer;
  } else {
    const tir::BufferRegion* region = source ? p.ToRegion(*source) : nullptr;
    tir::BlockScope* block = region ? BlockOf(p, args, "T.match_buffer of a region") : nullptr;
    if (!block) return false;
    buffer = tir::MakeBuffer(p.ws_, spec, p.pending_name(), args.span);
    auto* match = p.ws_.New<tir::MatchBufferRegion>(buffer, region);
    match->set_span(args.span);
    block->matches.push_back(match);
  }
  result = PyValue(buffer, args.span);
  return true;
}

// ---- The table

struct TirStatement {
  static constexpr size_t kMaxParams = 5;

  std::string_view name;
  std::string_view full_name;  // "T.name", for messages
  // `v` are the arguments by parameter, null if absent. False after an error.
  bool (*read)(TirParser& p, PyArgs& args, const PyValue* const* v, PyValue& result);
  uint8_t required;
  std::string_view params[kMaxParams];

  bool Run(TirParser& p, PyArgs& args, PyValue& result) const {
    const PyValue* v[kMaxParams];
    const auto count = static_cast<size_t>(std::ranges::find(params, std::string_view()) - params);
    return (count == 0 || BindArguments(args, full_name, std::span(params).first(count), required,
                                        std::span(v).first(count), p.diag_)) &&
           read(p, args, v, result);
  }
};

using tir::IterVarType;
constexpr TirStatement kStatements[] = {
#define IROPT_TIR_STATEMENT(name, read, required, ...) {name, "T." name, read, required, {__VA_ARGS__}},
#include "statements.def"
};
static_assert(std::ranges::is_sorted(kStatements, {}, &TirStatement::name));

const TirStatement* FindTirStatement(std::string_view name) {
  static const NameMap<const TirStatement*> statements = [] {
    NameMap<const TirStatement*> map(std::size(kStatements));
    for (const TirStatement& statement : kStatements) map.Insert(statement.name, &statement);
    return map;
  }();
  const uint32_t index = statements.Find(name);
  return index == statements.kNone ? nullptr : statements[index].value;
}

bool IsInDottedName(char c) { return IsLetterOrDigit(c) || c == '_' || c == '.'; }

}  // namespace

void ForEachTirStatement(
    FunctionRef<void(std::string_view name, std::span<const std::string_view> params, size_t required)> f) {
  for (const TirStatement& statement : kStatements) {
    const auto count = std::ranges::find(statement.params, std::string_view()) - statement.params;
    f(statement.name, std::span(statement.params).first(static_cast<size_t>(count)), statement.required);
  }
}

std::vector<std::string_view> TirStatementNames() {
  std::vector<std::string_view> names{"grid", "parallel", "serial", "thread_binding", "unroll", "vectorized"};
  for (const TirStatement& statement : kStatements) names.push_back(statement.name);
  return names;
}

bool TirParser::ParseTirStatement(PyValue& result, bool& known) {
  known = false;
  const Lexer::State start = lex_.Save();
  int parentheses = 0;
  while (Accept(TokenKind::kLParen)) ++parentheses;
  // A name of T at the current token, without reading it.
  const TirStatement* statement = nullptr;
  const Prefix prefix = AtPrefix();
  const std::string_view member = lex_.buffer().substr(lex_.peek().end);
  if (prefix == Prefix::kTir || (prefix == Prefix::kIr && member.starts_with(".meta_var("))) {
    const std::string_view rest = member.substr(1);
    const auto end = std::ranges::find_if_not(rest, IsInDottedName);
    std::string_view name = rest.substr(0, static_cast<size_t>(end - rest.begin()));
    if (lex_.text() == state_.tile_prefix && name == "compose_op") name = "tile.compose_op";
    // In parentheses, T.let(x, value, body) may be part of an expression.
    if (parentheses == 0 || name != "let") statement = FindTirStatement(name);
  }
  known = statement != nullptr;
  if (!known) {
    if (parentheses) lex_.Restore(start);
    return false;
  }
  const uint32_t begin = lex_.Next().begin;
  DottedName();
  Record(OccurrenceKind::kOperator, TextOf(lex_.SpanFrom(begin)));
  PyArgs args;
  if (!ParseArguments(args, begin) || !statement->Run(*this, args, result)) return false;
  for (; parentheses > 0; --parentheses) {
    if (!Expect(TokenKind::kRParen, "a statement in parentheses")) return false;
  }
  return true;
}

}  // namespace iropt::text
