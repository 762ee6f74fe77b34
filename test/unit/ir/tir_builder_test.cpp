// Statements that are opened, filled and closed.
#include "catch.h"
#include "iropt/ir/tir/builder.h"

namespace iropt::tir {
namespace {

struct Fixture {
  Workspace workspace;
  FuncBuilder b{workspace};
  const PrimExpr* Int(int64_t value) { return workspace.New<IntImm>(DataType::Int(32), value); }
  const PrimExpr* Float(double value) { return workspace.New<FloatImm>(DataType::Float(32), value); }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a buffer has TVM's defaults", "[tir_builder]") {
  BufferSpec spec;
  spec.shape = {Int(4), Int(8)};
  const Buffer* buffer = MakeBuffer(workspace, spec, "A");
  CHECK(buffer->name == "A");
  CHECK(buffer->data->name == "A");
  CHECK(buffer->data->pointer->elem == DataType::Float(32));
  CHECK(buffer->strides.empty());
  CHECK(To<IntImm>(buffer->elem_offset)->value == 0);
  CHECK(buffer->data_alignment == kAllocAlignment);
  CHECK(buffer->offset_factor == 1);
  spec.dtype = DataType::Bool();
  spec.offset_factor = 4;
  const Buffer* flags = MakeBuffer(workspace, spec, "B");
  CHECK(flags->data->pointer->elem == DataType::Int(8));
  CHECK(To<Var>(flags->elem_offset)->name == "elem_offset");
}

TEST_CASE_METHOD(Fixture, "statements emitted while another is open become its body", "[tir_builder]") {
  const Buffer* A = b.BufferParam("A", {Int(16)}, DataType::Float(32));
  {
    const LoopFrame loop = b.For("i", Int(16));
    CHECK(b.depth() == 1);
    b.Store(A, {loop.vars[0]}, Float(0));
    b.Store(A, {loop.vars[0]}, b.Load(A, {loop.vars[0]}));
  }
  CHECK(b.depth() == 0);
  const auto* loop = To<For>(b.Finish());
  CHECK(loop->loop_var->name == "i");
  CHECK(To<SeqStmt>(loop->body)->seq.size() == 2);
  CHECK(b.params().size() == 1);
  CHECK(b.params()[0]->name == "A_handle");
  CHECK(b.param_buffers()[0] == A);
}

TEST_CASE_METHOD(Fixture, "an empty body evaluates 0", "[tir_builder]") {
  CHECK(To<IntImm>(To<Evaluate>(b.Finish())->value)->value == 0);
}

TEST_CASE_METHOD(Fixture, "conditions have one or two branches", "[tir_builder]") {
  const Var* x = b.Param("x", DataType::Bool());
  {
    const Frame condition = b.If(x);
    CHECK(b.open_if());
    {
      const Frame then_case = b.Then();
      b.Evaluate(Int(1));
    }
    CHECK(b.open_if()->then_case);
    const Frame else_case = b.Else();
    b.Evaluate(Int(2));
  }
  const auto* stmt = To<IfThenElse>(b.Finish());
  CHECK(stmt->condition == x);
  CHECK(stmt->then_case != nullptr);
  CHECK(stmt->else_case != nullptr);
}

TEST_CASE_METHOD(Fixture, "memory, bindings, attributes and assertions enclose the following statements",
                 "[tir_builder]") {
  const PrimExpr* extents[] = {Int(4)};
  const VarFrame data = b.Allocate("data", DataType::Float(32), extents, "shared");
  const VarFrame x = b.Let("x", Int(3));
  const Frame attr = b.Attr(x.var, "key", Int(1));
  const Frame assertion = b.Assert(workspace.New<IntImm>(DataType::Bool(), 1), "message");
  const Frame loop = b.While(workspace.New<IntImm>(DataType::Bool(), 0));
  b.Evaluate(x.var);
  const auto* allocate = To<Allocate>(b.Finish());
  CHECK(allocate->buffer_var == data.var);
  CHECK(data.var->pointer->scope == "shared");
  const auto* let = To<LetStmt>(allocate->body);
  const auto* attribute = To<AttrStmt>(let->body);
  CHECK(attribute->attr_key == "key");
  CHECK(To<While>(To<AssertStmt>(attribute->body)->body)->body->kind == NodeKind::kEvaluate);
}

TEST_CASE_METHOD(Fixture, "a block collects its axes and its initialization", "[tir_builder]") {
  const Buffer* A = b.BufferParam("A", {Int(16)}, DataType::Float(32));
  {
    const LoopFrame loops = b.Grid({"i", "k"}, {Int(16), Int(4)});
    const Frame block = b.Block("sum");
    const Var* vi = b.Axis(IterVarType::kDataPar, "vi", Int(16), loops.vars[0]);
    b.Axis(IterVarType::kCommReduce, "vk", Int(4), loops.vars[1]);
    CHECK(b.directly_inside());
    {
      const Frame init = b.Init();
      CHECK_FALSE(b.directly_inside());
      b.Store(A, {vi}, Float(0));
    }
    b.Store(A, {vi}, b.Load(A, {vi}));
  }
  // The function gets a root block.
  const auto* root = To<BlockRealize>(b.Finish());
  CHECK(root->block->name_hint == "root");
  const auto* realize = To<BlockRealize>(To<For>(To<For>(root->block->body)->body)->body);
  CHECK(realize->iter_values.size() == 2);
  CHECK(realize->block->iter_vars[1]->iter_type == IterVarType::kCommReduce);
  CHECK(realize->block->init != nullptr);
  REQUIRE(b.incomplete_blocks().size() == 1);
  CHECK(b.incomplete_blocks()[0].block == realize->block);
  CHECK(b.incomplete_blocks()[0].reads);
}

TEST_CASE_METHOD(Fixture, "a single block without axes is the root", "[tir_builder]") {
  {
    const Frame block = b.Block("all");
    b.Reads({});
    b.Writes({});
    b.Evaluate(Int(1));
  }
  CHECK(To<BlockRealize>(b.Finish())->block->name_hint == "all");
  CHECK(b.incomplete_blocks().empty());
}

TEST_CASE_METHOD(Fixture, "buffers outside of blocks belong to the root block", "[tir_builder]") {
  BufferSpec spec;
  spec.shape = {Int(4)};
  const Buffer* A = b.AllocBuffer("A", spec);
  b.Store(A, {Int(0)}, Float(1));
  const auto* root = To<BlockRealize>(b.Finish());
  REQUIRE(root->block->alloc_buffers.size() == 1);
  CHECK(root->block->alloc_buffers[0] == A);
}

TEST_CASE_METHOD(Fixture, "a reader goes back to the state before an error", "[tir_builder]") {
  b.Evaluate(Int(1));
  const StmtBuilder::Mark mark = b.mark();
  b.OpenBlock("lost", true);
  b.OpenIf(Int(1));
  b.Evaluate(Int(2));
  b.Rollback(mark);
  CHECK(b.depth() == 0);
  CHECK(b.block() == nullptr);
  CHECK(b.Finish()->kind == NodeKind::kEvaluate);
}

}  // namespace iropt::tir
