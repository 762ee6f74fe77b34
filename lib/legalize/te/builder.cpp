// Stages of tensor expressions, and the PrimFuncs that they become.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "iropt/analysis/tir/complete_prim_func.h"
#include "iropt/ir/limits.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/legalize/te.h"
#include "iropt/support/lookup.h"

namespace iropt::te {

namespace {

// The buffers that expressions read, each once, in post-order.
class LoadCollector : public tir::ExprVisitor {
 public:
  const std::vector<const tir::Buffer*>& loads() const { return loads_; }

 protected:
  void VisitBufferLoad(const tir::BufferLoad* load) override {
    ExprVisitor::VisitBufferLoad(load);
    if (std::find(loads_.begin(), loads_.end(), load->buffer) == loads_.end()) loads_.push_back(load->buffer);
  }

 private:
  std::vector<const tir::Buffer*> loads_;
};

// The dtype of the extent of the only axis of a stage without dimensions. TVM 0.18 makes it that of other indices only
// if the stage has such.
DataType UnitAxisDType(const PrimExpr* value) {
  bool has_indices = false;
  tir::PostOrderVisit(value, [&](const Node* node) {
    const auto* load = As<tir::BufferLoad>(node);
    has_indices |= load && !load->indices.empty();
  });
  return DataType::Int(has_indices ? 64 : 32);
}

// Names of blocks: a name that is taken gets "_" and a number.
class BlockNames {
 public:
  std::string Unique(const std::string& name) {
    if (used_.try_emplace(name, 0).second) return name;
    while (true) {
      std::string fresh = fmt::format("{}_{}", name, ++used_[name]);
      if (used_.try_emplace(fresh, 0).second) return fresh;
    }
  }

