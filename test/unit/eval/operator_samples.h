// Calls of every operator with a kernel, written as in a script, on tensors of a dtype.
#pragma once

#include <deque>
#include <map>
#include <optional>

#include "eval_test_util.h"
#include "iropt/infer/infer.h"
#include "iropt/infer/py_value.h"
#include "iropt/ir/context.h"
#include "iropt/ir/tir/expr.h"
#include "iropt/op/op.h"
#include "value_cases.h"

namespace iropt {

// Generates calls, and keeps those that the operators' type rules accept. The calls live as long as it.
class OperatorSamples {
 public:
  using Args = std::vector<PyValue>;
  using Keywords = std::vector<std::pair<std::string_view, PyValue>>;

  explicit OperatorSamples(DataType dtype) : dtype_(dtype) {
    AddElementwise();
    AddCreation();
    AddMovement();
    AddReductions();
    AddWindows();
    AddNetworks();
    AddData();
    AddCases();
  }

  struct Sample {
    const Call* call;
    const Type* type;  // the inferred type
  };
  // By the names of the operators; none for a dtype that the operator refuses.
  const std::map<std::string, std::vector<Sample>, std::less<>>& calls() const { return calls_; }
  Workspace& workspace() { return workspace_; }

 private:
  void Add(std::string op, const Args& args, const Keywords& keywords = {}) {
    const OpInfo* info = FindOp("relax." + op);
    REQUIRE(info != nullptr);
    calls_["relax." + op];
    std::vector<PyKeyword> named;
    for (const auto& [name, value] : keywords) named.push_back({name, {}, value});
    DiagnosticBuffer buffer;
    DiagnosticEngine engine(&buffer);
    const Call* call = BuildOpCall(*info, args, named, {}, workspace_, engine);
    if (!call) return;
    InferContext context(nullptr, workspace_.arena(), &engine);
    if (const Type* type = InferType(call, context)) calls_["relax." + op].push_back({call, type});
  }

  PyValue Const(const Tensor& tensor) {
    PyValue value;
    value.kind = PyValue::Kind::kExpr;
    value.expr = MakeConstant(tensor, workspace_);
    return value;
  }
  PyValue X(Dims shape, const std::vector<double>& values) { return Const(T(dtype_, std::move(shape), values)); }
  std::string_view Name(DataType dtype) { return names_.emplace_back(dtype.ToString()); }
  static PyValue Int(int64_t i) {
    PyValue value;
    value.kind = PyValue::Kind::kInt;
    value.integer = i;
    return value;
  }
  static PyValue Float(double x) {
    PyValue value;
    value.kind = PyValue::Kind::kFloat;
    value.real = x;
    return value;
  }
  static PyValue Bool(bool b) {
    PyValue value;
    value.kind = PyValue::Kind::kBool;
    value.boolean = b;
    return value;
  }
  static PyValue Text(std::string_view text) {
    PyValue value;
    value.kind = PyValue::Kind::kString;
    value.text = {text.data(), static_cast<uint32_t>(text.size())};
    return value;
  }
  PyValue List(Args items, PyValue::Kind kind = PyValue::Kind::kList) {
    lists_.push_back(std::move(items));
    PyValue value;
    value.kind = kind;
    value.list = {lists_.back().data(), static_cast<uint32_t>(lists_.back().size())};
    return value;
  }
  PyValue Ints(std::initializer_list<int64_t> ints) {
    Args items;
    for (const int64_t i : ints) items.push_back(Int(i));
    return List(std::move(items));
  }

