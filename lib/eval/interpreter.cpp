#include "interpreter.h"

#include <fmt/format.h>

#include <algorithm>

#include "iropt/eval/element.h"
#include "iropt/support/stack.h"

namespace iropt::eval {

namespace {

// Of an element of a buffer, which may be a vector.
uint64_t ElementBytes(DataType dtype) {
  return static_cast<uint64_t>(dtype.with_lanes(1).bytes()) * static_cast<uint64_t>(dtype.lanes);
}

}  // namespace

// Owns the memory of an allocation, and forgets it (with its pointer variable) when the allocating statement is done.
class Interpreter::MemoryScope {
 public:
  MemoryScope(Interpreter& interpreter, const tir::Var* data) : interpreter_(interpreter), data_(data) {}
  MemoryScope(const MemoryScope&) = delete;
  MemoryScope& operator=(const MemoryScope&) = delete;
  ~MemoryScope() { interpreter_.SetMemory(data_, {}); }

  bool Allocate(int64_t elements, DataType dtype) {
    Memory memory;
    owned_ = interpreter_.NewMemory(elements, dtype, &memory);
    if (!owned_) return false;
    interpreter_.SetMemory(data_, memory);
    return true;
  }

 private:
  Interpreter& interpreter_;
  const tir::Var* data_;
  std::unique_ptr<std::byte[]> owned_;
};

bool Interpreter::Step() {
  if (work_left_ == 0) return Fail(fmt::format("takes more than {} steps", limits_.max_work), ErrorCode::Budget);
  --work_left_;
  return true;
}

Interpreter::Memory* Interpreter::MemoryOf(const tir::Var* data) {
  return data->id < memories_.size() && memories_[data->id].data ? &memories_[data->id] : nullptr;
}

void Interpreter::SetMemory(const tir::Var* data, Memory memory) {
  if (data->id >= memories_.size()) memories_.resize(data->id + size_t{1});
  memories_[data->id] = memory;
}

std::unique_ptr<std::byte[]> Interpreter::NewMemory(int64_t elements, DataType dtype, Memory* memory) {
  uint64_t bytes = 0;
  if (dtype.lanes < 1 || !IsElementType(dtype.with_lanes(1)) || elements < 0) {
    Fail(fmt::format("cannot allocate {} elements of {}", elements, dtype.ToString()));
    return nullptr;
  }
  if (__builtin_mul_overflow(static_cast<uint64_t>(elements), ElementBytes(dtype), &bytes) ||
      bytes > limits_.max_bytes || bytes > INT64_MAX / 2) {
    Fail(fmt::format("a buffer of {} elements is over the limit of {} bytes", elements, limits_.max_bytes),
         ErrorCode::Budget);
    return nullptr;
  }
  // The second half are the marks.
  auto owned = std::make_unique<std::byte[]>(std::max<uint64_t>(2 * bytes, 1));
  *memory = {owned.get(), owned.get(), static_cast<int64_t>(bytes), owned.get() + bytes};
  return owned;
}

bool Interpreter::EvalInts(List<const PrimExpr*> exprs, std::vector<int64_t>* values) {
  values->resize(exprs.size());
  for (size_t i = 0; i < exprs.size(); ++i) {
    if (!EvalInt(exprs[i], &(*values)[i])) return false;
  }
  return true;
}

// ---- Buffers

bool Interpreter::Match(const PrimExpr* expr, int64_t actual, std::string_view what) {
  if (const auto* var = As<tir::Var>(expr); var && !env().Find(var)) {
    env().Bind(var, Scalar::Int(actual, var->dtype));
    return true;
  }
  int64_t expected = 0;
  if (!EvalInt(expr, &expected)) return false;
  return expected == actual || Fail(fmt::format("{} is {} where {} is expected", what, actual, expected));
}

bool Interpreter::DeclareAs(const tir::Buffer& buffer, std::span<const int64_t> shape, std::span<const int64_t> strides,
                            int64_t offset) {
  if (shape.size() != buffer.shape.size()) return Fail(fmt::format("buffer '{}' has another rank", buffer.name));
  // Dimensions that are variables first: others may be computed from them.
  for (const bool variables : {true, false}) {
    for (size_t i = 0; i < shape.size(); ++i) {
      if (Is<tir::Var>(buffer.shape[i]) != variables) continue;
      if (!Match(buffer.shape[i], shape[i], fmt::format("dimension {} of buffer '{}'", i, buffer.name))) return false;
    }
  }
  for (size_t i = 0; i < buffer.strides.size(); ++i) {
    if (!Match(buffer.strides[i], strides[i], fmt::format("stride {} of buffer '{}'", i, buffer.name))) return false;
  }
  if (Is<tir::Var>(buffer.elem_offset) && !Match(buffer.elem_offset, offset, "the offset of a buffer")) return false;
  if (buffer.id >= views_.size()) views_.resize(buffer.id + size_t{1});
  views_[buffer.id] = {true, offset, {shape.begin(), shape.end()}, {strides.begin(), strides.end()}};
  return true;
}

namespace {

// False where the product overflows.
bool RowMajor(std::span<const int64_t> shape, std::vector<int64_t>* strides) {
  strides->resize(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    (*strides)[i] = stride;
    if (shape[i] < 0 || __builtin_mul_overflow(stride, std::max<int64_t>(shape[i], 1), &stride)) return false;
  }
  return true;
}

}  // namespace

bool Interpreter::ResolveView(const tir::Buffer& buffer, View* view) {
  view->known = true;
  if (buffer.elem_offset && !EvalInt(buffer.elem_offset, &view->offset)) return false;
  if (!EvalInts(buffer.shape, &view->shape)) return false;
  if (!buffer.strides.empty()) return EvalInts(buffer.strides, &view->strides);
  return RowMajor(view->shape, &view->strides) ||
         Fail(fmt::format("the shape of buffer '{}' is out of range", buffer.name));
}

bool Interpreter::Declare(const tir::Buffer& buffer) {
  View view;
  if (!ResolveView(buffer, &view)) return false;
  if (buffer.id >= views_.size()) views_.resize(buffer.id + size_t{1});
  views_[buffer.id] = std::move(view);
  return true;
}

bool Interpreter::BindParam(const tir::Buffer& buffer, const NDArray& tensor, std::byte* writable) {
  if (buffer.dtype != tensor.dtype()) {
    return Fail(fmt::format("buffer '{}' is of {}, its argument of {}", buffer.name, buffer.dtype.ToString(),
                            tensor.dtype().ToString()));
  }
  std::vector<int64_t> strides;
  if (!RowMajor(tensor.shape(), &strides)) return Fail("the shape of an argument is out of range");
  static constexpr std::byte kNothing{};
  const std::byte* data = tensor.data() ? tensor.data() : &kNothing;
  std::byte* marks = nullptr;
  if (writable) {
    marks_.push_back(std::make_unique<std::byte[]>(std::max<size_t>(tensor.num_bytes(), 1)));
    marks = marks_.back().get();
  }
  SetMemory(buffer.data, {data, writable, static_cast<int64_t>(tensor.num_bytes()), marks});
  return DeclareAs(buffer, tensor.shape(), strides, 0);
}

bool Interpreter::IsFilled(const tir::Buffer& buffer) {
  const Memory* memory = MemoryOf(buffer.data);
  return memory && std::all_of(memory->written, memory->written + memory->bytes,
                               [](std::byte mark) { return mark != std::byte{0}; });
}

const std::byte* Interpreter::Address(const tir::Buffer& buffer, List<const PrimExpr*> indices, int lane,
                                      Memory** memory) {
  *memory = MemoryOf(buffer.data);
  if (!*memory || buffer.dtype.lanes < 1 || !IsElementType(buffer.dtype.with_lanes(1)))
    return Fail(fmt::format("buffer '{}' has no memory", buffer.name)), nullptr;
  // A buffer that no statement declares is a view whose shape may change from one access to the next.
  View undeclared;
  // (Indices may load, but they declare nothing, so that the pointer stays valid.)
  const View* view = buffer.id < views_.size() && views_[buffer.id].known ? &views_[buffer.id] : &undeclared;
  if (view == &undeclared && !ResolveView(buffer, &undeclared)) return nullptr;
  if (indices.size() != view->shape.size())
    return Fail(fmt::format("buffer '{}' is indexed with another rank", buffer.name)), nullptr;
  // Of an element that is a vector, all lanes are at one index.
  const int width = buffer.dtype.lanes;
  int64_t at = view->offset;
  for (size_t i = 0; i < indices.size(); ++i) {
    int64_t index = 0;
    if (!EvalInt(indices[i], &index, lane / width)) return nullptr;
    if (index < 0 || index >= view->shape[i]) {
      return Fail(fmt::format("index {} is out of range for dimension {} of buffer '{}'", index, i, buffer.name)),
             nullptr;
    }
    at = WrapAdd(at, WrapMul(index, view->strides[i]));
  }
  const int64_t size = static_cast<int64_t>(ElementBytes(buffer.dtype));
  if (at < 0 || at >= (*memory)->bytes / size)
    return Fail(fmt::format("an access to buffer '{}' is out of range", buffer.name)), nullptr;
  return (*memory)->data + at * size + lane % width * (size / width);
}

bool Interpreter::Load(const tir::BufferLoad& load, int lane, Scalar* result) {
  if (load.predicate) {
    bool active = false;
    if (!EvalBool(load.predicate, &active, lane)) return false;
    if (!active) return CastScalar(Scalar::Int(0), load.buffer->dtype.with_lanes(1), result);
  }
  Memory* memory = nullptr;
  const std::byte* place = Address(*load.buffer, load.indices, lane, &memory);
  if (!place) return false;
  const DataType dtype = load.buffer->dtype.with_lanes(1);
  if (memory->written) {
    const std::byte* marks = memory->written + (place - memory->data);
    if (std::any_of(marks, marks + dtype.bytes(), [](std::byte mark) { return mark == std::byte{0}; }))
      return Fail(fmt::format("an element of buffer '{}' is read before it has a value", load.buffer->name));
  }
  *result = LoadScalar(dtype, place);
  return true;
}

bool Interpreter::StoreLane(const tir::BufferStore& store, int lane, const Scalar& value) {
  bool active = true;
  if (store.predicate && !EvalBool(store.predicate, &active, lane)) return false;
  if (!active) return true;
  Scalar converted;
  if (!CastScalar(value, store.buffer->dtype.with_lanes(1), &converted)) return Fail("a value does not fit its buffer");
  Memory* memory = nullptr;
  const std::byte* place = Address(*store.buffer, store.indices, lane, &memory);
  if (!place) return false;
  if (!memory->writable)
    return Fail(fmt::format("buffer '{}' is an input and must not be written", store.buffer->name));
  const int64_t offset = place - memory->data;
  StoreScalar(converted, memory->writable + offset);
  std::fill_n(memory->written + offset, converted.dtype.bytes(), std::byte{1});
  return true;
}

bool Interpreter::ExecStore(const tir::BufferStore& store) {
  const int lanes = store.value->dtype.lanes;
  if (lanes < 1) return Fail("a vector of unknown length is stored");
  if (lanes == 1) {
    Scalar value;
    return Eval(store.value, &value) && StoreLane(store, 0, value);
  }
  // All lanes are computed before any is stored: they may be loaded from the same buffer.
  std::vector<Scalar> values(static_cast<size_t>(lanes));
  for (int lane = 0; lane < lanes; ++lane) {
    if (!Eval(store.value, &values[static_cast<size_t>(lane)], lane)) return false;
  }
  for (int lane = 0; lane < lanes; ++lane) {
    if (!StoreLane(store, lane, values[static_cast<size_t>(lane)])) return false;
  }
  return true;
}

bool Interpreter::MatchBuffer(const tir::MatchBufferRegion& match) {
  const tir::BufferRegion& source = *match.source;
  View view;
  const bool declared = source.buffer->id < views_.size() && views_[source.buffer->id].known;
  if (declared) {
    view = views_[source.buffer->id];
  } else if (!ResolveView(*source.buffer, &view)) {
    return false;
  }
  Memory* memory = MemoryOf(source.buffer->data);
  if (!memory || source.region.size() != view.shape.size()) return Fail("a matched region does not fit its buffer");
  int64_t offset = view.offset;
  std::vector<int64_t> extents;
  for (size_t i = 0; i < source.region.size(); ++i) {
    int64_t min = 0;
    int64_t extent = 0;
    if (!EvalInt(source.region[i]->min, &min) || !EvalInt(source.region[i]->extent, &extent)) return false;
    if (min < 0 || extent < 0 || min > view.shape[i] || extent > view.shape[i] - min)
      return Fail("a matched region is out of range");
    offset += min * view.strides[i];
    extents.push_back(extent);
  }
  // The matched buffer may leave out leading dimensions of extent 1.
  const size_t rank = match.buffer->shape.size();
  const size_t extra = extents.size() - std::min(rank, extents.size());
  if (rank > extents.size() ||
      std::any_of(extents.begin(), extents.begin() + static_cast<int64_t>(extra), [](int64_t e) { return e != 1; })) {
    return Fail("a matched region does not fit its buffer");
  }
  SetMemory(match.buffer->data, *memory);
  return DeclareAs(*match.buffer, std::span(extents).subspan(extra), std::span(view.strides).subspan(extra), offset);
}

// ---- Statements

// T.ret unwinds as an error does, without being one.
bool Interpreter::Run(const tir::Stmt* body) { return Exec(body) || (returned_ && !failed()); }

bool Interpreter::Exec(const tir::Stmt* stmt) {
  return WithStack([&] { return Step() && ExecNode(stmt); });
}

bool Interpreter::ExecNode(const tir::Stmt* stmt) {
  switch (stmt->kind) {
    case NodeKind::kLetStmt: return ExecLet(*To<tir::LetStmt>(stmt));
    case NodeKind::kAttrStmt: return ExecAttr(*To<tir::AttrStmt>(stmt));
    case NodeKind::kAssertStmt: return ExecAssert(*To<tir::AssertStmt>(stmt));
    case NodeKind::kBufferStore: return ExecStore(*To<tir::BufferStore>(stmt));
    case NodeKind::kAllocate: return ExecAllocate(*To<tir::Allocate>(stmt));
    case NodeKind::kAllocateConst: return ExecAllocateConst(*To<tir::AllocateConst>(stmt));
    case NodeKind::kDeclBuffer: {
      const auto* declaration = To<tir::DeclBuffer>(stmt);
      return Declare(*declaration->buffer) && Exec(declaration->body);
    }
    case NodeKind::kSeqStmt: return ExecSeq(*To<tir::SeqStmt>(stmt));
    case NodeKind::kIfThenElse: return ExecIf(*To<tir::IfThenElse>(stmt));
    case NodeKind::kEvaluate: return ExecEvaluate(*To<tir::Evaluate>(stmt));
    case NodeKind::kFor: return ExecFor(*To<tir::For>(stmt));
    case NodeKind::kWhile: return ExecWhile(*To<tir::While>(stmt));
    case NodeKind::kBlockRealize: return ExecBlockRealize(*To<tir::BlockRealize>(stmt));
    case NodeKind::kBlockStmt: return ExecBlock(*To<tir::Block>(stmt));
    default: return Fail(fmt::format("cannot run {}", NodeKindName(stmt->kind)));
  }
}

bool Interpreter::ExecSeq(const tir::SeqStmt& seq) {
  return std::all_of(seq.seq.begin(), seq.seq.end(), [&](const tir::Stmt* stmt) { return Exec(stmt); });
}

bool Interpreter::ExecLet(const tir::LetStmt& let) {
  if (let.var->dtype.is_handle()) return Fail("pointers as values are not supported");
  if (!BindLet(let.var, let.value)) return false;
  const bool done = Exec(let.body);
  UnbindLet(let.var);
  return done;
}

bool Interpreter::ExecAttr(const tir::AttrStmt& attr) {
  if (attr.attr_key == "thread_extent" || attr.attr_key == "virtual_thread") {
    const auto* axis = As<tir::IterVar>(attr.node);
    int64_t extent = 0;
    if (!axis || !EvalInt(attr.value, &extent)) return Fail("a thread axis is expected");
    // The same axis may be bound again within; it keeps its value.
    if (env().Find(axis->var)) return Exec(attr.body);
    return ExecLoop(axis->var, 0, extent, attr.body);
  }
  // The others that change what is computed have no place in a function of plain buffers; pragmas are hints.
  if (attr.attr_key.starts_with("pragma_") || attr.attr_key == "storage_alignment" || attr.attr_key == "storage_scope")
    return Exec(attr.body);
  return Fail(fmt::format("the attribute '{}' is not supported", attr.attr_key));
}

bool Interpreter::ExecAssert(const tir::AssertStmt& assertion) {
  bool holds = false;
  if (!EvalBool(assertion.condition, &holds)) return false;
  if (!holds) {
    const auto* message = As<tir::StringImm>(assertion.message);
    return Fail(fmt::format("an assertion fails: {}", message ? message->value : "no message"));
  }
  return Exec(assertion.body);
}

namespace {

// False where the product overflows.
bool CountElements(std::span<const int64_t> extents, int64_t* count) {
  *count = 1;
  return std::ranges::all_of(
      extents, [&](int64_t extent) { return extent >= 0 && !__builtin_mul_overflow(*count, extent, count); });
}

}  // namespace

bool Interpreter::ExecAllocate(const tir::Allocate& allocate) {
  std::vector<int64_t> extents;
  int64_t count = 0;
  if (!EvalInts(allocate.extents, &extents)) return false;
  if (!CountElements(extents, &count)) return Fail("an allocation is out of range");
  MemoryScope scope(*this, allocate.buffer_var);
  return scope.Allocate(count, allocate.dtype) && Exec(allocate.body);
}

bool Interpreter::ExecAllocateConst(const tir::AllocateConst& allocate) {
  if (!allocate.data) return Fail("a constant without data cannot be read");
  SetMemory(allocate.buffer_var, {allocate.data->data(), nullptr, static_cast<int64_t>(allocate.data->num_bytes())});
  return Exec(allocate.body);
}

bool Interpreter::ExecIf(const tir::IfThenElse& branch) {
  bool value = false;
  if (!EvalBool(branch.condition, &value)) return false;
  const tir::Stmt* taken = value ? branch.then_case : branch.else_case;
  return !taken || Exec(taken);
}

bool Interpreter::ExecFor(const tir::For& loop) {
  int64_t min = 0;
  int64_t extent = 0;
  return EvalInt(loop.min, &min) && EvalInt(loop.extent, &extent) && ExecLoop(loop.loop_var, min, extent, loop.body);
}

bool Interpreter::ExecLoop(const tir::Var* var, int64_t min, int64_t extent, const tir::Stmt* body) {
  for (int64_t i = 0; i < extent; ++i) {
    env().Bind(var, Scalar::Int(WrapAdd(min, i), var->dtype));
    if (!Exec(body)) return false;
  }
  env().Unbind(var);
  return true;
}

bool Interpreter::ExecWhile(const tir::While& loop) {
  for (;;) {
    bool value = false;
    if (!EvalBool(loop.condition, &value)) return false;
    if (!value) return true;
    if (!Exec(loop.body)) return false;
  }
}

bool Interpreter::ExecBlockRealize(const tir::BlockRealize& realize) {
  const tir::Block& block = *realize.block;
  if (realize.iter_values.size() != block.iter_vars.size())
    return Fail("a block has another number of axes than values");
  bool active = false;
  if (!EvalBool(realize.predicate, &active)) return false;
  if (!active) return true;
  // All values are computed before the first is bound: they belong to the scope outside.
  const size_t base = axis_values_.size();
  for (const PrimExpr* expr : realize.iter_values) {
    int64_t value = 0;
    if (!EvalInt(expr, &value)) return false;
    axis_values_.push_back(value);
  }
  for (size_t i = 0; i < block.iter_vars.size(); ++i) {
    const tir::Var* var = block.iter_vars[i]->var;
    env().Bind(var, Scalar::Int(axis_values_[base + i], var->dtype));
  }
  axis_values_.resize(base);
  return ExecBlock(block);
}

bool Interpreter::ExecBlock(const tir::Block& block) {
  std::vector<std::unique_ptr<MemoryScope>> scopes;
  for (const tir::Buffer* buffer : block.alloc_buffers) {
    if (!Declare(*buffer)) return false;
    int64_t count = 0;
    if (!CountElements(views_[buffer->id].shape, &count)) return Fail("an allocation is out of range");
    scopes.push_back(std::make_unique<MemoryScope>(*this, buffer->data));
    if (!scopes.back()->Allocate(count, buffer->dtype)) return false;
  }
  for (const tir::MatchBufferRegion* match : block.match_buffers) {
    // The variables of the match belong to this run of the block.
    for (const auto& exprs : {match->buffer->shape, match->buffer->strides}) {
      for (const PrimExpr* expr : exprs) {
        if (const auto* var = As<tir::Var>(expr)) env().Unbind(var);
      }
    }
    if (const auto* var = As<tir::Var>(match->buffer->elem_offset)) env().Unbind(var);
    if (!MatchBuffer(*match)) return false;
  }
  bool first = false;
  if (block.init && (!AtFirstReduction(block, &first) || (first && !Exec(block.init)))) return false;
  return Exec(block.body);
}

// Whether every reduction axis has its first value, which is when a block initializes what it reduces into.
bool Interpreter::AtFirstReduction(const tir::Block& block, bool* first) {
  *first = true;
  for (const tir::IterVar* axis : block.iter_vars) {
    if (axis->iter_type != tir::IterVarType::kCommReduce) continue;
    const Scalar* value = env().Find(axis->var);
    int64_t min = 0;
    if (!value || !EvalInt(axis->dom->min, &min)) return Fail(fmt::format("axis '{}' has no value", axis->var->name));
    *first = *first && value->integer == min;
  }
  return true;
}

// For its effects: scalars have none, and T.ret ends the function.
bool Interpreter::ExecEvaluate(const tir::Evaluate& evaluate) {
  const auto* call = As<tir::Call>(evaluate.value);
  const auto* op = call ? As<Op>(call->op) : nullptr;
  if (op && op->name == "tir.ret") {
    returned_ = true;
    return false;
  }
  Scalar ignored;
  return Eval(evaluate.value, &ignored);
}

}  // namespace iropt::eval
