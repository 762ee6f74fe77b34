#include "any_prim_func.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "any_expr.h"
#include "iropt/ir/context.h"
#include "iropt/ir/ndarray.h"
#include "iropt/ir/tir/builder.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"

namespace iropt::generate {

namespace {

class FuncMaker {
 public:
  explicit FuncMaker(Choices& choices) : choices_(choices), exprs_(choices, workspace_) {}

  void AddTo(Module& module, std::string_view name) {
    const PrimFunc* func = Make(name);
    module.Set(GlobalVar::Get(name), func, workspace_.Finish());
  }

 private:
  using Exprs = std::vector<const PrimExpr*>;

  const arith::PrimBuilder& make() const { return exprs_.make(); }
  Scope& scope() { return exprs_.scope(); }
  template <class T>
  List<T> Copy(const std::vector<T>& items) {
    return workspace_.Copy(items);
  }
  template <class T, class... A>
  const T* New(A&&... args) {
    return workspace_.New<T>(std::forward<A>(args)...);
  }
  const PrimExpr* Int32(int64_t value) { return make().Int(value, DataType::Int(32)); }
  const PrimExpr* True() { return make().Bool(true); }

  // ---- The function

  const PrimFunc* Make(std::string_view name) {
    std::vector<const tir::Var*> params;
    std::vector<const tir::Buffer*> buffers;
    for (int i = choices_.Below(4); i > 0; --i) {
      const int kind = choices_.Below(4);
      if (kind == 0) {
        params.push_back(exprs_.NewVar(exprs_.ScalarType()));
        scope().vars.push_back(params.back());
        buffers.push_back(nullptr);
        continue;
      }
      params.push_back(workspace_.NewPrimVar(exprs_.Name("p"), DataType::Handle(), kind == 1 ? Pointer() : nullptr));
      buffers.push_back(kind == 1 ? nullptr : NewBuffer("A", true));
      if (buffers.back()) {
        scope().buffers.push_back(buffers.back());
      } else {
        scope().pointers.push_back(params.back());
      }
    }
    const DictAttr* attrs = choices_.OneIn(3) ? Annotations() : DictAttr::Empty();
    if (!choices_.OneIn(3)) attrs = attrs->With(attr::kGlobalSymbol, StrAttr::Get(name));
    const Type* ret = TupleType::Get({});
    // Only functions with a root block have blocks.
    has_blocks_ = choices_.OneIn(2);
    const tir::Stmt* body = has_blocks_ ? Root() : Sequence(3);
    if (!has_blocks_ && choices_.OneIn(4)) {
      const DataType dtype = DataType::Int(32);
      ret = PrimType::Get(dtype);
      const Exprs value = {exprs_.Make(dtype, 2)};
      const PrimExpr* call = make().Keep(tir::Call(dtype, GetOp(op::kTirRet), make().Operands(value)));
      body = Seq({body, New<tir::Evaluate>(call)});
    }
    return New<PrimFunc>(Copy(params), Copy(buffers), body, ret, attrs, nullptr);
  }

  // The block that functions of the newer scheduler begin with.
  const tir::Stmt* Root() {
    const tir::Block* root = NewBlock("root", false);
    return New<tir::BlockRealize>(List<const PrimExpr*>(), True(), root);
  }

  // ---- Parts

  const tir::PointerInfo* Pointer() {
    static constexpr std::string_view kScopes[] = {"", "global", "shared", "local"};
    return tir::PointerInfo::Get(exprs_.ScalarType(), choices_.Pick(kScopes));
  }

  // With `may_introduce`, dimensions, strides and the offset may be variables that the buffer defines.
  const tir::Buffer* NewBuffer(std::string_view hint, bool may_introduce, const tir::Var* data = nullptr) {
    tir::BufferSpec spec;
    spec.dtype = exprs_.ScalarType();
    spec.data = data;
    const DataType index = exprs_.IndexType();
    const auto introduce = [&](std::string_view name) {
      const tir::Var* var = workspace_.NewPrimVar(exprs_.Name(name), index);
      scope().vars.push_back(var);
      return var;
    };
    for (int i = choices_.Below(4); i > 0; --i) {
      const bool is_var = may_introduce && choices_.OneIn(4);
      spec.shape.push_back(is_var ? introduce("n") : make().Int(1 + choices_.Below(16), index));
    }
    if (choices_.OneIn(4)) {
      for (size_t i = 0; i < spec.shape.size(); ++i) {
        const bool is_var = may_introduce && choices_.OneIn(2);
        spec.strides.push_back(is_var ? introduce("s") : make().Int(1 + choices_.Below(16), index));
      }
    }
    if (choices_.OneIn(5)) spec.elem_offset = may_introduce ? introduce("offset") : make().Int(16, index);
    if (choices_.OneIn(4)) spec.offset_factor = 1 << choices_.Below(5);
    if (choices_.OneIn(5)) spec.align = 1 << (4 + choices_.Below(5));
    spec.auto_broadcast = may_introduce && choices_.OneIn(8);
    if (spec.shape.size() > 1 && choices_.OneIn(8)) spec.axis_separators = {1};
    if (!data && choices_.OneIn(3)) spec.scope = choices_.OneIn(2) ? "shared" : "local";
    return tir::MakeBuffer(workspace_, spec, exprs_.Name(hint));
  }

