// Tensor expressions: tensors computed element by element or by reductions, which become the blocks of a PrimFunc.
//
//   te::Builder te(TextVersion::kV0_18);
//   const te::Tensor a = te.Input("A", {m, k}, float32);
//   const te::Tensor b = te.Input("B", {k, n}, float32);
//   const te::Tensor c = te.Reduce("matmul", {m, n}, {{"k", k}}, te::Reducer::kSum, [&](te::Values i, te::Values r) {
//     return a(i[0], r[0]) * b(r[0], i[1]);
//   });
//   const PrimFunc* func = te.Finish({c});
//
// The result is that of TVM's te.create_prim_func with index dtype int64: a stage is a loop nest around one block, in
// the order in which the results need them; names of blocks are unique; bodies are simplified. Loads refer to buffers
// from the beginning, so nothing is substituted later.
//
// O(nodes), plus the simplification of the bodies.
#pragma once

#include <concepts>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "iropt/arith/analyzer.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/ir/module.h"
#include "iropt/ir/tir/builder.h"
#include "iropt/op/op_id.h"
#include "iropt/support/function_ref.h"

namespace iropt::te {

class Builder;

// A scalar expression of a Builder, or a plain integer, which takes the dtype of the other operand (int64 alone). The
// operators promote dtypes and fold constants as TVM's do.
class Value {
 public:
  Value() = default;
  template <std::integral T>
  Value(T literal) : literal_(static_cast<int64_t>(literal)) {}  // NOLINT: stands for the value
  Value(const PrimExpr* expr, Builder& te) : expr_(expr), te_(&te) {}

  // Null for a plain integer.
  const PrimExpr* expr() const { return expr_; }
  Builder* te() const { return te_; }
  int64_t literal() const { return literal_; }
  DataType dtype() const { return expr_ ? expr_->dtype : DataType::Int(64); }
  // The value of an integer constant.
  std::optional<int64_t> AsInt() const;
  bool Is(int64_t value) const { return AsInt() == value; }

 private:
  const PrimExpr* expr_ = nullptr;
  Builder* te_ = nullptr;
  int64_t literal_ = 0;
};
using Values = std::span<const Value>;
using Shape = std::vector<Value>;

// ---- Scalar operations
Value Binary(NodeKind kind, Value a, Value b);
inline Value operator+(Value a, Value b) { return Binary(NodeKind::kAdd, a, b); }
inline Value operator-(Value a, Value b) { return Binary(NodeKind::kSub, a, b); }
inline Value operator*(Value a, Value b) { return Binary(NodeKind::kMul, a, b); }
inline Value operator<(Value a, Value b) { return Binary(NodeKind::kLT, a, b); }
inline Value operator<=(Value a, Value b) { return Binary(NodeKind::kLE, a, b); }
inline Value operator>(Value a, Value b) { return Binary(NodeKind::kGT, a, b); }
inline Value operator>=(Value a, Value b) { return Binary(NodeKind::kGE, a, b); }
inline Value operator==(Value a, Value b) { return Binary(NodeKind::kEQ, a, b); }
inline Value operator!=(Value a, Value b) { return Binary(NodeKind::kNE, a, b); }
inline Value operator&&(Value a, Value b) { return Binary(NodeKind::kAnd, a, b); }
inline Value operator||(Value a, Value b) { return Binary(NodeKind::kOr, a, b); }
Value operator!(Value a);
// Truncated division of integers, division of floats.
inline Value Div(Value a, Value b) { return Binary(NodeKind::kDiv, a, b); }
inline Value TruncMod(Value a, Value b) { return Binary(NodeKind::kMod, a, b); }
inline Value FloorDiv(Value a, Value b) { return Binary(NodeKind::kFloorDiv, a, b); }
inline Value FloorMod(Value a, Value b) { return Binary(NodeKind::kFloorMod, a, b); }
inline Value Min(Value a, Value b) { return Binary(NodeKind::kMin, a, b); }
inline Value Max(Value a, Value b) { return Binary(NodeKind::kMax, a, b); }
inline Value CeilDiv(Value a, Value b) { return FloorDiv(a + (b - 1), b); }
Value Bitwise(arith::BitOp op, Value a, Value b);
Value Cast(DataType dtype, Value a);
// Both values are computed.
Value Select(Value condition, Value a, Value b);
// Only the chosen value is computed.
Value IfThenElse(Value condition, Value a, Value b);
// The intrinsic, with the dtype of its first operand.
Value Call(OpId intrinsic, std::initializer_list<Value> args);
Value Call(OpId intrinsic, DataType dtype, std::initializer_list<Value> args);

// A tensor of a Builder: an input, or the result of a stage. As cheap to copy as a pointer.
class Tensor {
 public:
  Tensor() = default;
  Tensor(const tir::Buffer* buffer, Builder& te) : buffer_(buffer), te_(&te) {}

