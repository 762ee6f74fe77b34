// Detection of the regions that blocks read and write, and completion of functions with it.
#include "iropt/analysis/tir/block_access.h"

#include "catch.h"
#include "iropt/analysis/tir/complete_prim_func.h"
#include "iropt/arith/analyzer.h"
#include "iropt/ir/context.h"
#include "iropt/op/op.h"

namespace iropt {
namespace {

class Accesses {
 protected:
  Accesses() : scope_(context_) {
    for (const auto* name : {"A", "B"}) buffers.push_back(b.BufferParam(name, {Int(16), Int(8)}, DataType::Float(32)));
    for (const tir::Buffer* buffer : buffers) known.try_emplace(buffer->data, buffer);
    A = buffers[0];
    B = buffers[1];
  }

  const PrimExpr* Int(int64_t value) { return make.Int(value, DataType::Int(32)); }
  const PrimExpr* Call(const char* op, std::vector<const PrimExpr*> args) {
    return workspace.New<tir::Call>(DataType::Handle(), GetOp(op), workspace.Copy(args));
  }
  const PrimExpr* AccessPointer(const tir::Buffer* buffer, int64_t mask) {
    return Call("tir.tvm_access_ptr", {Int(0), buffer->data, Int(0), Int(128), Int(mask)});
  }
  // The block that is built last.
  const tir::Block& Block() {
    b.Finish();
    return *b.incomplete_blocks().back().block;
  }
  // "A[0:4, 2]"
  std::string Show(const std::vector<const tir::BufferRegion*>& regions) {
    std::string text;
    for (const tir::BufferRegion* region : regions) {
      text.append(text.empty() ? "" : " ").append(region->buffer->name).append("[");
      for (const tir::Range* range : region->region) {
        if (range != region->region[0]) text += ", ";
        text += ShowEnd(range->min);
        if (!arith::IsInt(range->extent, 1)) text += "+" + ShowEnd(range->extent);
      }
      text += "]";
    }
    return text;
  }

  IRContext context_;
  IRContext::Scope scope_;
  Workspace workspace;
  tir::FuncBuilder b{workspace};
  arith::PrimBuilder make{workspace};
  std::vector<const tir::Buffer*> buffers;
  BuffersByPointer known;
  const tir::Buffer* A;
  const tir::Buffer* B;