  const Attr* Value(int depth) {
    switch (choices_.Below(depth > 0 ? 8 : 5)) {
      case 0: return IntAttr::Get(choices_.Below(100) - 50);
      case 1: return IntAttr::Bool(choices_.OneIn(2));
      case 2: return StrAttr::Get(choices_.OneIn(2) ? "a string" : "\xc3\xa4 \\ \"quoted\"\t");
      case 3: return FloatAttr::Get(0.25, DataType::Float(32));
      case 4: return NoneAttr::Get();
      case 5: {
        std::vector<const Attr*> items;
        for (int i = choices_.Below(3); i > 0; --i) items.push_back(Value(depth - 1));
        return ListAttr::Get(items);
      }
      case 6: return Annotations(depth - 1);
      default: return IntAttr::Get(1);
    }
  }

  const DictAttr* Annotations(int depth = 2) {
    const DictAttr* attrs = DictAttr::Empty();
    static constexpr std::string_view kKeys[] = {"tir.noalias", "pragma_x", "software_pipeline_stage",
                                                 "with \"quotes\""};
    for (int i = 1 + choices_.Below(2); i > 0; --i) attrs = attrs->With(choices_.Pick(kKeys), Value(depth));
    return attrs;
  }

  const tir::Buffer* AnyBuffer() { return scope().buffers.empty() ? nullptr : choices_.Pick(scope().buffers); }

  // ---- Statements

  static void Flatten(const tir::Stmt* stmt, std::vector<const tir::Stmt*>& flat) {
    if (const auto* seq = As<tir::SeqStmt>(stmt)) {
      flat.insert(flat.end(), seq->seq.begin(), seq->seq.end());
    } else {
      flat.push_back(stmt);
    }
  }
  const tir::Stmt* Seq(const std::vector<const tir::Stmt*>& stmts) {
    std::vector<const tir::Stmt*> flat;
    for (const tir::Stmt* stmt : stmts) Flatten(stmt, flat);
    return flat.size() == 1 ? flat[0] : New<tir::SeqStmt>(Copy(flat));
  }

  const tir::Stmt* Sequence(int depth) {
    const Scope outer = scope();
    std::vector<const tir::Stmt*> stmts;
    for (int i = 1 + choices_.Below(3); i > 0; --i) stmts.push_back(Statement(depth - 1));
    scope() = outer;
    return Seq(stmts);
  }

  // A statement around a body in which also these names are defined.
  template <class Wrap>
  const tir::Stmt* Around(int depth, const Scope& more, Wrap wrap) {
    const Scope outer = scope();
    for (const tir::Var* var : more.vars) scope().vars.push_back(var);
    for (const tir::Var* var : more.pointers) scope().pointers.push_back(var);
    for (const tir::Buffer* buffer : more.buffers) scope().buffers.push_back(buffer);
    const tir::Stmt* body = Sequence(depth);
    scope() = outer;
    return wrap(body);
  }

  const tir::Stmt* Statement(int depth) {
    if (depth <= 0) return Simple();
    switch (choices_.Below(14)) {
      case 0: return Let(depth);
      case 1: return Attribute(depth);
      case 2: {
        const PrimExpr* condition = exprs_.Condition(2);
        const PrimExpr* message = make().Keep(tir::StringImm("it does not hold"));
        return Around(depth, {}, [&](const tir::Stmt* b) { return New<tir::AssertStmt>(condition, message, b); });
      }
      case 3: return Allocation(depth);
      case 4: return Constant(depth);
      case 5: {
        const PrimExpr* condition = exprs_.Condition(2);
        const tir::Stmt* then_case = Sequence(depth);
        return New<tir::IfThenElse>(condition, then_case, choices_.OneIn(2) ? Sequence(depth) : nullptr);
      }
      case 6: {
        const PrimExpr* condition = exprs_.Condition(2);
        return Around(depth, {}, [&](const tir::Stmt* b) { return New<tir::While>(condition, b); });
      }
      case 7:
      case 8:
      case 9: return Loop(depth);
      case 10:
      case 11: return has_blocks_ ? BlockStatement() : Simple();
      case 12: return Realize(depth);
      default: return Simple();
    }
  }

