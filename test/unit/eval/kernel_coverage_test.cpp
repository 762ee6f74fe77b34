// Every operator with a kernel: a call of it, written as in a script, is evaluated to a value of the type that the
// operator's type rule infers, for at least one dtype.
#include "iropt/op/ops/grad.h"
#include "operator_samples.h"

namespace iropt {

TEST_CASE("kernels: every operator evaluates to what its type rule infers", "[eval]") {
  std::set<std::string, std::less<>> evaluated;
  for (const DataType dtype : AllTypes()) {
    OperatorSamples samples(dtype);
    CHECK(samples.calls().size() == EvaluatedOps().size());
    for (const auto& [op, calls] : samples.calls()) {
      for (const OperatorSamples::Sample& sample : calls) {
        const Call& call = *sample.call;
        const Result<HostValue> result = EvalOp(*To<Op>(call.op)->info, call.attrs, OperandsOf(call));
        if (!result) continue;
        evaluated.insert(op);
        const Type* actual = MakeLiteral(*result, samples.workspace())->type;
        INFO(op << ": " << TypeToString(sample.type) << " is inferred, " << TypeToString(actual) << " evaluated");
        CHECK(IsBaseOf(sample.type, actual));
      }
    }
  }
  for (const OpInfo* op : EvaluatedOps()) {
    INFO(op->name);
    CHECK(op->pure);
    // These take variables, which only stand for their values when a function is evaluated.
    const bool of_variables = IsOneOf(*op->op, op::kGradStartCheckpoint, op::kGradEndCheckpoint);
    CHECK((of_variables || evaluated.contains(op->name)));
  }
}

}  // namespace iropt
