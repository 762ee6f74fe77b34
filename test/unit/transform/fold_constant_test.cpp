#include "iropt/transform/relax/simplify/fold_constant.h"

#include "iropt/ir/ndarray.h"
#include "pass_tester.h"

namespace iropt {

namespace {

// a = c + c; b = a + c; ... in a dataflow block, where c is a constant of two elements.
class Sums {
 public:
  explicit Sums(int count = 2) {
    const auto array = NDArray::Make(DataType::Float(32), {2});
    t_.workspace().arena().Retain(array);
    const Type* type = t_.Tensor({2});
    const Expr* c = t_.workspace().New<Constant>(array.get(), type);
    std::vector<const Binding*> bindings;
    const Expr* sum = c;
    for (int i = 0; i < count; ++i) {
      const std::string name(1, static_cast<char>('a' + i));
      const Var* var = i + 1 == count ? t_.NewVar(name, type) : t_.NewLocal(name, type);
      bindings.push_back(t_.Bind(var, t_.CallOp("relax.add", {sum, c}, type)));
      sum = var;
    }
    t_.AddMain({}, {t_.Dataflow(bindings)}, sum);
  }

  // The text after folding with the limits.
  std::string Fold(const FoldOptions& options) {
    t_.RunOnce([&](const Function* f, const Module* m, Workspace& ws, DiagnosticEngine& d) -> Result<const Function*> {
      return FoldConstants(f, *m, ws, options, &d);
    });
    return t_.Text();
  }
  const std::vector<std::string>& messages() const { return t_.errors; }

 private:
  PassTester t_;
};

}  // namespace

TEST_CASE("a function within the budget is folded without a remark", "[fold]") {
  Sums sums;
  CHECK(sums.Fold({}) == "Constant");
  CHECK(sums.messages().empty());
}

TEST_CASE("folding stops where the budget of work is spent", "[fold]") {
  Sums sums;
  CHECK(sums.Fold({.max_total_work = 3}) == "[b = add(Constant, Constant); ] b");
  REQUIRE(sums.messages().size() == 1);
  CHECK(sums.messages()[0].starts_with("a call of constants is not folded: relax.add: takes more than"));
}

TEST_CASE("folding stops where the budget of bytes is spent", "[fold]") {
  Sums sums(5);
  // Compared with nothing, the function may gain four times its constants.
  CHECK(sums.Fold({.max_bytes = 8, .max_total_bytes = 0}) == "[e = add(Constant, Constant); ] e");
  REQUIRE(sums.messages().size() == 1);
  CHECK(sums.messages()[0].find("over the limit of 0 bytes") != std::string::npos);
}

}  // namespace iropt