  const tir::Stmt* Simple() {
    const tir::Buffer* buffer = AnyBuffer();
    if (!buffer || choices_.OneIn(4)) return New<tir::Evaluate>(exprs_.Effect(2));
    if (choices_.OneIn(10)) {
      std::vector<const tir::Range*> bounds;
      for (size_t i = 0; i < buffer->shape.size(); ++i) bounds.push_back(exprs_.Range(1));
      return New<tir::Prefetch>(buffer, Copy(bounds));
    }
    Exprs indices = exprs_.Indices(*buffer, 2);
    DataType dtype = buffer->dtype;
    const PrimExpr* predicate = nullptr;
    if (!indices.empty() && choices_.OneIn(4)) {
      dtype = dtype.with_lanes(4);
      indices.back() = exprs_.IndexOf(DataType::Int(32, 4), 1);
      if (choices_.OneIn(3)) predicate = exprs_.Make(DataType::Bool().with_lanes(4), 1);
    }
    const PrimExpr* value = exprs_.Make(dtype, 3);
    return New<tir::BufferStore>(buffer, value, Copy(indices), predicate);
  }

  const tir::Stmt* Let(int depth) {
    if (choices_.OneIn(4) && AnyBuffer()) {
      const tir::Buffer* buffer = AnyBuffer();
      const auto* pointer = tir::PointerInfo::Get(buffer->dtype, buffer->scope());
      const tir::Var* var = workspace_.NewPrimVar(exprs_.Name("ptr"), DataType::Handle(), pointer);
      const Exprs indices = exprs_.Indices(*buffer, 1);
      const Exprs element = {make().Keep(tir::BufferLoad(buffer->dtype, buffer, make().Operands(indices)))};
      const PrimExpr* value =
          make().Keep(tir::Call(DataType::Handle(), GetOp(op::kTirAddressOf), make().Operands(element)));
      return Around(depth, {.vars = {}, .pointers = {var}, .buffers = {}},
                    [&](const tir::Stmt* b) { return New<tir::LetStmt>(var, value, b); });
    }
    const DataType dtype = exprs_.ScalarType();
    const PrimExpr* value = exprs_.Make(dtype, 3);
    const tir::Var* var = workspace_.NewPrimVar(exprs_.Name("v"), dtype);
    return Around(depth, {.vars = {var}, .pointers = {}, .buffers = {}},
                  [&](const tir::Stmt* b) { return New<tir::LetStmt>(var, value, b); });
  }

  const tir::Stmt* Attribute(int depth) {
    static constexpr std::string_view kTags[] = {"threadIdx.x", "blockIdx.y", "vthread", "vthread.x", "cthread"};
    if (choices_.OneIn(2)) {
      const DataType dtype = exprs_.IndexType();
      const tir::Var* var = workspace_.NewPrimVar(exprs_.Name("t"), dtype);
      const PrimExpr* extent = make().Int(1 + choices_.Below(8), dtype);
      const auto* dom = New<tir::Range>(make().Int(0, dtype), extent);
      const auto* axis = New<tir::IterVar>(dom, var, tir::IterVarType::kThreadIndex, choices_.Pick(kTags));
      const std::string_view key = choices_.OneIn(2) ? "thread_extent" : "virtual_thread";
      return Around(depth, {.vars = {var}, .pointers = {}, .buffers = {}},
                    [&](const tir::Stmt* b) { return New<tir::AttrStmt>(axis, key, extent, b); });
    }
    const Node* node = NoneAttr::Get();
    switch (choices_.Below(5)) {
      case 0: node = StrAttr::Get("device"); break;
      case 1: node = exprs_.Index(2); break;
      case 2: node = AnyBuffer() ? static_cast<const Node*>(AnyBuffer()) : node; break;
      case 3: node = exprs_.Reducer(DataType::Float(32)); break;
      default: break;
    }
    static constexpr std::string_view kKeys[] = {"pragma_unroll_explicit", "storage_alignment", "a key"};
    const std::string_view key = choices_.Pick(kKeys);
    const PrimExpr* value = choices_.OneIn(4) ? make().Keep(tir::StringImm("text")) : exprs_.Index(2);
    return Around(depth, {}, [&](const tir::Stmt* b) { return New<tir::AttrStmt>(node, key, value, b); });
  }

