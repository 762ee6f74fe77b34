// Builds PrimFuncs statement by statement, as scripts are written: a statement with a body is opened, and what is
// emitted until it is closed becomes its body. Made after the frames of TVM's IRBuilder.
//
//   tir::FuncBuilder b(workspace);
//   const arith::PrimBuilder make(workspace);
//   const tir::Buffer* A = b.BufferParam("A", {n, k}, float32);
//   const tir::Buffer* B = b.BufferParam("B", {k, m}, float32);
//   const tir::Buffer* C = b.BufferParam("C", {n, m}, float32);
//   {
//     const tir::LoopFrame loops = b.Grid({"i", "j", "k"}, {n, m, k});
//     const tir::Frame block = b.Block("matmul");
//     const tir::Var* vi = b.Axis(tir::IterVarType::kDataPar, "vi", n, loops.vars[0]);
//     const tir::Var* vj = b.Axis(tir::IterVarType::kDataPar, "vj", m, loops.vars[1]);
//     const tir::Var* vk = b.Axis(tir::IterVarType::kCommReduce, "vk", k, loops.vars[2]);
//     {
//       const tir::Frame init = b.Init();
//       b.Store(C, {vi, vj}, make.Float(0, float32));
//     }
//     b.Store(C, {vi, vj}, make.Add(b.Load(C, {vi, vj}), make.Mul(b.Load(A, {vi, vk}), b.Load(B, {vk, vj}))));
//   }
//   const PrimFunc* func = CompletePrimFunc(b);   // iropt/analysis/tir/complete_prim_func.h
//
// A frame closes its statement, and all that were opened inside it, at the end of its life. Statements that are opened
// without frames (Open, OpenBlock, ...) are closed by Close or CloseTo. Blocks that do not state the regions that they
// read or write are collected in incomplete_blocks(); CompletePrimFunc detects the regions. Misuse is a bug
// (IROPT_CHECK).
//
// Every operation is O(1), apart from copying the body of a statement into its list when it is closed.
#pragma once

#include <deque>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "iropt/ir/attr.h"
#include "iropt/ir/module.h"
#include "iropt/ir/tir/stmt.h"

namespace iropt::tir {

// The runtime's alignment of allocations in bytes, and the default alignment of a buffer.
inline constexpr int32_t kAllocAlignment = 64;

// The declaration of a buffer. Fields that are not set have TVM's defaults.
struct BufferSpec {
  std::vector<const PrimExpr*> shape = {};
  DataType dtype = DataType::Float(32);
  const Var* data = nullptr;                  // a new pointer into `scope`
  std::vector<const PrimExpr*> strides = {};  // compact
  const PrimExpr* elem_offset = nullptr;      // 0, or a new variable if an offset_factor is given
  std::string_view scope = "global";
  int64_t align = 0;          // kAllocAlignment
  int64_t offset_factor = 0;  // 1
  bool auto_broadcast = false;
  std::vector<int64_t> axis_separators = {};
  const PrimExpr* layout = nullptr;  // none
  std::vector<const PrimExpr*> allocated_addr = {};
};
const Buffer* MakeBuffer(Workspace& workspace, const BufferSpec& spec, std::string_view name, Span span = {});

// A block that is open.
struct BlockScope {
  std::string_view name;
  Span span;
  bool realize = true;  // false: a Block without a BlockRealize
  std::vector<const IterVar*> iter_vars;
  std::vector<const PrimExpr*> iter_values;
  std::optional<std::vector<const BufferRegion*>> reads, writes;  // detected if they are not given
  std::vector<const Buffer*> allocs;
  std::vector<const MatchBufferRegion*> matches;
  const DictAttr* annotations = nullptr;
  const PrimExpr* predicate = nullptr;
  const Stmt* init = nullptr;
};

// A closed block that does not state all of its regions; the missing ones are empty.
struct IncompleteBlock {
  tir::Block* block;
  bool reads;   // are missing
  bool writes;  // are missing
};

class StmtStack;

// Closes the statements that were opened since its construction.
class [[nodiscard]] Frame {
 public:
  explicit Frame(StmtStack& stack, size_t depth) : stack_(&stack), depth_(depth) {}
  Frame(Frame&& other) noexcept : stack_(std::exchange(other.stack_, nullptr)), depth_(other.depth_) {}
  Frame& operator=(Frame&&) = delete;
  ~Frame();

 private:
  StmtStack* stack_;
  size_t depth_;
};

struct [[nodiscard]] LoopFrame : Frame {
  std::vector<const Var*> vars;  // outermost first
  LoopFrame(Frame frame, std::vector<const Var*> v) : Frame(std::move(frame)), vars(std::move(v)) {}
};

struct [[nodiscard]] VarFrame : Frame {
  const Var* var;
  VarFrame(Frame frame, const Var* v) : Frame(std::move(frame)), var(v) {}
};

// The statements that are open, and what they hold so far.
class StmtStack {
 public:
  explicit StmtStack(Workspace& workspace) : workspace_(workspace) {}
  StmtStack(const StmtStack&) = delete;
  StmtStack& operator=(const StmtStack&) = delete;

