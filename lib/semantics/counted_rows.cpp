#include "counted_rows.h"

#include <algorithm>
#include <memory>
#include <span>

#include "iropt/ir/type.h"
#include "iropt/legalize/legalize.h"
#include "iropt/op/op.h"
#include "iropt/support/lookup.h"
#include "iropt/support/stack.h"

namespace iropt {

namespace {

bool CountsRows(const Call& call) {
  const auto* op = As<Op>(call.op);
  return op && As<TupleType>(call.type) && LegalizationOf(*op->info).counts_rows;
}

// Lists the tensors that a function returns, in the order of its outputs.
class OutputFinder {
 public:
  // One of the results of an operator; no call for another tensor.
  struct Output {
    const Call* call = nullptr;
    size_t result = 0;
  };

  explicit OutputFinder(const SeqExpr& body) {
    for (const BindingBlock* block : body.blocks) {
      for (const Binding* binding : block->bindings) {
        if (const auto* bound = As<VarBinding>(binding)) values_[bound->var] = bound->value;
      }
    }
    Find(*body.body);
  }

  std::vector<Output> outputs;

 private:
  void Find(const Expr& expr) {
    const Expr& value = ValueOf(expr);
    if (const auto* tuple = As<Tuple>(&value)) {
      for (const Expr* field : tuple->fields) WithStack([&] { Find(*field); });
    } else if (const auto* call = As<Call>(&value); call && CountsRows(*call)) {
      for (size_t i = 0; i < To<TupleType>(call->type)->fields.size(); ++i) outputs.push_back({call, i});
    } else if (const auto* item = As<TupleGetItem>(&value)) {
      const auto* whole = As<Call>(&ValueOf(*item->tuple));
      const bool is_counted = whole && CountsRows(*whole);
      is_counted ? outputs.push_back({whole, static_cast<size_t>(item->index)}) : AddOthers(value.type);
    } else {
      AddOthers(value.type);
    }
  }

  // What a variable, or an item of a tuple, is bound to.
  const Expr& ValueOf(const Expr& expr) const {
    const Expr* value = &expr;
    while (true) {
      if (const auto* var = As<Var>(value)) {
        const auto* bound = values_.Find(var);
        if (!bound) return *value;
        value = *bound;
      } else if (const auto* item = As<TupleGetItem>(value)) {
        const Expr* whole = nullptr;
        WithStack([&] { whole = &ValueOf(*item->tuple); });
        const auto* tuple = As<Tuple>(whole);
        if (!tuple) return *value;
        value = tuple->fields[static_cast<uint32_t>(item->index)];
      } else {
        return *value;
      }
    }
  }

  void AddOthers(const Type* type) {
    const auto* tuple = As<TupleType>(type);
    if (!tuple) return outputs.push_back({});
    for (const Type* field : tuple->fields) WithStack([&] { AddOthers(field); });
  }

  LookupMap<const Var*, const Expr*> values_;
};

// The first rows of a tensor; null if the others count.
std::shared_ptr<const NDArray> FirstRows(const std::shared_ptr<const NDArray>& whole, int64_t rows,
                                         const NDArray* count) {
  std::vector<int64_t> shape(whole->shape().begin(), whole->shape().end());
  const size_t used = whole->num_bytes() / static_cast<size_t>(shape[0]) * static_cast<size_t>(rows);
  shape[0] = rows;
  const std::span unused(whole->data() + used, whole->num_bytes() - used);
  const auto is_zero = [](std::byte byte) { return byte == std::byte{0}; };
  const bool is_all = count ? count->As<int64_t>()[0] == rows : std::ranges::all_of(unused, is_zero);
  return is_all ? NDArray::View(whole->dtype(), shape, whole->data(), whole) : nullptr;
}

}  // namespace

std::vector<CountedRows> FindCountedRows(const Function& function) {
  const auto* body = As<SeqExpr>(function.body);
  if (!body) return {};
  const std::vector<OutputFinder::Output> outputs = OutputFinder(*body).outputs;
  std::vector<CountedRows> counted;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Call* call = outputs[i].call;
    if (!call || outputs[i].result != 0) continue;
    const size_t last = To<TupleType>(call->type)->fields.size() - 1;
    const auto is_count = [&](const OutputFinder::Output& other) { return other.call == call && other.result == last; };
    const auto count = std::ranges::find_if(outputs, is_count);
    counted.push_back({i, count == outputs.end() ? std::nullopt : std::optional<size_t>(count - outputs.begin())});
  }
  return counted;
}

RunOutcome OnlyCountedRows(RunOutcome expected, const RunOutcome& got, const std::vector<CountedRows>& counted) {
  for (const CountedRows& rows : counted) {
    const size_t last = std::max(rows.output, rows.count.value_or(0));
    if (last >= expected.outputs.size() || last >= got.outputs.size()) continue;
    const std::shared_ptr<const NDArray> want = expected.outputs[rows.output].tensor;
    const std::span<const int64_t> shape = got.outputs[rows.output].tensor->shape();
    if (shape.empty() || shape.size() != want->shape().size() || shape[0] >= want->shape()[0] ||
        !std::ranges::equal(shape.subspan(1), want->shape().subspan(1)))
      continue;
    const NDArray* count = rows.count ? expected.outputs[*rows.count].tensor.get() : nullptr;
    if (count && (count->dtype() != DataType::Int(64) || count->num_elements() != 1)) continue;
    if (auto cut = FirstRows(want, shape[0], count)) expected.outputs[rows.output].tensor = std::move(cut);
  }
  return expected;
}

}  // namespace iropt