  const tir::Stmt* Allocation(int depth) {
    static constexpr std::string_view kScopes[] = {"global", "shared", "local"};
    const DataType dtype = exprs_.ScalarType();
    const auto* pointer = tir::PointerInfo::Get(dtype, choices_.Pick(kScopes));
    const tir::Var* var = workspace_.NewPrimVar(exprs_.Name("data"), DataType::Handle(), pointer);
    Exprs extents;
    for (int i = choices_.Below(3); i > 0; --i) extents.push_back(Int32(1 + choices_.Below(8)));
    const PrimExpr* condition = choices_.OneIn(4) ? exprs_.Condition(1) : True();
    const DictAttr* annotations = choices_.OneIn(4) ? Annotations() : DictAttr::Empty();
    tir::BufferSpec spec;
    spec.shape = choices_.OneIn(2) ? extents : Exprs{Int32(4)};
    spec.dtype = choices_.OneIn(4) ? exprs_.ScalarType() : dtype;
    spec.data = var;
    const tir::Buffer* buffer = tir::MakeBuffer(workspace_, spec, exprs_.Name("B"));
    const bool declares = choices_.OneIn(2);
    const Scope more = {.vars = {}, .pointers = {var}, .buffers = {buffer}};
    return Around(depth, more, [&](const tir::Stmt* b) {
      if (declares) b = New<tir::DeclBuffer>(buffer, b);
      return New<tir::Allocate>(var, dtype, Copy(extents), condition, annotations, b);
    });
  }

  const tir::Stmt* Constant(int depth) {
    const DataType dtype = choices_.OneIn(2) ? DataType::Int(32) : DataType::Float(32);
    std::shared_ptr<NDArray> data = NDArray::Make(dtype, {3});
    static constexpr std::array<float, 3> kFloats = {0.5F, -1, 3e8F};
    static constexpr std::array<int32_t, 3> kInts = {1, -2, 3};
    std::memcpy(data->mutable_data(), dtype.is_int() ? static_cast<const void*>(kInts.data()) : kFloats.data(), 12);
    workspace_.arena().Retain(std::shared_ptr<const NDArray>(data));
    const tir::Var* var = workspace_.NewPrimVar(exprs_.Name("c"), DataType::Handle(), tir::PointerInfo::Get(dtype));
    const Exprs extents = {Int32(3)};
    return Around(depth, {.vars = {}, .pointers = {var}, .buffers = {}}, [&](const tir::Stmt* b) {
      return New<tir::AllocateConst>(var, dtype, Copy(extents), data.get(), -1, DictAttr::Empty(), b);
    });
  }

  const tir::Stmt* Loop(int depth) {
    const DataType dtype = exprs_.IndexType();
    const auto kind = static_cast<tir::ForKind>(choices_.Below(5));
    const PrimExpr* min = choices_.OneIn(2) ? make().Int(0, dtype) : exprs_.IndexOf(dtype, 1);
    const PrimExpr* extent = exprs_.IndexOf(dtype, choices_.OneIn(2) ? 0 : 2);
    const tir::Var* var = workspace_.NewPrimVar(exprs_.Name("i"), dtype);
    loop_vars_.push_back(var);
    const tir::IterVar* thread = nullptr;
    const PrimExpr* step = nullptr;
    if (kind == tir::ForKind::kThreadBinding) {
      const tir::Var* axis = workspace_.NewPrimVar("iter", dtype);
      thread = New<tir::IterVar>(nullptr, axis, tir::IterVarType::kThreadIndex,
                                 choices_.OneIn(2) ? "threadIdx.x" : "vthread.y");
    } else if (choices_.OneIn(6)) {
      step = make().Int(2 + choices_.Below(3), dtype);
    }
    const DictAttr* annotations = choices_.OneIn(4) ? Annotations() : DictAttr::Empty();
    return Around(depth, {.vars = {var}, .pointers = {}, .buffers = {}}, [&](const tir::Stmt* b) {
      return New<tir::For>(var, min, extent, kind, b, thread, annotations, step);
    });
  }

