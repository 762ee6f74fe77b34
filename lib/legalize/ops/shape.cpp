// Legalization of operators that inspect tensors at run time: functions on the host that read the descriptor of the
// tensor.
#include <string_view>

#include "iropt/analysis/tir/complete_prim_func.h"
#include "iropt/legalize/legalize.h"
#include "iropt/legalize/topi.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"

namespace iropt::legalize {

namespace {

// Fields of a tensor's descriptor, as tir.tvm_struct_get numbers them.
enum class Field : uint8_t {
  kShape = 2,
  kStrides = 3,
  kNdim = 4,
  kTypeCode = 5,
  kTypeBits = 6,
  kTypeLanes = 7,
  kByteOffset = 8
};

// A function that returns a scalar.
class HostFunction {
 public:
  explicit HostFunction(LegalizeCall& call)
      : call_(call), workspace_(call.version()), make_(workspace_), code_(workspace_) {
    handle_ = code_.Param("dlpack_handle", DataType::Handle());
  }

  tir::FuncBuilder& code() { return code_; }
  const arith::PrimBuilder& make() const { return make_; }
  const PrimExpr* Get(Field field, DataType dtype) {
    return Call(op::kTirTvmStructGet, dtype,
                {handle_, make_.Int(0, DataType::Int(32)), make_.Int(static_cast<int>(field), DataType::Int(32))});
  }
  const PrimExpr* Call(OpId op, DataType dtype, std::initializer_list<const PrimExpr*> args) {
    return workspace_.New<tir::Call>(dtype, GetOp(op), make_.Operands(std::span(args.begin(), args.size())));
  }
  void Return(const PrimExpr* value) {
    dtype_ = value->dtype;
    code_.Evaluate(Call(op::kTirRet, value->dtype, {value}));
  }
  // The buffer of 64-bit integers that a field of the descriptor points to.
  const tir::Buffer* Integers(std::string_view name, const tir::Var* data, const PrimExpr* size) {
    tir::BufferSpec spec;
    spec.shape = {size};
    spec.dtype = DataType::Int(64);
    spec.data = data;
    return tir::MakeBuffer(workspace_, spec, name);
  }
  // The only element of a memory.
  const tir::Buffer* Number(std::string_view name, const tir::Var* data) {
    tir::BufferSpec spec;
    spec.dtype = DataType::Int(64);
    spec.data = data;
    return tir::MakeBuffer(workspace_, spec, name);
  }
  // The parameter that is the axis, which may be narrower than the lengths.
  const PrimExpr* AxisParam() {
    const auto* type = As<PrimType>(call_.arg(1)->type);
    return make_.Cast(DataType::Int(64), code_.Param("axis", type ? type->dtype : DataType::Int(64)));
  }
  tir::VarFrame Pointer(std::string_view name, Field field) {
    const auto* var = workspace_.NewPrimVar(name, DataType::Handle(), tir::PointerInfo::Get(DataType::Int(64), ""));
    const size_t depth = code_.depth();
    code_.Open<tir::LetStmt>(Span(), var, Get(field, DataType::Handle()), nullptr);
    return {tir::Frame(code_, depth), var};
  }
  const Expr* Finish(std::string_view name) {
    code_.SetReturnType(PrimType::Get(dtype_));
    // The attribute that says so since TVM 0.25; before, it had a name that nothing looked for.
    code_.SetAttr(call_.version() >= TextVersion::kV0_25 ? attr::kIsHostFunc : attr::kIsHost, IntAttr::Bool(true));
    code_.SetAttr(attr::kIsScheduled, IntAttr::Bool(true));
    const PrimFunc* func = CompletePrimFunc(code_);
    const GlobalVar* var = call_.module().AddFunction(func, workspace_.Finish(), name);
    return call_.builder().workspace().New<iropt::Call>(var, call_.call().args, nullptr, nullptr, nullptr);
  }