  Workspace& workspace() { return workspace_; }
  void Emit(const Stmt* stmt) { stmts_.push_back(stmt); }
  // Makes a statement whose body is emitted next.
  template <class T, class... A>
  T* Open(Span span, A&&... args) {
    T* node = workspace_.New<T>(std::forward<A>(args)...);
    node->set_span(span);
    Open(node, &node->body);
    return node;
  }
  // The statements that follow become *body, somewhere inside `node`, which is emitted when it is closed.
  void Open(const Stmt* node, const Stmt** body) { Push(OpenKind::kBody, node, body); }
  // The open statement `node` is emitted inside of `outer`, whose body it is already. False if it is not open.
  bool Enclose(const Stmt* node, const Stmt* outer);
  void OpenBlock(std::string_view name, bool realize, Span span = {});
  void OpenInit() { Push(OpenKind::kInit); }
  void OpenIf(const PrimExpr* condition, Span span = {});
  void OpenBranch(bool else_case) { Push(else_case ? OpenKind::kElse : OpenKind::kThen); }
  // Separate statements, which TakeBody returns as one instead of emitting them.
  void OpenBody() { Push(OpenKind::kFree); }
  const Stmt* TakeBody();
  // The number of statements that are open.
  size_t depth() const { return open_.size(); }
  void Close();
  void CloseTo(size_t depth);

  // Returns whether no statement is open inside the innermost block or function.
  bool directly_inside() const { return open_.empty() || open_.back().kind == OpenKind::kBlock; }
  // The branches of the innermost statement if it is an If.
  struct Branches {
    bool then_case;
    bool else_case;
    Span span;
  };
  std::optional<Branches> open_if() const;

  // Drops what was emitted and opened since the mark was taken, for readers that continue after an error.
  struct Mark {
    size_t stmts, open, blocks, conditionals;
  };
  Mark mark() const { return {stmts_.size(), open_.size(), blocks_.size(), conditionals_.size()}; }
  void Rollback(const Mark& mark);

  // Closes everything and returns the statements as the body of a function: one with blocks, or with buffers of its
  // own, has a root block that holds them all, which is made if needed.
  const Stmt* Finish();
  const std::vector<IncompleteBlock>& incomplete_blocks() const { return incomplete_; }

  // ---- The innermost block
  // `binding` is null if the block has no BlockRealize.
  Var* Axis(IterVarType type, std::string_view name, const Range* dom, const PrimExpr* binding, DataType dtype,
            Span span = {});
  void Axis(const IterVar* iter_var, const PrimExpr* binding);
  // The regions that the innermost block accesses, if they are not to be detected.
  void Reads(std::vector<const BufferRegion*> regions) { CurrentBlock().reads = std::move(regions); }
  void Writes(std::vector<const BufferRegion*> regions) { CurrentBlock().writes = std::move(regions); }
  void Where(const PrimExpr* predicate) { CurrentBlock().predicate = predicate; }
  // A buffer of the innermost block, or of the root block of the function.
  void AllocBuffer(const Buffer* buffer) { (block() ? block()->allocs : root_allocs_).push_back(buffer); }
  // Null outside of blocks.
  BlockScope* block() { return blocks_.empty() ? nullptr : &blocks_.back(); }

 private:
  enum class OpenKind : uint8_t { kBody, kBlock, kInit, kIf, kThen, kElse, kFree };
  struct OpenStmt {
    OpenKind kind;
    const Stmt* node;   // its body follows
    const Stmt** body;  // the field of `node` for the body
    size_t start;       // of the body in stmts_
  };
  struct Conditional {
    const PrimExpr* condition;
    const Stmt* then_case = nullptr;
    const Stmt* else_case = nullptr;
    Span span;
  };

  void Push(OpenKind kind, const Stmt* node = nullptr, const Stmt** body = nullptr) {
    open_.push_back({kind, node, body, stmts_.size()});
  }
  BlockScope& CurrentBlock();
  const Stmt* TakeStatements(size_t start);
  void CloseBlock(const Stmt* body);
  void CloseIf(size_t start);

  Workspace& workspace_;
  std::vector<const Stmt*> stmts_;
  std::vector<OpenStmt> open_;
  std::deque<BlockScope> blocks_;
  std::vector<Conditional> conditionals_;
  std::vector<const Buffer*> root_allocs_;
  std::vector<IncompleteBlock> incomplete_;
  bool has_blocks_ = false;
};

inline Frame::~Frame() {
  if (stack_) stack_->CloseTo(depth_);
}

// Opens statements by frames, which close them.
class StmtBuilder : public StmtStack {
 public:
  using StmtStack::StmtStack;