  void AddElementwise() {
    for (const char* op :
         {"acos",  "acosh",    "asin",    "asinh",    "atan",         "atanh",       "cos",        "cosh",    "erf",
          "exp",   "log",      "rsqrt",   "sigmoid",  "sin",          "sinh",        "sqrt",       "tan",     "tanh",
          "abs",   "ceil",     "floor",   "negative", "round",        "sign",        "square",     "nn.relu", "nn.gelu",
          "isinf", "isfinite", "nn.silu", "isnan",    "nn.gelu_tanh", "bitwise_not", "logical_not"}) {
      Add(op, {X({2}, {1, 1})});
    }
    for (const char* op : {"add",         "subtract",      "multiply",    "divide",     "floor_divide", "power",
                           "maximum",     "minimum",       "equal",       "not_equal",  "less",         "less_equal",
                           "greater",     "greater_equal", "bitwise_and", "bitwise_or", "bitwise_xor",  "left_shift",
                           "right_shift", "logical_and",   "logical_or",  "logical_xor"}) {
      Add(op, {X({2, 1}, {6, 7}), X({3}, {1, 2, 3})});
    }
    for (const DataType to : AllTypes()) Add("astype", {X({2}, {0, 1}), Text(Name(to))});
    Add("clip", {X({2}, {1, 5}), Int(0), Int(2)});
    Add("where", {Const(B({2, 1}, {0, 1})), X({3}, {1, 2, 3}), X({}, {0})});
    Add("ewise_fma", {X({2}, {1, 2}), X({2}, {3, 4}), X({2}, {5, 6})});
    Add("nn.leakyrelu", {X({2}, {1, 2})}, {{"alpha", Float(0.1)}});
  }

  void AddCreation() {
    for (const char* op : {"zeros", "ones"}) Add(op, {Ints({2, 3}), Text(Name(dtype_))});
    for (const char* op : {"zeros_like", "ones_like"}) Add(op, {X({2}, {1, 2})});
    Add("full", {Ints({2, 3}), X({}, {1})});
    Add("full_like", {X({2}, {1, 2}), X({}, {7})});
    Add("arange", {Int(1), Int(8), Int(3), Text(Name(dtype_))});
    for (const char* op : {"tril", "triu"}) Add(op, {X({2, 2}, {1, 2, 3, 4}), Int(0)});
    Add("shape_to_tensor", {List({List({Int(2), Int(3)}, PyValue::Kind::kTuple)}).items()[0]});
    Add("tensor_to_shape", {X({2}, {2, 3})});
  }

  void AddMovement() {
    const PyValue x = X({2, 1, 3}, Iota(6));
    Add("reshape", {x, Ints({3, 2})});
    Add("flatten", {x});
    Add("squeeze", {x, Ints({1})});
    Add("expand_dims", {x, Ints({0, -1})});
    Add("permute_dims", {x, Ints({2, 0, 1})});
    Add("broadcast_to", {x, Ints({4, 2, 5, 3})});
    Add("tile", {x, Ints({2, 1, 3})});
    Add("repeat", {x, Int(2), Int(2)});
    Add("flip", {x, Int(0)});
    Add("concat", {List({x, x}, PyValue::Kind::kTuple), Int(1)});
    Add("split", {x, Int(2), Int(0)});
    Add("strided_slice", {x}, {{"axes", Ints({2})}, {"begin", Ints({0})}, {"end", Ints({3})}, {"strides", Ints({2})}});
    Add("dynamic_strided_slice",
        {x, Const(I64({3}, {0, 0, 2})), Const(I64({3}, {2, 1, 0})), Const(I64({3}, {1, 1, -1}))});
    Add("nn.pad", {x, Ints({0, 0, 1, 1, 0, 2})});
    Add("take", {x, Const(I64({2}, {2, 0}))}, {{"axis", Int(2)}});
    Add("scatter_elements", {x, Const(I64({1, 1, 2}, {0, 1})), X({1, 1, 2}, {8, 9})}, {{"axis", Int(0)}});
    Add("scatter_nd", {x, Const(I64({1, 1}, {1})), X({1, 1, 3}, {7, 8, 9})});
    Add("collapse_sum_to", {x, Ints({1, 3})});
    Add("collapse_sum_like", {x, X({1, 3}, Iota(3))});
    IRContext& context = IRContext::Current();
    const tir::Var* i = context.NewSymVar("i");
    const tir::Var* j = context.NewSymVar("j");
    PyValue map;
    map.kind = PyValue::Kind::kAttr;
    map.attr = IndexMapAttr::Get(std::vector<const tir::Var*>{i, j}, std::vector<const PrimExpr*>{j, i});
    Add("layout_transform", {X({2, 3}, Iota(6))}, {{"index_map", map}});
  }