  Value operator()(Values indices) const;
  template <class... I>
  requires(sizeof...(I) != 1 || (std::convertible_to<I, Value> && ...)) Value operator()(I... indices) const {
    const std::vector<Value> list{Value(indices)...};
    return (*this)(Values(list));
  }
  explicit operator bool() const { return buffer_ != nullptr; }
  size_t ndim() const { return buffer_->shape.size(); }
  DataType dtype() const { return buffer_->dtype; }
  Value dim(size_t i) const { return {buffer_->shape[i], *te_}; }
  Shape shape() const;
  const tir::Buffer* buffer() const { return buffer_; }
  Builder& te() const { return *te_; }
  // The name of the stage, or of the input.
  std::string_view name() const;

 private:
  const tir::Buffer* buffer_ = nullptr;
  Builder* te_ = nullptr;
};

// A tensor, or a scalar that stands for a tensor of any shape.
using Operand = std::variant<Tensor, Value>;

// The names of loops: those listed, then the prefix and the number of the dimension.
struct StageOptions {
  std::vector<std::string_view> axes = {};
  std::string_view rest = "ax";
  const DictAttr* annotations = nullptr;      // of the block
  std::vector<Tensor> layout_free = {};       // inputs whose layout a schedule may choose
  std::vector<int64_t> axis_separators = {};  // of the result
};
// The loops of Python's te.compute: i0, i1, ...
inline StageOptions PythonAxes(std::vector<std::string_view> names = {}) {
  StageOptions options;
  options.axes = std::move(names);
  options.rest = "i";
  return options;
}

struct ReduceAxis {
  std::string name;
  Value extent;
};

// kFiniteMax is a maximum that is never less than the least finite number, which is all the same to a softmax.
enum class Reducer : uint8_t { kSum, kProd, kMin, kMax, kFiniteMax, kAny, kAll, kArgMin, kArgMax };

using ComputeFn = FunctionRef<Value(Values)>;
using ReduceFn = FunctionRef<Value(Values, Values)>;
using ReduceManyFn = FunctionRef<std::vector<Value>(Values, Values)>;
// Emits the body of an opaque block, which writes the given outputs.
using ExternFn = FunctionRef<void(tir::StmtBuilder&, std::span<const Tensor>)>;

class Builder {
 public:
  // Of a function of a module of this version.
  explicit Builder(TextVersion version);
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  const arith::PrimBuilder& make() const { return make_; }
  TextVersion version() const { return make_.version(); }
  Workspace& workspace() { return workspace_; }

  // ---- Scalars
  Value Int(int64_t value, DataType dtype = DataType::Int(64)) { return {make_.Int(value, dtype), *this}; }
  // A constant of any scalar dtype.
  Value Const(double value, DataType dtype);
  // The greatest and the least finite value of a dtype.
  Value MaxValue(DataType dtype);
  Value MinValue(DataType dtype);
  Value Infinity(DataType dtype);
  // The greatest and the least value, which are infinite if the dtype has infinities.
  Value Greatest(DataType dtype);
  Value Least(DataType dtype);
  Value Simplify(Value value);
  // Proves that two values are equal.
  bool Equal(Value a, Value b);
  arith::Analyzer& analyzer() { return analyzer_; }
  // The node of a value.
  const PrimExpr* NodeOf(Value value, DataType dtype = DataType::Int(64)) {
    return value.expr() ? value.expr() : make_.Const(value.literal(), dtype);
  }

  // ---- Parameters, in the order of the function's
  // The elements of a buffer that an opaque block reads may begin anywhere in its memory, or at multiples of 8 bytes.
  enum class Placement : uint8_t { kWhole, kAnywhere, kAligned8 };
  Tensor Input(std::string_view name, Values shape, DataType dtype, Placement placement = Placement::kWhole,
               const std::vector<int64_t>& axis_separators = {});
  Tensor Input(std::string_view name, std::initializer_list<Value> shape, DataType dtype) {
    return Input(name, Values(shape.begin(), shape.size()), dtype);
  }
  Value ScalarInput(std::string_view name, DataType dtype);

