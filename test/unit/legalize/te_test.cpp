// Tensor expressions and the PrimFuncs that they become. Legalizations are tested on programs in
// test/transform/legalize_ops.
#include "iropt/legalize/te.h"

#include "catch.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/legalize/topi.h"

namespace iropt {

namespace {

class BlockNames : public tir::StmtExprVisitor {
 public:
  static std::string Of(const PrimFunc* func) {
    BlockNames names;
    names.VisitStmt(func->body);
    return names.text_;
  }

 protected:
  void VisitBlock(const tir::Block* block) override {
    text_ += std::string(block->name_hint) + "(" + std::to_string(block->reads.size()) + "," +
             std::to_string(block->writes.size()) + ") ";
    StmtExprVisitor::VisitBlock(block);
  }

 private:
  std::string text_;
};

}  // namespace

TEST_CASE("stages become blocks in the order of their uses", "[te]") {
  te::Builder te(TextVersion::kV0_18);
  const te::Tensor x = te.Input("x", {2, 3}, DataType::Float(32));
  const te::Tensor unused = topi::Add(x, te.Const(7, x.dtype()));
  const te::Tensor second = topi::Multiply(x, x);
  const te::Tensor first = topi::Multiply(x, te.Const(2, x.dtype()));
  const PrimFunc* func = te.Finish({topi::Add(first, second)});
  CHECK(unused.name() == "T_add");
  CHECK(func->params.size() == 2);
  CHECK(BlockNames::Of(func) == "root(0,0) T_multiply(1,1) T_multiply_1(1,1) T_add(2,1) ");
}

TEST_CASE("plain integers take the dtype of the other operand", "[te]") {
  te::Builder te(TextVersion::kV0_18);
  const te::Value x = te.ScalarInput("x", DataType::Float(16));
  CHECK((x + 1).dtype() == DataType::Float(16));
  CHECK((te::Value(2) * 3).AsInt() == 6);
  CHECK((te.ScalarInput("n", DataType::Int(64)) * 0).Is(0));
  CHECK(te::Select(te::Value(1) < 2, x, x + 1).expr() == x.expr());
}

TEST_CASE("a function of one value has an axis of length one", "[te]") {
  te::Builder te(TextVersion::kV0_18);
  const te::Tensor x = te.Input("x", te::Values(), DataType::Float(32));
  const PrimFunc* func = te.Finish({topi::Map(x, topi::Exp)});
  CHECK(BlockNames::Of(func) == "root(0,0) compute(1,1) ");
}

TEST_CASE("broadcasting repeats axes of length one", "[te]") {
  te::Builder te(TextVersion::kV0_18);
  const te::Value n = te.ScalarInput("n", DataType::Int(64));
  const te::Value a[] = {n, 1, 4};
  const te::Value b[] = {3, te::Value(1)};
  const topi::BroadcastShapes shapes = topi::Broadcast(te, a, b);
  REQUIRE(shapes.shape.size() == 3);
  CHECK(shapes.shape[0].expr() == n.expr());
  CHECK(shapes.shape[1].Is(3));
  CHECK(shapes.shape[2].Is(4));
  CHECK(shapes.repeats_a == std::vector<bool>{false, true, false});
  CHECK(shapes.repeats_b == std::vector<bool>{false, true});
}

}  // namespace iropt