  void AddReductions() {
    const PyValue x = X({2, 3}, {4, 1, 3, 2, 5, 6});
    for (const char* op : {"sum", "prod", "max", "min", "mean", "variance", "std"}) {
      Add(op, {x});
      Add(op, {x, Ints({-1})}, {{"keepdims", Bool(true)}});
    }
    for (const char* op : {"argmax", "argmin"}) {
      Add(op, {x});
      Add(op, {x, Int(1)}, {{"keepdims", Bool(true)}});
    }
    for (const char* op : {"cumsum", "cumprod"}) {
      Add(op, {x});
      Add(op, {x, Int(0), Text("float64")});
    }
    Add("sort", {x});
    Add("argsort", {x}, {{"axis", Int(0)}, {"descending", Bool(true)}});
  }

  void AddWindows() {
    const PyValue line = X({1, 2, 6}, Iota(12));
    const PyValue image = X({1, 2, 4, 4}, Iota(32));
    const PyValue volume = X({1, 1, 3, 3, 3}, Iota(27));
    for (const char* kind : {"nn.max_pool", "nn.avg_pool"}) {
      Add(kind + std::string("1d"), {line}, {{"pool_size", Ints({2})}, {"strides", Ints({2})}});
      Add(kind + std::string("2d"), {image},
          {{"pool_size", Ints({3, 2})}, {"ceil_mode", Bool(true)}, {"strides", Ints({2, 2})}});
      Add(kind + std::string("3d"), {volume}, {{"pool_size", Ints({2, 2, 2})}, {"padding", Ints({0, 0, 0, 1, 1, 1})}});
    }
    Add("nn.adaptive_avg_pool1d", {line}, {{"output_size", Ints({3})}});
    Add("nn.adaptive_avg_pool2d", {image}, {{"output_size", Ints({3, 1})}});
    Add("nn.adaptive_avg_pool3d", {volume});
    Add("nn.conv1d", {line, X({3, 2, 2}, Iota(12))}, {{"strides", Ints({2})}});
    Add("nn.conv2d", {image, X({2, 1, 3, 3}, Iota(18))}, {{"groups", Int(2)}, {"padding", Ints({1, 1})}});
    Add("nn.conv2d", {image, X({4, 2, 1, 1}, Iota(8))}, {{"out_layout", Text("NHWC")}, {"out_dtype", Text("float16")}});
    Add("nn.conv3d", {volume, X({1, 1, 2, 2, 2}, Iota(8))});
    Add("nn.conv1d_transpose", {line, X({2, 3, 2}, Iota(12))}, {{"strides", Ints({2})}, {"output_padding", Ints({1})}});
    Add("nn.conv2d_transpose", {image, X({2, 1, 3, 3}, Iota(18))}, {{"strides", Ints({2, 2})}});
    Add("image.resize2d", {image, Ints({3, 7})});
    for (const char* op : {"grad.max_pool2d_backward", "grad.avg_pool2d_backward"})
      Add(op, {X({1, 2, 2, 2}, Iota(8)), image}, {{"pool_size", Ints({2, 2})}, {"strides", Ints({2, 2})}});
  }

  void AddNetworks() {
    const PyValue x = X({2, 4}, Iota(8));
    const PyValue four = X({4}, {1, 2, 3, 4});
    Add("nn.layer_norm", {x, four, four}, {{"axes", Ints({-1})}});
    Add("nn.rms_norm", {x, four}, {{"axes", Ints({-1})}});
    Add("nn.group_norm", {x, four, four}, {{"num_groups", Int(2)}, {"channel_axis", Int(1)}, {"axes", Ints({})}});
    Add("nn.batch_norm", {x, four, four, four, four}, {{"axis", Int(1)}});
    Add("nn.dropout", {x}, {{"rate", Float(0)}});
    Add("nn.cross_entropy_with_logits", {x, x});
    const PyValue targets = Const(I64({2}, {3, 0}));
    Add("nn.nll_loss", {x, targets, four});
    Add("nn.nll_loss", {x, targets}, {{"reduction", Text("none")}});
    Add("grad.nll_loss_backward", {X({}, {1}), x, targets, four});
    Add("grad.take_backward", {x, x, Const(I64({2}, {0, 0}))}, {{"axis", Int(0)}});
    const PyValue heads = X({1, 2, 2, 3}, Iota(12));
    Add("nn.attention", {heads, heads, heads}, {{"causal_mask", Text("TopLeft")}});
    Add("nn.attention_bias", {heads, heads, heads, X({1, 2, 2, 2}, Iota(8))});
    const PyValue starts = Const(I32({3}, {0, 1, 2}));
    const PyValue longest = Const(I32({1}, {1}));
    Add("nn.attention_var_len", {heads, heads, heads, starts, longest});
    Add("matmul", {X({2, 3}, Iota(6)), X({3}, {1, 2, 3})});
    Add("matmul", {X({2, 3}, Iota(6)), X({4, 3, 2}, Iota(24))});
    for (const char* op : {"nn.softmax", "nn.log_softmax"}) Add(op, {x}, {{"axis", Int(0)}});
  }

