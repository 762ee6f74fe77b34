// The printed text of functions made by the builder, and that it reads back as the same function.
#include <string>

#include "catch.h"
#include "iropt/analysis/tir/complete_prim_func.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/ir/context.h"
#include "iropt/ir/structural.h"
#include "iropt/text/script/parser.h"
#include "iropt/text/script/printer.h"

using namespace iropt;

namespace {

struct Fixture {
  Workspace workspace;
  tir::FuncBuilder b{workspace};
  arith::PrimBuilder make{workspace};
  const DataType float32 = DataType::Float(32);

  const PrimExpr* Int(int64_t value) { return make.Int(value, DataType::Int(32)); }
  std::string Text() {
    b.SetAttr("global_symbol", StrAttr::Get("main"));
    Module module;
    module.Set(GlobalVar::Get("main"), CompletePrimFunc(b), nullptr);
    const std::string text = ModuleToString(module);
    return text.substr(text.find("    @T.prim_func"));
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a matrix product with a block, its initialization and its regions") {
  const PrimExpr* n = Int(128);
  const PrimExpr* k = Int(64);
  const tir::Buffer* A = b.BufferParam("A", {n, k}, float32);
  const tir::Buffer* B = b.BufferParam("B", {k, n}, float32);
  const tir::Buffer* C = b.BufferParam("C", {n, n}, float32);
  {
    const tir::LoopFrame loops = b.Grid({"i", "j", "k"}, {n, n, k});
    const tir::Frame block = b.Block("matmul");
    const tir::Var* vi = b.Axis(tir::IterVarType::kDataPar, "vi", n, loops.vars[0]);
    const tir::Var* vj = b.Axis(tir::IterVarType::kDataPar, "vj", n, loops.vars[1]);
    const tir::Var* vk = b.Axis(tir::IterVarType::kCommReduce, "vk", k, loops.vars[2]);
    {
      const tir::Frame init = b.Init();
      b.Store(C, {vi, vj}, make.Float(0, float32));
    }
    b.Store(C, {vi, vj}, make.Add(b.Load(C, {vi, vj}), make.Mul(b.Load(A, {vi, vk}), b.Load(B, {vk, vj}))));
  }
  CHECK(Text() == R"(    @T.prim_func
    def main(A: T.Buffer((128, 64), "float32"), B: T.Buffer((64, 128), "float32"), C: T.Buffer((128, 128), "float32")):
        # with T.block("root"):
        for i, j, k in T.grid(128, 128, 64):
            with T.block("matmul"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                T.reads(A[vi, vk], B[vk, vj])
                T.writes(C[vi, vj])
                with T.init():
                    C[vi, vj] = T.float32(0.0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)");
}

TEST_CASE_METHOD(Fixture, "regions cover loops inside a block, and regions of nested blocks") {
  const tir::Buffer* A = b.BufferParam("A", {Int(64)}, float32);
  const tir::Buffer* B = b.BufferParam("B", {Int(64)}, float32);
  tir::BufferSpec local;
  local.shape = {Int(4)};
  {
    const tir::LoopFrame outer = b.For("i", Int(16));
    const tir::Frame tile = b.Block("tile");
    const tir::Var* vi = b.Axis(tir::IterVarType::kDataPar, "vi", Int(16), outer.vars[0]);
    const tir::Buffer* T = b.AllocBuffer("T", local);
    const tir::LoopFrame inner = b.For("j", Int(4));
    const tir::Frame element = b.Block("element");
    const tir::Var* vj = b.Axis(tir::IterVarType::kDataPar, "vj", Int(4), inner.vars[0]);
    const PrimExpr* at = make.Add(make.Mul(vi, Int(4)), vj);
    b.Store(T, {vj}, b.Load(A, {at}));
    b.Store(B, {at}, b.Load(T, {vj}));
  }
  CHECK(Text() == R"(    @T.prim_func
    def main(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        # with T.block("root"):
        for i in range(16):
            with T.block("tile"):
                vi = T.axis.spatial(16, i)
                T.reads(A[vi * 4:vi * 4 + 4])
                T.writes(B[vi * 4:vi * 4 + 4])
                T_1 = T.alloc_buffer((4,))
                for j in range(4):
                    with T.block("element"):
                        vj = T.axis.spatial(4, j)
                        T.reads(A[vi * 4 + vj], T_1[vj])
                        T.writes(T_1[vj], B[vi * 4 + vj])
                        T_1[vj] = A[vi * 4 + vj]
                        B[vi * 4 + vj] = T_1[vj]
)");
}
