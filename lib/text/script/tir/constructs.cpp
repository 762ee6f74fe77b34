// T.name(...) as a statement: what adds to a block or function, and what opens a statement whose body follows.
#include "constructs.h"

#include <fmt/format.h>

#include <algorithm>

#include "iropt/arith/analyzer.h"
#include "array.h"

namespace iropt::text {

using Kind = Value::Kind;

bool TirParser::ParseConstruct(Value& result, bool& known) {
  known = false;
  const Lexer::State start = lex_.Save();
  int parentheses = 0;
  while (Accept(TokenKind::kLParen)) ++parentheses;
  // A name of T at the current token, without reading it.
  TirConstructs::Read read = nullptr;
  if (AtPrefix() == Prefix::kTir) {
    const std::string_view rest = lex_.buffer().substr(lex_.peek().end + 1);
    const size_t length = rest.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.");
    const std::string_view name = rest.substr(0, length);
    // In parentheses, T.let(x, value, body) may be part of an expression.
    if (parentheses == 0 || name != "let") read = TirConstructs::Find(name);
  }
  known = read != nullptr;
  if (!known) {
    if (parentheses) lex_.Restore(start);
    return false;
  }
  const uint32_t begin = lex_.Next().begin;
  DottedName();
  TirArgs args;
  if (!ParseArguments(args, begin) || !read(*this, args, result)) return false;
  for (; parentheses > 0; --parentheses) {
    if (!Expect(TokenKind::kRParen, "a statement in parentheses")) return false;
  }
  return true;
}

// ---- Statements with a body

bool TirConstructs::Allocate(TirParser& p, TirArgs& args, Value& result) {
  const Value* v[5];
  std::vector<const PrimExpr*> extents;
  DataType dtype;
  std::string_view scope = "global";
  if (!p.Bind(args, "T.allocate", {"extents", "dtype", "scope", "condition", "annotations"}, 2, v) ||
      !p.ToPrims(*v[0], extents) || !p.ToDType(*v[1], dtype) || (v[2] && !p.ToString(*v[2], scope))) {
    return false;
  }
  const PrimExpr* condition = v[3] && !v[3]->is(Kind::kNone) ? p.ToBool(*v[3]) : p.True(args.span);
  const DictAttr* annotations = condition ? p.ToDict(v[4]) : nullptr;
  if (!annotations) return false;
  tir::Var* var = p.ws_.NewPrimVar(p.pending_name_, DataType::Handle(), tir::PointerInfo::Get(dtype, scope));
  var->set_span(args.span);
  p.build_.Open<tir::Allocate>(args.span, var, dtype, p.CopyPrims(extents), condition, annotations, nullptr);
  result = VarValue(var);
  return true;
}

// T.allocate_const([1, 2], "int32", [2])
bool TirConstructs::AllocateConst(TirParser& p, TirArgs& args, Value& result) {
  const Value* v[4];
  std::vector<const PrimExpr*> extents;
  DataType dtype;
  if (!p.Bind(args, "T.allocate_const", {"data", "dtype", "extents", "annotations"}, 3, v) ||
      !p.ToDType(*v[1], dtype) || !p.ToPrims(*v[2], extents)) {
    return false;
  }
  std::vector<int64_t> shape;
  int64_t count = 1;
  for (const PrimExpr* e : extents) {
    const int64_t* n = arith::AsInt(e);
    if (!n || *n < 0 || __builtin_mul_overflow(count, *n, &count))
      return p.Error(v[2]->span, "bad-number", "the extents of a constant are integers");
    shape.push_back(*n);
  }
  std::vector<Value> numbers;
  FlattenNumbers(*v[0], numbers);
  if (static_cast<int64_t>(numbers.size()) != count) {
    return p.Error(v[0]->span, "bad-expression", fmt::format("expected {} numbers, found {}", count, numbers.size()));
  }
  const DictAttr* annotations = p.ToDict(v[3]);
  if (!annotations) return false;
  const std::shared_ptr<const NDArray> data = ArrayOf(numbers, dtype, std::move(shape));
  if (!data)
    return p.Error(v[0]->span, "type-mismatch", fmt::format("the data are no constants of '{}'", dtype.ToString()));
  p.ws_.arena().Retain(data);
  tir::Var* var = p.ws_.NewPrimVar(p.pending_name_, DataType::Handle(), tir::PointerInfo::Get(dtype));
  var->set_span(args.span);
  p.build_.Open<tir::AllocateConst>(args.span, var, dtype, p.CopyPrims(extents), data.get(), -1, annotations, nullptr);
  result = VarValue(var);
  return true;
}

bool TirConstructs::Assert(TirParser& p, TirArgs& args, Value&) {
  const Value* v[2];
  std::string_view message;
  if (!p.Bind(args, "T.Assert", {"condition", "message"}, 2, v) || !p.ToString(*v[1], message)) return false;
  const PrimExpr* condition = p.ToBool(*v[0]);
  if (!condition) return false;
  p.build_.Open<tir::AssertStmt>(args.span, condition, p.ToPrim(*v[1]), nullptr);
  return true;
}

// What an attribute is about: anything that has a name, or a value.
const Node* TirConstructs::AttrNode(TirParser& p, const Value& value) {
  switch (value.kind) {
    case Kind::kBuffer: return value.buffer;
    case Kind::kIterVar: return value.iter_var;
    case Kind::kReducer: return value.reducer;
    case Kind::kString: return StrAttr::Get(value.string());
    case Kind::kAttr: return value.attr;
    case Kind::kNone: return NoneAttr::Get();
    case Kind::kList:
    case Kind::kArray:
    case Kind::kTuple: return p.ToAttr(value);
    default: return p.ToPrim(value);
  }
}

bool TirConstructs::AttrStmt(TirParser& p, TirArgs& args, Value&) {
  const Value* v[3];
  std::string_view key;
  if (!p.Bind(args, "T.attr", {"node", "attr_key", "value"}, 3, v) || !p.ToString(*v[1], key)) return false;
  const Node* node = AttrNode(p, *v[0]);
  const PrimExpr* value = node ? p.ToPrim(*v[2]) : nullptr;
  if (!value) return false;
  p.build_.Open<tir::AttrStmt>(args.span, node, p.ws_.arena().CopyString(key), value, nullptr);
  return true;
}

// With a data pointer a view of it, without one a new allocation.
bool TirConstructs::DeclBuffer(TirParser& p, TirArgs& args, Value& result) {
  tir::BufferSpec spec;
  if (!p.ReadBufferSpec(args, "T.decl_buffer", false, nullptr, spec)) return false;
  const tir::Buffer* buffer = tir::MakeBuffer(p.ws_, spec, p.pending_name_, args.span);
  result.kind = Kind::kBuffer;
  result.span = args.span;
  result.buffer = buffer;
  if (spec.data) {
    p.build_.Open<tir::DeclBuffer>(args.span, buffer, nullptr);
    return true;
  }
  auto* decl = p.ws_.New<tir::DeclBuffer>(buffer, nullptr);
  decl->set_span(args.span);
  auto* allocate =
      p.ws_.New<tir::Allocate>(buffer->data, buffer->dtype, buffer->shape, p.True(args.span), DictAttr::Empty(), decl);
  allocate->set_span(args.span);
  p.build_.Open(allocate, &decl->body);
  return true;
}

tir::IterVar* TirConstructs::ThreadOf(TirParser& p, const Value& value, DataType dtype) {
  if (value.is(Kind::kString)) {
    tir::Var* var = p.ws_.NewPrimVar(p.pending_name_, dtype);
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

bool TirConstructs::SetExtent(TirParser& p, tir::IterVar* thread, const PrimExpr* extent, Span span) {
  if (!thread->dom) {
    thread->dom = p.ws_.New<tir::Range>(p.ops_.Int(0, extent->dtype, span), extent);
    return true;
  }
  arith::Analyzer analyzer(arith::PrimBuilder(p.ws_.arena()), arith::Analyzer::SymVars::kAny);
  if (thread->dom->extent->dtype == extent->dtype && analyzer.CanProveEqual(thread->dom->extent, extent)) return true;
  return p.Error(span, "bad-expression",
                 fmt::format("'{}' was launched with another extent before", thread->thread_tag));
}

// bx = T.launch_thread("blockIdx.x", 8), or T.launch_thread(bx, 8) for bx = T.env_thread("blockIdx.x")
bool TirConstructs::LaunchThread(TirParser& p, TirArgs& args, Value& result) {
  const Value* v[2];
  if (!p.Bind(args, "T.launch_thread", {"thread", "extent"}, 2, v)) return false;
  const PrimExpr* extent = p.ToPrim(*v[1]);
  tir::IterVar* thread = extent ? ThreadOf(p, *v[0], extent->dtype) : nullptr;
  if (!thread || !SetExtent(p, thread, extent, args.span)) return false;
  p.build_.Open<tir::AttrStmt>(args.span, thread, thread->thread_tag == "vthread" ? "virtual_thread" : "thread_extent",
                               extent, nullptr);
  result = VarValue(thread->var);
  return true;
}

bool TirConstructs::EnvThread(TirParser& p, TirArgs& args, Value& result) {
  const Value* v[2];
  std::string_view tag;
  DataType dtype = DataType::Int(32);
  if (!p.Bind(args, "T.env_thread", {"thread_tag", "dtype"}, 1, v) || !p.ToString(*v[0], tag) ||
      (v[1] && !p.ToDType(*v[1], dtype)))
    return false;
  tir::IterVar* thread = ThreadOf(p, *v[0], dtype);
  p.env_threads_.push_back(thread);
  result = VarValue(thread->var);
  return true;
}

// with T.LetStmt(value, T.handle("float32")) as x, or T.LetStmt(value, var=x)
bool TirConstructs::LetStmt(TirParser& p, TirArgs& args, Value& result) {
  const Value* v[3];
  if (!p.Bind(args, "T.LetStmt", {"value", "type_annotation", "var"}, 1, v)) return false;
  const tir::Var* var = v[2] ? p.ToVar(*v[2]) : nullptr;
  if (v[2] && !var) return false;
  if (!var && v[1]) {
    const auto* typed = v[1]->is(Kind::kPrim) ? As<tir::Var>(v[1]->prim) : nullptr;
    DataType dtype = typed ? typed->dtype : DataType::Void();
    if (!typed && !p.ToDType(*v[1], dtype)) return false;
    var = p.ws_.NewPrimVar(p.pending_name_, dtype, typed ? typed->pointer : nullptr);
  }
  const PrimExpr* value = var ? p.LetValue(*v[0], var) : p.ToPrim(*v[0]);
  if (!value) return false;
  if (!var) var = p.ws_.NewPrimVar(p.pending_name_, value->dtype);
  p.OpenLet(var, value, args.span);
  result = VarValue(var);
  return true;
}

// with T.let(x, value), of old
bool TirConstructs::OldLet(TirParser& p, TirArgs& args, Value& result) {
  if (args.positional.size() == 3) {
    return TirFunctions::Find("let")->make(p, args, result);
  }
  const Value* v[2];
  if (!p.Bind(args, "T.let", {"v", "value"}, 2, v)) return false;
  const tir::Var* var = p.ToVar(*v[0]);
  const PrimExpr* value = var ? p.LetValue(*v[1], var) : nullptr;
  if (!value) return false;
  p.OpenLet(var, value, args.span);
  result = VarValue(var);
  return true;
}

bool TirConstructs::Realize(TirParser& p, TirArgs& args, Value&) {
  const Value* v[3];
  std::string_view scope;
  if (!p.Bind(args, "T.realize", {"buffer_slice", "storage_scope", "condition"}, 2, v) || !p.ToString(*v[1], scope))
    return false;
  const tir::BufferRegion* region = p.ToRegion(*v[0]);
  const PrimExpr* condition = region && v[2] ? p.ToBool(*v[2]) : p.True(args.span);
  if (!region || !condition) return false;
  auto* realize = p.ws_.New<tir::BufferRealize>(region->buffer, region->region, condition, nullptr);
  realize->set_span(args.span);
  auto* attr = p.ws_.New<tir::AttrStmt>(region->buffer, "realize_scope", p.ToPrim(*v[1]), realize);
  attr->set_span(args.span);
  p.build_.Open(attr, &realize->body);
  return true;
}

bool TirConstructs::While(TirParser& p, TirArgs& args, Value&) {
  const Value* v[1];
  if (!p.Bind(args, "T.While", {"condition"}, 1, v)) return false;
  const PrimExpr* condition = p.ToCondition(*v[0]);
  if (condition) p.build_.Open<tir::While>(args.span, condition, nullptr);
  return condition != nullptr;
}

bool TirConstructs::If(TirParser& p, TirArgs& args, Value&) {
  const Value* v[1];
  if (!p.Bind(args, "T.If", {"condition"}, 1, v)) return false;
  const PrimExpr* condition = p.ToCondition(*v[0]);
  if (!condition) return false;
  p.build_.OpenIf(condition, args.span);
  return true;
}

template <bool Else>
bool TirConstructs::Branch(TirParser& p, TirArgs& args, Value&) {
  const std::string_view what = Else ? "T.Else" : "T.Then";
  if (!p.CountArgs(args, what, 0, 0)) return false;
  const auto branches = p.build_.open_if();
  if (!branches) return p.Error(args.span, "bad-block", fmt::format("{} stands directly in T.If", what));
  if (Else ? branches->else_case || !branches->then_case : branches->then_case) {
    return p.Error(args.span, "bad-block", Else ? "T.Else comes once, after T.Then" : "T.If has a T.Then already");
  }
  p.build_.OpenBranch(Else);
  return true;
}

// ---- Others

bool TirConstructs::Evaluate(TirParser& p, TirArgs& args, Value&) {
  const Value* v[1];
  if (!p.Bind(args, "T.evaluate", {"value"}, 1, v)) return false;
  const PrimExpr* e = p.ToPrim(*v[0]);
  if (!e) return false;
  auto* stmt = p.ws_.New<tir::Evaluate>(e);
  stmt->set_span(args.span);
  p.build_.Emit(stmt);
  return true;
}

bool TirConstructs::FuncAttr(TirParser& p, TirArgs& args, Value&) {
  const Value* v[1];
  if (!p.Bind(args, "T.func_attr", {"attrs"}, 1, v)) return false;
  const DictAttr* attrs = p.ToDict(v[0]);
  if (!attrs) return false;
  if (p.build_.block() || !p.build_.directly_inside())
    return p.Error(args.span, "bad-block", "T.func_attr stands directly in the function");
  for (uint32_t i = 0; i < attrs->size(); ++i) {
    if (p.func_attrs_->Find(attrs->keys[i])) {
      return p.Error(args.span, "duplicate-attribute",
                     fmt::format("the function has an attribute \"{}\" already", attrs->keys[i]));
    }
    p.func_attrs_ = p.func_attrs_->With(attrs->keys[i], attrs->values[i]);
  }
  return true;
}

// A name that stands for the value itself.
bool TirConstructs::MetaVar(TirParser& p, TirArgs& args, Value& result) {
  const Value* v[1];
  if (!p.Bind(args, "T.meta_var", {"value"}, 1, v)) return false;
  result = *v[0];
  p.meta_ = true;
  return true;
}

bool TirConstructs::BufferStore(TirParser& p, TirArgs& args, Value&) {
  const Value* v[4];
  std::vector<const PrimExpr*> indices;
  if (!p.Bind(args, "T.buffer_store", {"buffer", "value", "indices", "predicate"}, 3, v) || !p.ToPrims(*v[2], indices))
    return false;
  if (!v[0]->is(Kind::kBuffer)) return p.WrongValue(*v[0], "a buffer");
  const tir::Stmt* store = p.MakeStore(v[0]->buffer, indices, *v[1], v[3], args.span);
  if (store) p.build_.Emit(store);
  return store != nullptr;
}

// ---- The table, in the order of the names' bytes

std::span<const TirConstructs::Entry> TirConstructs::Table() {
  using tir::IterVarType;
  static constexpr Entry kTable[] = {
      {"Assert", Assert},
      {"Bind", LetStmt},
      {"Else", Branch<true>},
      {"If", If},
      {"LetStmt", LetStmt},
      {"Then", Branch<false>},
      {"While", While},
      {"alloc_buffer", AllocBuffer<false>},
      {"allocate", Allocate},
      {"allocate_const", AllocateConst},
      {"attr", AttrStmt},
      {"axis.R", Axis<IterVarType::kCommReduce>},
      {"axis.S", Axis<IterVarType::kDataPar>},
      {"axis.opaque", Axis<IterVarType::kOpaque>},
      {"axis.reduce", Axis<IterVarType::kCommReduce>},
      {"axis.remap", Remap},
      {"axis.scan", Axis<IterVarType::kOrdered>},
      {"axis.spatial", Axis<IterVarType::kDataPar>},
      {"bind", LetStmt},
      {"block", OpenBlock},
      {"block_attr", BlockAttr<false>},
      {"buffer_store", BufferStore},
      {"decl_buffer", DeclBuffer},
      {"env_thread", EnvThread},
      {"evaluate", Evaluate},
      {"func_attr", FuncAttr},
      {"init", Init},
      {"launch_thread", LaunchThread},
      {"let", OldLet},
      {"match_buffer", MatchBuffer},
      {"meta_var", MetaVar},
      {"reads", Regions<false>},
      {"realize", Realize},
      {"sblock", OpenBlock},
      {"sblock_alloc_buffer", AllocBuffer<true>},
      {"sblock_attr", BlockAttr<true>},
      {"where", Where},
      {"writes", Regions<true>},
  };
  static_assert(std::is_sorted(std::begin(kTable), std::end(kTable),
                               [](const Entry& a, const Entry& b) { return a.name < b.name; }));
  return kTable;
}

TirConstructs::Read TirConstructs::Find(std::string_view name) {
  const std::span<const Entry> table = Table();
  const auto it =
      std::lower_bound(table.begin(), table.end(), name, [](const Entry& e, std::string_view n) { return e.name < n; });
  return it != table.end() && it->name == name ? it->read : nullptr;
}

std::vector<std::string_view> TirConstructNames() {
  std::vector<std::string_view> names{"grid", "parallel", "serial", "thread_binding", "unroll", "vectorized"};
  for (const TirConstructs::Entry& e : TirConstructs::Table()) names.push_back(e.name);
  return names;
}

}  // namespace iropt::text