  const tir::Stmt* Realize(int depth) {
    const tir::Buffer* buffer = NewBuffer("R", false);
    const tir::BufferRegion* region = exprs_.Region(*buffer, 2);
    const PrimExpr* condition = choices_.OneIn(3) ? exprs_.Condition(1) : True();
    return Around(depth, {.vars = {}, .pointers = {}, .buffers = {buffer}}, [&](const tir::Stmt* b) {
      const auto* realize = New<tir::BufferRealize>(buffer, region->region, condition, b);
      return New<tir::AttrStmt>(buffer, "realize_scope", make().Keep(tir::StringImm("shared")), realize);
    });
  }

  const tir::Stmt* BlockStatement() {
    Exprs values;
    std::vector<const tir::IterVar*> axes;
    static constexpr tir::IterVarType kTypes[] = {tir::IterVarType::kDataPar, tir::IterVarType::kCommReduce,
                                                  tir::IterVarType::kOrdered, tir::IterVarType::kOpaque};
    for (int i = choices_.Below(4); i > 0; --i) {
      const DataType dtype = exprs_.IndexType();
      const PrimExpr* min = choices_.OneIn(4) ? exprs_.IndexOf(dtype, 1) : make().Int(0, dtype);
      const PrimExpr* extent = choices_.OneIn(4) ? exprs_.IndexOf(dtype, 1) : make().Int(1 + choices_.Below(16), dtype);
      axes.push_back(New<tir::IterVar>(New<tir::Range>(min, extent), workspace_.NewPrimVar(exprs_.Name("v"), dtype),
                                       choices_.Pick(kTypes)));
      values.push_back(exprs_.Make(dtype, 1));
    }
    const PrimExpr* predicate = choices_.OneIn(4) ? exprs_.Condition(2) : True();
    const bool realizes = !choices_.OneIn(10);
    const tir::Block* block = NewBlock(exprs_.Name("block"), true, std::move(axes));
    if (!realizes) return block;
    return New<tir::BlockRealize>(Copy(values), predicate, block);
  }

  const tir::Block* NewBlock(std::string_view name, bool states_regions, std::vector<const tir::IterVar*> axes = {}) {
    const Scope outer = scope();
    // A block with axes uses these instead of the variables of loops.
    if (!axes.empty())
      std::erase_if(scope().vars,
                    [&](const tir::Var* v) { return std::ranges::find(loop_vars_, v) != loop_vars_.end(); });
    for (const tir::IterVar* axis : axes) scope().vars.push_back(axis->var);
    std::vector<const tir::BufferRegion*> reads;
    std::vector<const tir::BufferRegion*> writes;
    for (int i = states_regions ? choices_.Below(3) : 0; i > 0; --i) {
      if (const tir::Buffer* buffer = AnyBuffer())
        (choices_.OneIn(2) ? reads : writes).push_back(exprs_.Region(*buffer, 2));
    }
    std::vector<const tir::MatchBufferRegion*> matches;
    if (const tir::Buffer* source = AnyBuffer(); states_regions && source && choices_.OneIn(5)) {
      tir::BufferSpec spec;
      spec.dtype = source->dtype;
      for (size_t i = 0; i < source->shape.size(); ++i) spec.shape.push_back(Int32(2));
      spec.offset_factor = choices_.OneIn(2) ? 16 : 0;
      spec.scope = source->scope();
      const tir::Buffer* match = tir::MakeBuffer(workspace_, spec, exprs_.Name("M"));
      matches.push_back(New<tir::MatchBufferRegion>(match, exprs_.Region(*source, 1)));
      scope().buffers.push_back(match);
    }
    std::vector<const tir::Buffer*> allocs;
    for (int i = choices_.Below(3); i > 0; --i) {
      allocs.push_back(NewBuffer("T", false));
      scope().buffers.push_back(allocs.back());
    }
    const DictAttr* annotations = choices_.OneIn(4) && states_regions ? Annotations() : DictAttr::Empty();
    const tir::Stmt* init = choices_.OneIn(4) && states_regions ? Simple() : nullptr;
    const tir::Stmt* body = Sequence(2);
    scope() = outer;
    return New<tir::Block>(Copy(axes), Copy(reads), Copy(writes), name, Copy(allocs), Copy(matches), annotations, init,
                           body);
  }

  Choices& choices_;
  Workspace workspace_;
  ExprMaker exprs_;
  bool has_blocks_ = false;
  std::vector<const tir::Var*> loop_vars_;
};

}  // namespace

Module AnyPrimFuncs(Choices& choices) {
  Module module;
  const int count = 1 + choices.Below(3);
  for (int i = 0; i < count; ++i) FuncMaker(choices).AddTo(module, fmt::format("f{}", i));
  return module;
}

}  // namespace iropt::generate