 private:
  static std::string ShowEnd(const PrimExpr* e) {
    if (const int64_t* value = arith::AsInt(e)) return std::to_string(*value);
    const auto* var = As<tir::Var>(e);
    return var ? std::string(var->name) : "?";
  }
};

}  // namespace

TEST_CASE_METHOD(Accesses, "loops inside a block are covered, and accesses united") {
  const tir::Var* n = b.Param("n", DataType::Int(32));
  {
    const tir::Frame block = b.Block("block");
    const tir::LoopFrame loops = b.Grid({"i", "j"}, {Int(16), Int(4)});
    b.Store(B, {loops.vars[0], n}, b.Load(A, {Int(3), loops.vars[1]}));
    b.Store(B, {loops.vars[0], n}, b.Load(A, {Int(5), make.Add(loops.vars[1], Int(2))}));
  }
  const BlockAccesses found = GetBlockAccessRegion(Block(), known, workspace);
  CHECK(Show(found.reads) == "A[3+3, 0+6]");
  CHECK(Show(found.writes) == "B[0+16, n]");
  CHECK(found.opaques.empty());
}

TEST_CASE_METHOD(Accesses, "regions that a block with an initialization writes are not read") {
  {
    const tir::Frame block = b.Block("block");
    {
      const tir::Frame init = b.Init();
      b.Store(B, {Int(0), Int(0)}, make.Float(0, DataType::Float(32)));
    }
    b.Store(B, {Int(0), Int(0)}, make.Add(b.Load(B, {Int(0), Int(0)}), b.Load(A, {Int(1), Int(1)})));
  }
  const BlockAccesses found = GetBlockAccessRegion(Block(), known, workspace);
  CHECK(Show(found.reads) == "A[1, 1]");
  CHECK(Show(found.writes) == "B[0, 0]");
}

TEST_CASE_METHOD(Accesses, "buffers that are not known outside do not count") {
  {
    const tir::Frame block = b.Block("block");
    tir::BufferSpec spec;
    spec.shape = {Int(4)};
    const tir::Buffer* local = b.AllocBuffer("local", spec);
    b.Store(local, {Int(0)}, b.Load(A, {Int(1), Int(1)}));
  }
  const BlockAccesses found = GetBlockAccessRegion(Block(), known, workspace);
  CHECK(Show(found.reads) == "A[1, 1]");
  CHECK(found.writes.empty());
}

TEST_CASE_METHOD(Accesses, "a matched buffer stands for a part of its source") {
  {
    const tir::Frame block = b.Block("block");
    const tir::Range* region[] = {workspace.New<tir::Range>(Int(3), Int(1)), workspace.New<tir::Range>(Int(2), Int(4))};
    tir::BufferSpec spec;
    spec.shape = {Int(4)};
    const tir::Buffer* part = tir::MakeBuffer(workspace, spec, "part");
    b.block()->matches.push_back(workspace.New<tir::MatchBufferRegion>(
        part, workspace.New<tir::BufferRegion>(A, workspace.Copy(std::span<const tir::Range* const>(region)))));
    b.Store(part, {Int(1)}, make.Float(0, DataType::Float(32)));
  }
  CHECK(Show(GetBlockAccessRegion(Block(), known, workspace).writes) == "A[3, 3]");
}

TEST_CASE_METHOD(Accesses, "pointers that are passed on are opaque, unless their access is stated") {
  {
    const tir::Frame block = b.Block("block");
    b.Evaluate(AccessPointer(A, 1));
    b.Evaluate(AccessPointer(B, 2));
  }
  const BlockAccesses stated = GetBlockAccessRegion(Block(), known, workspace);
  CHECK(Show(stated.reads) == "A[0+16, 0+8]");
  CHECK(Show(stated.writes) == "B[0+16, 0+8]");
  CHECK(stated.opaques.empty());
}

TEST_CASE_METHOD(Accesses, "opaque buffers are read and written") {
  {
    const tir::Frame block = b.Block("block");
    b.Evaluate(AccessPointer(A, 3));
    b.Store(A, {Int(0), Int(0)}, b.Load(B, {Int(0), Int(0)}));
    b.Evaluate(Call("tir.call_extern", {make.Keep(tir::StringImm("f")), B->data}));
  }
  const tir::Block& block = Block();
  CHECK(Show(GetBlockAccessRegion(block, known, workspace).opaques) == "A[0+16, 0+8] B[0+16, 0+8]");
  const BlockAccesses all = GetBlockReadWriteRegion(block, known, workspace);
  CHECK(Show(all.reads) == "A[0+16, 0+8] B[0+16, 0+8]");
  CHECK(Show(all.writes) == "A[0+16, 0+8] B[0+16, 0+8]");
  const auto opaque = CompleteBlocks(buffers, b.incomplete_blocks()[0].block, b.incomplete_blocks(), workspace);
  REQUIRE(opaque.size() == 1);
  CHECK(opaque[0].buffer == A);
}

TEST_CASE_METHOD(Accesses, "a function is completed from the inside out, and its root states nothing") {
  {
    const tir::LoopFrame loop = b.For("i", Int(16));
    const tir::Frame outer = b.Block("outer");
    const tir::Var* vi = b.Axis(tir::IterVarType::kDataPar, "vi", Int(16), loop.vars[0]);
    const tir::LoopFrame inner_loop = b.For("j", Int(8));
    const tir::Frame inner = b.Block("inner");
    const tir::Var* vj = b.Axis(tir::IterVarType::kDataPar, "vj", Int(8), inner_loop.vars[0]);
    b.Reads({});
    b.Store(B, {vi, vj}, b.Load(A, {vi, vj}));
  }
  const PrimFunc* func = CompletePrimFunc(b);
  REQUIRE(b.incomplete_blocks().size() == 2);
  CHECK(b.incomplete_blocks()[0].block->reads.empty());
  const List<const tir::BufferRegion*> writes = b.incomplete_blocks()[1].block->writes;
  CHECK(Show({writes.begin(), writes.end()}) == "B[vi, 0+8]");
  CHECK(To<tir::BlockRealize>(func->body)->block->writes.empty());
  CHECK(func->params.size() == 2);
  CHECK(Is<FuncType>(func->type));
}

}  // namespace iropt