  void AddData() {
    const PyValue x = X({2, 4}, Iota(8));
    for (const DataType out : AllTypes()) {
      Add("quantize", {x, Const(F32({}, {1})), Const(T(DataType::Int(8), {}, {0}))}, {{"out_dtype", Text(Name(out))}});
      for (const PyValue& zero : {X({}, {0}), Const(T(DataType::Int(8), {}, {0}))})
        Add("dequantize", {x, Const(F32({}, {1})), zero}, {{"out_dtype", Text(Name(out))}});
    }
    Add("einsum", {List({x, x}, PyValue::Kind::kTuple), Text("ij,ij->i")});
    Add("unique", {x});
    Add("nonzero", {X({3}, {0, 1, 2})});
    for (const char* wanted : {"both", "values", "indices"})
      Add("topk", {x}, {{"k", Int(2)}, {"ret_type", Text(wanted)}});
    Add("multinomial_from_uniform", {x, Const(F32({1, 1}, {0.5})), Const(I64({1, 1}, {1}))});
    for (const char* op : {"inspect.tensor_byte_offset", "inspect.tensor_dtype_bits", "inspect.tensor_dtype_code",
                           "inspect.tensor_dtype_lanes", "inspect.tensor_elem_offset", "inspect.tensor_ndim"})
      Add(op, {x});
    for (const char* op : {"inspect.tensor_shape_i", "inspect.tensor_stride_i"}) Add(op, {x, Int(1)});
    Add("shape_of", {x});
    Add("wrap_param", {x}, {{"dtype", Text("float16")}});
    Add("grad.no_grad", {x});
    Add("memory.ensure_zero_offset", {x});
    Add("memory.view", {x, Ints({4, 2})});
    // The type rules of these require a variable, which the value replaces.
    for (const char* op : {"grad.start_checkpoint", "grad.end_checkpoint"}) calls_[std::string("relax.") + op] = {};
  }

  // The calls that have values in the cases of the type rules.
  void AddCases() {
    for (const TypeCase& c : TypeCases()) {
      if (c.kind != TypeCase::Kind::kValue) continue;
      const std::string script = c.call.substr(2, c.call.find('(') - 2);
      std::vector<Sample>& samples = calls_["relax." + script];
      if (c.dtype != dtype_.ToString()) continue;
      const ValueCase& read = cases_.emplace_back(c);
      if (read.call()) samples.push_back({read.call(), read.call()->type});
    }
  }

  const DataType dtype_;
  Workspace workspace_;
  std::deque<ValueCase> cases_;
  std::deque<Args> lists_;
  std::deque<std::string> names_;
  std::map<std::string, std::vector<Sample>, std::less<>> calls_;
};

// The operators that have a kernel.
inline std::vector<const OpInfo*> EvaluatedOps() {
  std::vector<const OpInfo*> ops;
  for (const OpInfo& op : AllOps()) {
    if (HasKernel(op)) ops.push_back(&op);
  }
  return ops;
}

// The values of the operands of a call of literals.
inline std::vector<HostValue> OperandsOf(const Call& call) {
  std::vector<HostValue> args;
  for (const Expr* arg : call.args) {
    const std::optional<HostValue> value = LiteralValue(arg);
    REQUIRE(value.has_value());
    args.push_back(*value);
  }
  return args;
}

}  // namespace iropt
