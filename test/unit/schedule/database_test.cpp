// Tuning databases: what is written reads back, and which record counts.
#include "iropt/schedule/database.h"

#include <limits>

#include "catch.h"
#include "iropt/analysis/tir/complete_prim_func.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/ir/structural.h"
#include "iropt/ir/tir/builder.h"
#include "temporary_folder.h"

namespace iropt::schedule {
namespace {

// A matrix product with a choice between values, annotations, and a name for the block.
Workload MakeWorkload(std::string_view block, int64_t size) {
  Workspace workspace;
  const arith::PrimBuilder make(workspace);
  const DataType float32 = DataType::Float(32);
  const PrimExpr* n = make.Int(size, DataType::Int(32));
  tir::FuncBuilder b(workspace);
  const tir::Buffer* A = b.BufferParam("A", {n, n}, float32);
  const tir::Buffer* B = b.BufferParam("B", {n, n}, float32);
  const tir::Buffer* C = b.BufferParam("C", {n, n}, float32);
  {
    const tir::LoopFrame loops = b.Grid({"i", "j", "k"}, {n, n, n});
    const tir::Frame frame = b.Block(block);
    const tir::Var* i = b.Axis(tir::IterVarType::kDataPar, "vi", n, loops.vars[0]);
    const tir::Var* j = b.Axis(tir::IterVarType::kDataPar, "vj", n, loops.vars[1]);
    const tir::Var* k = b.Axis(tir::IterVarType::kCommReduce, "vk", n, loops.vars[2]);
    const DictAttr::Entry entries[] = {{"text", StrAttr::Get("a \"quoted\"\nword")},
                                       {"list", ListAttr::Get(std::vector<const Attr*>{IntAttr::Get(3)})},
                                       {"real", FloatAttr::Get(0.1, float32)}};
    b.block()->annotations = DictAttr::Get(entries);
    {
      const tir::Frame init = b.Init();
      b.Store(C, {i, j}, make.Float(0, float32));
    }
    const PrimExpr* is_big = make.Node(NodeKind::kGT, make.Cast(float32, k), make.Float(3, float32));
    const PrimExpr* factor = make.Select(is_big, b.Load(B, {k, j}), make.Float(0.5, float32));
    b.Store(C, {i, j}, make.Add(b.Load(C, {i, j}), make.Mul(b.Load(A, {i, k}), factor)));
  }
  const PrimFunc* func = NormalizeWorkload(*CompletePrimFunc(b), workspace);
  return {GlobalVar::Get("main"), func, workspace.Finish()};
}

TuningRecord MakeRecord(size_t workload, std::vector<double> seconds) {
  auto trace = ReadTrace(R"(b = sch.get_block("C", "main"))");
  REQUIRE(trace);
  return {.workload = workload, .trace = *std::move(trace), .run_secs = std::move(seconds)};
}

TEST_CASE("a database reads back as it was", "[schedule]") {
  const TemporaryFolder folder;
  Database database;
  const size_t first = database.AddWorkload(MakeWorkload("C", 8));
  CHECK(database.AddWorkload(MakeWorkload("other", 8)) == first);
  const size_t second = database.AddWorkload(MakeWorkload("C", 16));
  CHECK(second != first);
  database.AddRecord(MakeRecord(second, {0.5}));
  REQUIRE(database.Write(folder.path()).ok());

  const Result<Database> read = Database::Read(folder.path());
  REQUIRE(read);
  CHECK(read->skipped().empty());
  REQUIRE(read->workloads().size() == 2);
  for (size_t i = 0; i < 2; ++i) {
    const auto* was = To<PrimFunc>(database.workloads()[i].func);
    CHECK(FirstDifference(read->workloads()[i].func, was, {.map_free_vars = true}) == std::nullopt);
    CHECK(read->Find(*was) == i);
  }
  CHECK(!read->Best(first));
  REQUIRE(read->Best(second));
  CHECK(ToPython(read->Best(second)->trace) == ToPython(database.records()[0].trace));
}

TEST_CASE("the record with the least mean time counts", "[schedule]") {
  Database database;
  const size_t workload = database.AddWorkload(MakeWorkload("C", 8));
  database.AddRecord(MakeRecord(workload, {}));
  database.AddRecord(MakeRecord(workload, {1e10}));
  database.AddRecord(MakeRecord(workload, {0.0}));
  database.AddRecord(MakeRecord(workload, {-1.0}));
  database.AddRecord(MakeRecord(workload, {0.1, -5.0}));
  database.AddRecord(MakeRecord(workload, {std::numeric_limits<double>::infinity()}));
  database.AddRecord(MakeRecord(workload, {std::numeric_limits<double>::quiet_NaN()}));
  CHECK(!database.Best(workload));
  database.AddRecord(MakeRecord(workload, {0.1, 0.5}));
  const size_t best = database.AddRecord(MakeRecord(workload, {0.2, 0.3}));
  database.AddRecord(MakeRecord(workload, {0.25}));
  TuningRecord empty = MakeRecord(workload, {0.01});
  empty.trace.instructions.clear();
  database.AddRecord(std::move(empty));
  CHECK(database.Best(workload) == &database.records()[best]);
}

// What writing a workload fails with whose body is what `make` makes of a statement.
template <class F>
std::string WriteError(F&& make, const DictAttr* attrs = DictAttr::Empty()) {
  const TemporaryFolder folder;
  Workspace workspace;
  const arith::PrimBuilder b(workspace);
  const tir::Stmt* body = make(workspace, b, workspace.New<tir::Evaluate>(b.Int(0, DataType::Int(32))));
  const auto* func = workspace.New<PrimFunc>(List<const tir::Var*>(), List<const tir::Buffer*>(), body,
                                             TupleType::Get({}), attrs, nullptr);
  Database database;
  database.AddWorkload({GlobalVar::Get("main"), func, workspace.Finish()});
  const Status written = database.Write(folder.path());
  REQUIRE_FALSE(written.ok());
  return written.error().message;
}

TEST_CASE("a workload has only what other versions of TVM read", "[schedule]") {
  const DataType int32 = DataType::Int(32);
  const auto loop = [&](Workspace& workspace, const arith::PrimBuilder& b, const tir::Stmt* body) {
    return workspace.New<tir::For>(workspace.NewPrimVar("i", int32), b.Int(0, int32), b.Int(8, int32),
                                   tir::ForKind::kSerial, body, nullptr, DictAttr::Empty(), b.Int(2, int32));
  };
  const auto call = [&](Workspace& workspace, const arith::PrimBuilder&, const tir::Stmt*) {
    return workspace.New<tir::Evaluate>(workspace.New<tir::Call>(int32, GlobalVar::Get("f"), List<const PrimExpr*>()));
  };
  const auto nothing = [](Workspace&, const arith::PrimBuilder&, const tir::Stmt* body) { return body; };
  CHECK_THAT(WriteError(loop), Catch::Contains("a loop with a step"));
  CHECK_THAT(WriteError(call), Catch::Contains("a call of a function"));
  const DictAttr* attrs = DictAttr::Empty()->With("dtype", DTypeAttr::Get(int32));
  CHECK_THAT(WriteError(nothing, attrs), Catch::Contains("an attribute that workloads do not have"));
}

TEST_CASE("a folder that cannot be made is an error", "[schedule]") {
  CHECK_THAT(Database().Write("/proc/none/database").error().message,
             Catch::Contains("cannot make the folder '/proc/none/database': "));
}

}  // namespace
}  // namespace iropt::schedule