  // ---- Statements without a body
  void Evaluate(const PrimExpr* value) { Emit(workspace().New<tir::Evaluate>(value)); }
  // buffer[indices] = value
  void Store(const Buffer* buffer, std::span<const PrimExpr* const> indices, const PrimExpr* value);
  void Store(const Buffer* buffer, std::initializer_list<const PrimExpr*> indices, const PrimExpr* value) {
    Store(buffer, std::span(indices.begin(), indices.size()), value);
  }
  // buffer[indices] as an expression
  const PrimExpr* Load(const Buffer* buffer, std::span<const PrimExpr* const> indices);
  const PrimExpr* Load(const Buffer* buffer, std::initializer_list<const PrimExpr*> indices) {
    return Load(buffer, std::span(indices.begin(), indices.size()));
  }

  // ---- Loops, conditions, bindings, memory
  // for name in range(extent), with variables of the dtype of the extent.
  LoopFrame For(std::string_view name, const PrimExpr* extent, ForKind kind = ForKind::kSerial);
  LoopFrame For(std::string_view name, const PrimExpr* min, const PrimExpr* extent, ForKind kind,
                const DictAttr* annotations = DictAttr::Empty());
  // A nest of serial loops.
  LoopFrame Grid(std::span<const std::string_view> names, std::span<const PrimExpr* const> extents);
  LoopFrame Grid(std::initializer_list<std::string_view> names, std::initializer_list<const PrimExpr*> extents) {
    return Grid(std::span(names.begin(), names.size()), std::span(extents.begin(), extents.size()));
  }
  Frame While(const PrimExpr* condition) { return FrameOf<tir::While>(condition, nullptr); }
  // With Then, and perhaps Else, directly inside.
  Frame If(const PrimExpr* condition);
  Frame Then();
  Frame Else();
  VarFrame Let(std::string_view name, const PrimExpr* value);
  // The pointer to new memory.
  VarFrame Allocate(std::string_view name, DataType dtype, std::span<const PrimExpr* const> extents,
                    std::string_view scope = "global");
  Frame DeclBuffer(const Buffer* buffer) { return FrameOf<tir::DeclBuffer>(buffer, nullptr); }
  Frame Attr(const Node* node, std::string_view key, const PrimExpr* value);
  Frame Assert(const PrimExpr* condition, std::string_view message);

  // ---- Blocks
  Frame Block(std::string_view name);
  // The initialization of a reduction, directly in its block.
  Frame Init();
  // An axis of the innermost block, with the dtype of its extent: min is 0 unless a range is given.
  const Var* Axis(IterVarType type, std::string_view name, const PrimExpr* extent, const PrimExpr* binding);
  using StmtStack::Axis;
  // A buffer of the innermost block, or of the root block of the function.
  const Buffer* AllocBuffer(std::string_view name, const BufferSpec& spec);
  using StmtStack::AllocBuffer;

 private:
  template <class T, class... A>
  Frame FrameOf(A&&... args) {
    Open<T>(Span(), std::forward<A>(args)...);
    return Frame(*this, depth() - 1);
  }
};

// A function: its parameters, and the statements of its body.
class FuncBuilder : public StmtBuilder {
 public:
  using StmtBuilder::StmtBuilder;

  const Var* Param(std::string_view name, DataType dtype);
  // A variable that was made before, matched to the buffer if that is not null.
  void AddParam(const Var* var, const Buffer* buffer = nullptr);
  // A handle that is matched to a buffer.
  const Buffer* BufferParam(std::string_view name, const BufferSpec& spec);
  const Buffer* BufferParam(std::string_view name, std::vector<const PrimExpr*> shape, DataType dtype) {
    BufferSpec spec;
    spec.shape = std::move(shape);
    spec.dtype = dtype;
    return BufferParam(name, spec);
  }
  void SetAttr(std::string_view key, const iropt::Attr* value) { attrs_ = attrs_->With(key, value); }
  void SetReturnType(const Type* type) { ret_type_ = type; }

  const std::vector<const Var*>& params() const { return params_; }
  // Null if a parameter is not a buffer.
  const std::vector<const Buffer*>& param_buffers() const { return param_buffers_; }
  const DictAttr* attrs() const { return attrs_; }
  // Null: nothing is returned.
  const Type* return_type() const { return ret_type_; }

 private:
  std::vector<const Var*> params_;
  std::vector<const Buffer*> param_buffers_;
  const DictAttr* attrs_ = DictAttr::Empty();
  const Type* ret_type_ = nullptr;
};

}  // namespace iropt::tir
