// The interpreter behind EvalPrimFunc.
#pragma once

#include <memory>

#include "iropt/eval/prim_func.h"
#include "iropt/eval/scalar_eval.h"

namespace iropt::eval {

class Interpreter final : public ScalarEvaluator {
 public:
  explicit Interpreter(const EvalLimits& limits) : limits_(limits), work_left_(limits.max_work) {}

  // Binds a buffer parameter to the memory of a tensor: variables among its dimensions take the tensor's, others must
  // agree. Memory that is not writable is never stored to.
  bool BindParam(const tir::Buffer& buffer, const NDArray& tensor, std::byte* writable);
  bool Run(const tir::Stmt* body);
  // Whether every element of a writable parameter has been given a value.
  bool IsFilled(const tir::Buffer& buffer);

 private:
  // A piece of memory behind a pointer variable.
  struct Memory {
    const std::byte* data = nullptr;
    std::byte* writable = nullptr;
    int64_t bytes = 0;
    // For each byte of writable memory, whether it has a value; null where all have.
    std::byte* written = nullptr;
  };
  // Where the elements of a buffer are; in elements of its dtype.
  struct View {
    bool known = false;
    int64_t offset = 0;
    std::vector<int64_t> shape;
    std::vector<int64_t> strides;
  };
  class MemoryScope;

  bool Load(const tir::BufferLoad& load, int lane, Scalar* result) override;
  bool Step() override;

  bool Exec(const tir::Stmt* stmt);
  bool ExecNode(const tir::Stmt* stmt);
  bool ExecSeq(const tir::SeqStmt& seq);
  bool ExecLet(const tir::LetStmt& let);
  bool ExecAttr(const tir::AttrStmt& attr);
  bool ExecAssert(const tir::AssertStmt& assertion);
  bool ExecStore(const tir::BufferStore& store);
  bool StoreLane(const tir::BufferStore& store, int lane, const Scalar& value);
  bool ExecAllocate(const tir::Allocate& allocate);
  bool ExecAllocateConst(const tir::AllocateConst& allocate);
  bool ExecIf(const tir::IfThenElse& branch);
  bool ExecFor(const tir::For& loop);
  bool ExecLoop(const tir::Var* var, int64_t min, int64_t extent, const tir::Stmt* body);
  bool ExecWhile(const tir::While& loop);
  bool ExecBlockRealize(const tir::BlockRealize& realize);
  bool ExecBlock(const tir::Block& block);
  bool AtFirstReduction(const tir::Block& block, bool* first);
  bool ExecEvaluate(const tir::Evaluate& evaluate);

  bool MatchBuffer(const tir::MatchBufferRegion& match);
  // Computes where the elements of a buffer are, now that its dimensions have values.
  bool Declare(const tir::Buffer& buffer);
  // The same with the shape, strides and offset given: variables among them are bound.
  bool DeclareAs(const tir::Buffer& buffer, std::span<const int64_t> shape, std::span<const int64_t> strides,
                 int64_t offset);
  bool ResolveView(const tir::Buffer& buffer, View* view);
  // Binds a variable without a value to `actual`; anything else must be equal to it.
  bool Match(const PrimExpr* expr, int64_t actual, std::string_view what);
  bool EvalInts(List<const PrimExpr*> exprs, std::vector<int64_t>* values);
  // The address of an element; null after an error.
  const std::byte* Address(const tir::Buffer& buffer, List<const PrimExpr*> indices, int lane, Memory** memory);

  // Memory and its marks; null after an error.
  std::unique_ptr<std::byte[]> NewMemory(int64_t elements, DataType dtype, Memory* memory);
  Memory* MemoryOf(const tir::Var* data);
  void SetMemory(const tir::Var* data, Memory memory);

  EvalLimits limits_;
  uint64_t work_left_;
  bool returned_ = false;                            // T.ret has ended the function
  std::vector<std::unique_ptr<std::byte[]>> marks_;  // of parameters
  std::vector<Memory> memories_;                     // by the id of the pointer variable
  std::vector<View> views_;                          // by the id of the buffer
  std::vector<int64_t> axis_values_;                 // a stack: values of the axes of blocks that are being entered
};

}  // namespace iropt::eval