 private:
  LegalizeCall& call_;
  Workspace workspace_;
  arith::PrimBuilder make_;
  tir::FuncBuilder code_;
  const tir::Var* handle_ = nullptr;
  DataType dtype_;
};

const Expr* LegalizeField(LegalizeCall& call, std::string_view name, Field field) {
  HostFunction function(call);
  const DataType dtype = To<PrimType>(call.call().type)->dtype;
  {
    const tir::VarFrame value = function.code().Let("value", function.Get(field, dtype));
    function.Return(value.var);
  }
  return function.Finish(name);
}

// Calls body(axis, number of dimensions) where the axis, an argument, is one of the tensor.
template <class F>
void AtAxis(HostFunction& function, F&& body) {
  tir::FuncBuilder& code = function.code();
  const arith::PrimBuilder& make = function.make();
  const PrimExpr* axis = function.AxisParam();
  const tir::Frame positive =
      code.Assert(make.Node(NodeKind::kLE, make.Int(0), axis), "Specified axis may not be negative");
  const tir::VarFrame ndim = code.Let("ndim", function.Get(Field::kNdim, DataType::Int(32)));
  const tir::Frame bounded = code.Assert(make.Node(NodeKind::kLT, axis, make.Cast(DataType::Int(64), ndim.var)),
                                         "Specified axis may not be larger than the tensor's dimensionality");
  body(axis, ndim.var);
}

}  // namespace

const Expr* LegalizeInspectTensorDtypeBits(LegalizeCall& call) {
  return LegalizeField(call, "_get_tensor_dtype_bits", Field::kTypeBits);
}
const Expr* LegalizeInspectTensorDtypeCode(LegalizeCall& call) {
  return LegalizeField(call, "_get_tensor_dtype_code", Field::kTypeCode);
}
const Expr* LegalizeInspectTensorDtypeLanes(LegalizeCall& call) {
  return LegalizeField(call, "_get_tensor_dtype_lanes", Field::kTypeLanes);
}
const Expr* LegalizeInspectTensorNdim(LegalizeCall& call) {
  return LegalizeField(call, "_get_tensor_ndim", Field::kNdim);
}

const Expr* LegalizeInspectTensorShapeI(LegalizeCall& call) {
  HostFunction function(call);
  tir::FuncBuilder& code = function.code();
  AtAxis(function, [&](const PrimExpr* axis, const tir::Var* ndim) {
    const tir::VarFrame data = function.Pointer("shape", Field::kShape);
    const tir::Buffer* shape = function.Integers("shape", data.var, ndim);
    const tir::Frame declared = code.DeclBuffer(shape);
    const tir::VarFrame extent = code.Let("extent", code.Load(shape, {axis}));
    function.Return(extent.var);
  });
  return function.Finish("_get_tensor_shape_i");
}

// Of a compact tensor, whose strides are left out, the product of the lengths of the axes that follow.
const Expr* LegalizeInspectTensorStrideI(LegalizeCall& call) {
  HostFunction function(call);
  tir::FuncBuilder& code = function.code();
  const arith::PrimBuilder& make = function.make();
  AtAxis(function, [&](const PrimExpr* axis, const tir::Var* ndim) {
    const tir::VarFrame data = function.Pointer("stride_ptr", Field::kStrides);
    const tir::Frame choice = code.If(function.Call(op::kTirIsNullptr, DataType::Bool(), {data.var}));
    {
      const tir::Frame then = code.Then();
      const tir::VarFrame shape_data = function.Pointer("shape_ptr", Field::kShape);
      const tir::Buffer* shape = function.Integers("shape", shape_data.var, ndim);
      const tir::Frame declared_shape = code.DeclBuffer(shape);
      const tir::VarFrame memory = code.Allocate("product", DataType::Int(64), {});
      const tir::Buffer* product = function.Number("product", memory.var);
      const tir::Frame declared_product = code.DeclBuffer(product);
      code.Store(product, {}, make.Int(1));
      {
        const PrimExpr* following = make.Add(axis, make.Int(1));
        const tir::LoopFrame loop = code.For("dim_offset", make.Sub(make.Cast(DataType::Int(64), ndim), following));
        const tir::VarFrame dim = code.Let("dim", make.Add(loop.vars[0], following));
        code.Store(product, {}, make.Mul(code.Load(product, {}), code.Load(shape, {dim.var})));
      }
      function.Return(code.Load(product, {}));
    }
    {
      const tir::Frame otherwise = code.Else();
      const tir::Buffer* strides = function.Integers("strides", data.var, ndim);
      const tir::Frame declared = code.DeclBuffer(strides);
      const tir::VarFrame stride = code.Let("stride", code.Load(strides, {axis}));
      function.Return(stride.var);
    }
  });
  return function.Finish("_get_tensor_stride_i");
}

const Expr* LegalizeInspectTensorByteOffset(LegalizeCall& call) {
  HostFunction function(call);
  {
    const tir::VarFrame offset =
        function.code().Let("byte_offset", function.Get(Field::kByteOffset, DataType::UInt(64)));
    function.Return(offset.var);
  }
  return function.Finish("_get_tensor_byte_offset");
}

const Expr* LegalizeInspectTensorElemOffset(LegalizeCall& call) {
  HostFunction function(call);
  tir::FuncBuilder& code = function.code();
  const arith::PrimBuilder& make = function.make();
  {
    const tir::VarFrame offset = code.Let("byte_offset", function.Get(Field::kByteOffset, DataType::UInt(64)));
    const tir::VarFrame bits = code.Let("scalar_bits", function.Get(Field::kTypeBits, DataType::UInt(8)));
    const tir::VarFrame lanes = code.Let("lanes", function.Get(Field::kTypeLanes, DataType::UInt(16)));
    const auto wide = [&](const PrimExpr* value) { return make.Cast(DataType::UInt(64), value); };
    const tir::VarFrame bytes = code.Let(
        "bytes_per_element", make.CeilDiv(make.Mul(wide(bits.var), wide(lanes.var)), make.Int(8, DataType::Int(32))));
    const tir::VarFrame elements = code.Let("elem_offset", make.FloorDiv(offset.var, bytes.var));
    function.Return(elements.var);
  }
  return function.Finish("_get_tensor_elem_offset");
}

}  // namespace iropt::legalize