  // ---- Stages
  Tensor Compute(std::string_view name, Values shape, ComputeFn value, const StageOptions& options = {});
  // Visits the elements of `domain` instead, and stores the value of each at a position in the shape.
  Tensor Scatter(std::string_view name, Values domain, Values shape, ComputeFn value,
                 FunctionRef<std::vector<Value>(Values)> position, const StageOptions& options = {});
  Tensor Reduce(std::string_view name, Values shape, std::span<const ReduceAxis> axes, Reducer reducer, ReduceFn value,
                const StageOptions& options = {});
  Tensor Reduce(std::string_view name, std::initializer_list<Value> shape, std::initializer_list<ReduceAxis> axes,
                Reducer reducer, ReduceFn value, const StageOptions& options = {}) {
    return Reduce(name, Values(shape.begin(), shape.size()), std::span(axes.begin(), axes.size()), reducer, value,
                  options);
  }
  // Reduces several values together, such as an index and the value at it.
  std::vector<Tensor> ReduceMany(std::string_view name, Values shape, std::span<const ReduceAxis> axes, Reducer reducer,
                                 ReduceManyFn values, const StageOptions& options = {});
  // A block that computes the outputs from the inputs by statements of its own.
  struct ExternOutput {
    std::string_view name;
    Shape shape;
    DataType dtype;
    int64_t align = 0;  // of the memory; 0: that of all buffers
    Placement placement = Placement::kWhole;
  };
  std::vector<Tensor> Extern(std::string_view name, std::span<const Tensor> inputs,
                             std::span<const ExternOutput> outputs, ExternFn body);

  // The function whose results are the outputs, in parameters after the inputs; `vars` are further parameters.
  const PrimFunc* Finish(std::span<const Tensor> outputs, std::span<const tir::Var* const> vars = {},
                         std::span<const DictAttr::Entry> attrs = {});
  const PrimFunc* Finish(std::initializer_list<Tensor> outputs) {
    return Finish(std::span<const Tensor>(outputs.begin(), outputs.size()));
  }

 private:
  friend class Tensor;
  struct Stage {
    std::string name;
    std::vector<const tir::Var*> loops = {};
    std::vector<const tir::IterVar*> axes = {};
    size_t num_spatial = 0;
    std::optional<Reducer> reducer = {};
    std::vector<const PrimExpr*> values = {};
    std::vector<const PrimExpr*> position = {};  // of the value, if not that of the axes
    std::vector<const tir::Buffer*> outputs = {};
    const DictAttr* annotations = nullptr;
    std::vector<const tir::Buffer*> layout_free = {};
    std::vector<const tir::Buffer*> inputs = {};  // of an opaque block
    const tir::Stmt* body = nullptr;              // of an opaque block
  };

  std::vector<const PrimExpr*> Dims(Values shape);
  Tensor NewTensor(std::string_view name, std::vector<const PrimExpr*> shape, DataType dtype, int stage,
                   Placement placement = Placement::kWhole, const std::vector<int64_t>& axis_separators = {},
                   int64_t align = 0);
  Stage NewStage(std::string_view name, const StageOptions& options);
  std::vector<Value> AddAxes(Stage& stage, Values shape, const StageOptions& options);
  Value AddAxis(Stage& stage, std::string_view name, const PrimExpr* extent, tir::IterVarType type);
  // The stages that the outputs need, each after those that it reads.
  std::vector<int> OrderStages(std::span<const Tensor> outputs) const;
  void Emit(Stage& stage, std::string_view block_name);
  const DictAttr* Annotations(const Stage& stage);
  void EmitReduction(const Stage& stage, std::span<const PrimExpr* const> indices);
  // The numbers of the parameters whose layout a schedule may choose.
  std::vector<int64_t> LayoutFreeParams(const std::vector<int>& order, size_t num_inputs) const;

  Workspace workspace_;
  tir::FuncBuilder func_;
  arith::PrimBuilder make_;
  std::vector<Stage> stages_;
  std::vector<int> stage_of_;  // by id of a buffer; -1 for inputs
  arith::Analyzer analyzer_;
};

}  // namespace iropt::te