 private:
  LookupMap<std::string, int> used_;  // the last number that was tried
};

std::vector<Value> IdentityOf(Reducer reducer, Builder& te, std::span<const PrimExpr* const> values) {
  const DataType dtype = values[0]->dtype;
  switch (reducer) {
    case Reducer::kSum: {
      std::vector<Value> zeros;
      for (const PrimExpr* value : values) zeros.push_back(te.Const(0, value->dtype));
      return zeros;
    }
    case Reducer::kProd: return {te.Const(1, dtype)};
    case Reducer::kMin: return {te.Greatest(dtype)};
    case Reducer::kMax: return {te.Least(dtype)};
    case Reducer::kFiniteMax: return {te.MinValue(dtype)};
    case Reducer::kAny: return {te.Const(0, dtype)};
    case Reducer::kAll: return {te.Const(1, dtype)};
    // An element that is as extreme as the initial value has a smaller index, so that it wins.
    case Reducer::kArgMin: return {te.MaxValue(dtype), te.Greatest(values[1]->dtype)};
    case Reducer::kArgMax: return {te.MaxValue(dtype), te.Least(values[1]->dtype)};
  }
  IROPT_UNREACHABLE("reducer {}", static_cast<int>(reducer));
}

}  // namespace

Builder::Builder(TextVersion version)
    : workspace_(version), func_(workspace_), make_(workspace_), analyzer_(make_, arith::Analyzer::SymVars::kAny) {}

// ---- Scalars

Value Builder::Const(double value, DataType dtype) {
  if (dtype.is_floating()) return {make_.Float(value, dtype), *this};
  return {make_.Int(static_cast<int64_t>(value), dtype), *this};
}

Value Builder::MaxValue(DataType dtype) {
  if (dtype.is_floating()) return {make_.Float(*GreatestFinite(dtype), dtype), *this};
  if (dtype.bits == 64 && dtype.is_int()) return Int(std::numeric_limits<int64_t>::max(), dtype);
  if (dtype.bits == 64) return {make_.Int(-1, dtype), *this};
  return Int((int64_t{1} << (dtype.bits - (dtype.is_int() ? 1 : 0))) - 1, dtype);
}

Value Builder::MinValue(DataType dtype) {
  if (dtype.is_floating()) return {make_.Float(-*GreatestFinite(dtype), dtype), *this};
  if (dtype.is_uint()) return Int(0, dtype);
  if (dtype.bits == 64) return Int(std::numeric_limits<int64_t>::min(), dtype);
  return Int(-(int64_t{1} << (dtype.bits - 1)), dtype);
}

Value Builder::Infinity(DataType dtype) { return {make_.Float(std::numeric_limits<double>::infinity(), dtype), *this}; }

Value Builder::Greatest(DataType dtype) { return HasInfinity(dtype) ? Infinity(dtype) : MaxValue(dtype); }
Value Builder::Least(DataType dtype) {
  if (!HasInfinity(dtype)) return MinValue(dtype);
  return {make_.Float(-std::numeric_limits<double>::infinity(), dtype), *this};
}

Value Builder::Simplify(Value value) { return value.expr() ? Value(analyzer_.Simplify(value.expr()), *this) : value; }

bool Builder::Equal(Value a, Value b) {
  if (a.AsInt() && b.AsInt()) return *a.AsInt() == *b.AsInt();
  if (a.expr() == b.expr()) return true;
  return Simplify(a - b).Is(0);
}

std::vector<const PrimExpr*> Builder::Dims(Values shape) {
  std::vector<const PrimExpr*> dims;
  dims.reserve(shape.size());
  for (const Value& dim : shape) dims.push_back(make_.Cast(DataType::Int(64), NodeOf(dim)));
  return dims;
}

// ---- Parameters

Tensor Builder::NewTensor(std::string_view name, std::vector<const PrimExpr*> shape, DataType dtype, int stage,
                          Placement placement, const std::vector<int64_t>& axis_separators, int64_t align) {
  tir::BufferSpec spec;
  spec.align = align;
  spec.axis_separators = axis_separators;
  spec.shape = std::move(shape);
  spec.dtype = dtype;
  if (placement == Placement::kAnywhere) {
    spec.offset_factor = 1;
    spec.elem_offset = workspace_.NewPrimVar("elem_offset", DataType::Int(64));
  }
  const tir::Buffer* buffer = tir::MakeBuffer(workspace_, spec, name);
  stage_of_.resize(std::max<size_t>(stage_of_.size(), buffer->id + size_t{1}), -1);
  stage_of_[buffer->id] = stage;
  return {buffer, *this};
}

Tensor Builder::Input(std::string_view name, Values shape, DataType dtype, Placement placement,
                      const std::vector<int64_t>& axis_separators) {
  const int64_t align = placement == Placement::kAligned8 ? 8 : 0;
  const Tensor tensor = NewTensor(name, Dims(shape), dtype, -1, placement, axis_separators, align);
  func_.AddParam(workspace_.NewPrimVar(fmt::format("var_{}", name), DataType::Handle()), tensor.buffer());
  return tensor;
}

Value Builder::ScalarInput(std::string_view name, DataType dtype) { return {func_.Param(name, dtype), *this}; }

std::string_view Tensor::name() const {
  const int stage = te_->stage_of_[buffer_->id];
  return stage < 0 ? buffer_->name : std::string_view(te_->stages_[static_cast<size_t>(stage)].name);
}

// ---- Stages

Builder::Stage Builder::NewStage(std::string_view name, const StageOptions& options) {
  Stage stage;
  stage.name = name;
  stage.annotations = options.annotations;
  for (const Tensor& input : options.layout_free) stage.layout_free.push_back(input.buffer());
  return stage;
}

Value Builder::AddAxis(Stage& stage, std::string_view name, const PrimExpr* extent, tir::IterVarType type) {
  const PrimExpr* simple = analyzer_.Simplify(extent);
  stage.loops.push_back(workspace_.NewPrimVar(name, extent->dtype));
  const tir::Var* var = workspace_.NewPrimVar(fmt::format("v_{}", name), extent->dtype);
  const auto* dom = workspace_.New<tir::Range>(make_.Int(0, extent->dtype), simple);
  stage.axes.push_back(workspace_.New<tir::IterVar>(dom, var, type));
  return {var, *this};
}

std::vector<Value> Builder::AddAxes(Stage& stage, Values shape, const StageOptions& options) {
  std::vector<Value> vars;
  vars.reserve(shape.size());
  for (const PrimExpr* extent : Dims(shape)) {
    const size_t i = vars.size();
    const size_t listed = options.axes.size();
    const std::string name = i < listed ? std::string(options.axes[i])
                                        : fmt::format("{}{}", options.rest, options.rest == "i" ? i - listed : i);
    vars.push_back(AddAxis(stage, name, extent, tir::IterVarType::kDataPar));
  }
  stage.num_spatial = vars.size();
  return vars;
}

Tensor Builder::Compute(std::string_view name, Values shape, ComputeFn value, const StageOptions& options) {
  Stage stage = NewStage(name, options);
  const std::vector<Value> vars = AddAxes(stage, shape, options);
  stage.values = {NodeOf(value(vars))};
  const Tensor result = NewTensor(name, Dims(shape), stage.values[0]->dtype, static_cast<int>(stages_.size()),
                                  Placement::kWhole, options.axis_separators);
  stage.outputs = {result.buffer()};
  stages_.push_back(std::move(stage));
  return result;
}

Tensor Builder::Scatter(std::string_view name, Values domain, Values shape, ComputeFn value,
                        FunctionRef<std::vector<Value>(Values)> position, const StageOptions& options) {
  Stage stage = NewStage(name, options);
  const std::vector<Value> vars = AddAxes(stage, domain, options);
  stage.values = {NodeOf(value(vars))};
  for (const Value& index : position(vars)) stage.position.push_back(analyzer_.Simplify(NodeOf(index)));
  const Tensor result = NewTensor(name, Dims(shape), stage.values[0]->dtype, static_cast<int>(stages_.size()),
                                  Placement::kWhole, options.axis_separators);
  stage.outputs = {result.buffer()};
  stages_.push_back(std::move(stage));
  return result;
}

Tensor Builder::Reduce(std::string_view name, Values shape, std::span<const ReduceAxis> axes, Reducer reducer,
                       ReduceFn value, const StageOptions& options) {
  const auto values = [&](Values spatial, Values reduced) { return std::vector<Value>{value(spatial, reduced)}; };
  return ReduceMany(name, shape, axes, reducer, values, options)[0];
}

std::vector<Tensor> Builder::ReduceMany(std::string_view name, Values shape, std::span<const ReduceAxis> axes,
                                        Reducer reducer, ReduceManyFn values, const StageOptions& options) {
  Stage stage = NewStage(name, options);
  stage.reducer = reducer;
  const std::vector<Value> spatial = AddAxes(stage, shape, options);
  std::vector<Value> reduced;
  for (const ReduceAxis& axis : axes) {
    const PrimExpr* extent = Dims(Values(&axis.extent, 1))[0];
    reduced.push_back(AddAxis(stage, axis.name, extent, tir::IterVarType::kCommReduce));
  }
  std::vector<Tensor> results;
  for (const Value& value : values(spatial, reduced)) stage.values.push_back(NodeOf(value));
  const bool is_empty = std::ranges::any_of(axes, [](const ReduceAxis& axis) { return axis.extent.Is(0); });
  if (is_empty && stage.values.size() == 1) {
    // A block whose reduction does not run does not initialize its result either.
    stage.values = {NodeOf(IdentityOf(reducer, *this, stage.values)[0])};
    stage.axes.resize(stage.num_spatial);
    stage.loops.resize(stage.num_spatial);
    stage.reducer.reset();
  }
  for (const PrimExpr* value : stage.values) {
    const std::string buffer_name =
        stage.values.size() == 1 ? std::string(name) : fmt::format("{}_v{}", name, results.size());
    results.push_back(NewTensor(buffer_name, Dims(shape), value->dtype, static_cast<int>(stages_.size())));
    stage.outputs.push_back(results.back().buffer());
  }
  stages_.push_back(std::move(stage));
  return results;
}

std::vector<Tensor> Builder::Extern(std::string_view name, std::span<const Tensor> inputs,
                                    std::span<const ExternOutput> outputs, ExternFn body) {
  Stage stage = NewStage(name, {});
  std::vector<Tensor> results;
  for (const ExternOutput& output : outputs) {
    results.push_back(NewTensor(output.name, Dims(output.shape), output.dtype, static_cast<int>(stages_.size()),
                                output.placement, {}, output.align));
    stage.outputs.push_back(results.back().buffer());
  }
  for (const Tensor& input : inputs) stage.inputs.push_back(input.buffer());
  tir::StmtBuilder statements(workspace_);
  statements.OpenBody();
  body(statements, results);
  stage.body = statements.TakeBody();
  stages_.push_back(std::move(stage));
  return results;
}

// ---- The function

std::vector<int> Builder::OrderStages(std::span<const Tensor> outputs) const {
  struct Visit {
    int stage;
    std::vector<const tir::Buffer*> inputs;
    size_t next = 0;
  };
  std::vector<bool> seen(stages_.size(), false);
  std::vector<int> order;
  std::vector<Visit> open;
  const auto enter = [&](const tir::Buffer* buffer) {
    const int at = stage_of_[buffer->id];
    if (at < 0 || seen[static_cast<size_t>(at)]) return;
    seen[static_cast<size_t>(at)] = true;
    const Stage& stage = stages_[static_cast<size_t>(at)];
    LoadCollector collector;
    for (const PrimExpr* value : stage.values) collector.VisitExpr(value);
    open.push_back({at, stage.body ? stage.inputs : collector.loads()});
  };
  for (const Tensor& output : outputs) {
    enter(output.buffer());
    while (!open.empty()) {
      Visit& top = open.back();
      if (top.next < top.inputs.size()) {
        enter(top.inputs[top.next++]);
        continue;
      }
      order.push_back(top.stage);
      open.pop_back();
    }
  }
  return order;
}

namespace {

// The values of the two operands of a reduction, combined.
std::vector<Value> Combine(Reducer reducer, Values a, Values b) {
  switch (reducer) {
    case Reducer::kSum: {
      std::vector<Value> sums;
      for (size_t i = 0; i < a.size(); ++i) sums.push_back(a[i] + b[i]);
      return sums;
    }
    case Reducer::kProd: return {a[0] * b[0]};
    case Reducer::kMin: return {Min(a[0], b[0])};
    case Reducer::kMax:
    case Reducer::kFiniteMax: return {Max(a[0], b[0])};
    case Reducer::kAny: return {a[0] || b[0]};
    case Reducer::kAll: return {a[0] && b[0]};
    case Reducer::kArgMin:
    case Reducer::kArgMax: break;
  }
  const bool is_min = reducer == Reducer::kArgMin;
  const Value better = is_min ? a[1] < b[1] : a[1] > b[1];
  const Value takes = better || (a[1] == b[1] && a[0] < b[0]);
  if (a[1].dtype().is_integer()) return {Select(takes, a[0], b[0]), Select(better, a[1], b[1])};
  // The first NaN, the only value that differs from itself, is better than all numbers.
  const Value is_nan = a[1] != a[1];
  const Value is_first = Select(b[1] != b[1], is_nan && a[0] < b[0], is_nan || takes);
  return {Select(is_first, a[0], b[0]), Select(is_nan || better, a[1], b[1])};
}

}  // namespace

void Builder::EmitReduction(const Stage& stage, std::span<const PrimExpr* const> indices) {
  std::vector<Value> left, right;
  for (size_t i = 0; i < stage.outputs.size(); ++i) {
    left.emplace_back(func_.Load(stage.outputs[i], indices), *this);
    right.emplace_back(analyzer_.Simplify(stage.values[i]), *this);
  }
  const std::vector<Value> identity = IdentityOf(*stage.reducer, *this, stage.values);
  {
    const tir::Frame init = func_.Init();
    for (size_t i = 0; i < identity.size(); ++i) func_.Store(stage.outputs[i], indices, NodeOf(identity[i]));
  }
  const std::vector<Value> combined = Combine(*stage.reducer, left, right);
  if (combined.size() == 1) return func_.Store(stage.outputs[0], indices, NodeOf(combined[0]));
  // All values are computed before any of them is stored.
  const size_t depth = func_.depth();
  std::vector<const tir::Var*> vars;
  for (size_t i = 0; i < combined.size(); ++i) {
    vars.push_back(workspace_.NewPrimVar(fmt::format("v_{}", stage.outputs[i]->name), combined[i].dtype()));
    func_.Open<tir::LetStmt>(Span(), vars[i], NodeOf(combined[i]), nullptr);
  }
  for (size_t i = 0; i < vars.size(); ++i) func_.Store(stage.outputs[i], indices, vars[i]);
  func_.CloseTo(depth);
}

void Builder::Emit(Stage& stage, std::string_view block_name) {
  const size_t depth = func_.depth();
  for (size_t i = 0; i < stage.loops.size(); ++i) {
    const tir::Range& dom = *stage.axes[i]->dom;
    func_.Open<tir::For>(Span(), stage.loops[i], dom.min, dom.extent, tir::ForKind::kSerial, nullptr, nullptr,
                         DictAttr::Empty());
  }
  func_.OpenBlock(block_name, true);
  func_.block()->annotations = Annotations(stage);
  std::vector<const PrimExpr*> indices;
  for (size_t i = 0; i < stage.axes.size(); ++i) {
    func_.Axis(stage.axes[i], stage.loops[i]);
    if (i < stage.num_spatial) indices.push_back(stage.axes[i]->var);
  }
  if (!stage.position.empty()) indices = stage.position;
  if (stage.axes.empty() && !stage.body)
    func_.Axis(tir::IterVarType::kDataPar, "vi", make_.Int(1, UnitAxisDType(stage.values[0])), make_.Int(0));
  if (stage.body) {
    func_.Reads({});
    func_.Writes({});
    func_.Emit(stage.body);
  } else if (stage.reducer) {
    EmitReduction(stage, indices);
  } else {
    func_.Store(stage.outputs[0], indices, analyzer_.Simplify(stage.values[0]));
  }
  func_.CloseTo(depth);
}

// With the tensors whose layout a schedule may choose and that are not parameters.
const DictAttr* Builder::Annotations(const Stage& stage) {
  std::vector<const iropt::Attr*> layout_free;
  const auto& params = func_.param_buffers();
  for (const tir::Buffer* buffer : stage.layout_free) {
    if (std::find(params.begin(), params.end(), buffer) != params.end()) continue;
    const auto* whole = workspace_.New<tir::BufferLoad>(DataType::Handle(), buffer, List<const PrimExpr*>());
    layout_free.push_back(ExprAttr::Get(whole));
  }
  if (layout_free.empty()) return stage.annotations;
  const DictAttr* given = stage.annotations ? stage.annotations : DictAttr::Empty();
  return given->With(attr::kLayoutFreePlaceholders, ListAttr::Get(layout_free));
}

std::vector<int64_t> Builder::LayoutFreeParams(const std::vector<int>& order, size_t num_inputs) const {
  std::vector<int64_t> numbers;
  for (const int at : order) {
    for (const tir::Buffer* buffer : stages_[static_cast<size_t>(at)].layout_free) {
      for (size_t i = 0; i < num_inputs; ++i) {
        if (func_.param_buffers()[i] == buffer) numbers.push_back(static_cast<int64_t>(i));
      }
    }
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

const PrimFunc* Builder::Finish(std::span<const Tensor> outputs, std::span<const tir::Var* const> vars,
                                std::span<const DictAttr::Entry> attrs) {
  const size_t num_inputs = func_.params().size();
  for (const Tensor& output : outputs) {
    const std::string name = fmt::format("var_{}", output.buffer()->name);
    func_.AddParam(workspace_.NewPrimVar(name, DataType::Handle()), output.buffer());
  }
  for (const tir::Var* var : vars) func_.AddParam(var);
  BlockNames names;
  const std::vector<int> order = OrderStages(outputs);
  for (const int at : order) {
    Stage& stage = stages_[static_cast<size_t>(at)];
    for (const tir::Buffer* buffer : stage.outputs) {
      const auto& params = func_.param_buffers();
      if (std::find(params.begin(), params.end(), buffer) == params.end()) func_.AllocBuffer(buffer);
    }
    Emit(stage, names.Unique(stage.name));
  }
  if (const std::vector<int64_t> numbers = LayoutFreeParams(order, num_inputs); !numbers.empty()) {
    std::vector<const iropt::Attr*> list;
    for (const int64_t number : numbers) list.push_back(IntAttr::Get(number));
    func_.SetAttr(attr::kLayoutFreeBuffers, ListAttr::Get(list));
  }
  func_.SetAttr(attr::kNoAlias, IntAttr::Bool(true));
  for (const auto& [key, value] : attrs) func_.SetAttr(key, value);
  return CompletePrimFunc(func_);
}

}  // namespace iropt::te
