#include "tensor_exprs.h"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "iropt/analysis/tir/complete_prim_func.h"
#include "iropt/arith/analyzer.h"
#include "iropt/arith/index_dtypes.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/infer/prim_func_type.h"
#include "iropt/ir/attr_keys.h"
#include "iropt/ir/tir/builder.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/substitute.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/support/lookup.h"
#include "module.h"
#include "node.h"
#include "values.h"

namespace iropt::python {

namespace {

using Buffers = LookupMap<const tir::DataProducer*, const tir::Buffer*>;

template <class X>
std::vector<const X*> NodesOf(py::handle list, Build& build) {
  std::vector<const X*> nodes;
  for (py::handle item : list) nodes.push_back(To<X>(ToNode(item, build)));
  return nodes;
}

// ---- What expressions read

// The tensors that expressions read, each once, in post-order.
class ProducerCollector : public tir::ExprVisitor {
 public:
  const std::vector<const tir::DataProducer*>& found() const { return found_; }
  // A reduction is a whole value, and not part of one.
  void VisitValue(const PrimExpr* value) {
    const auto* reduce = As<tir::Reduce>(value);
    if (reduce == nullptr) return VisitExpr(value);
    for (const PrimExpr* source : reduce->source) VisitExpr(source);
    VisitExpr(reduce->condition);
    for (const PrimExpr* init : reduce->init) VisitExpr(init);
    for (const PrimExpr* result : reduce->combiner->result) VisitExpr(result);
    for (const PrimExpr* identity : reduce->combiner->identity_element) VisitExpr(identity);
  }

 protected:
  void VisitProducerLoad(const tir::ProducerLoad* load) override {
    ExprVisitor::VisitProducerLoad(load);
    if (std::find(found_.begin(), found_.end(), load->producer) == found_.end()) found_.push_back(load->producer);
  }
  void VisitReduce(const tir::Reduce*) override {
    throw py::value_error(
        "reductions are only allowed at the top level of compute: make a tensor of the reduction, and compute with it");
  }

 private:
  std::vector<const tir::DataProducer*> found_;
};

py::list ReadTensors(const py::list& values) {
  Build build;
  ProducerCollector collector;
  for (py::handle value : values) collector.VisitValue(RequiredPrim(value, build));
  py::list tensors;
  for (const tir::DataProducer* producer : collector.found()) tensors.append(ToPython(build.Made(producer)));
  return tensors;
}

// ---- From stages to blocks

// Replaces tensors by buffers, and axes by variables of the function.
class BodyMutator : public tir::StmtExprMutator {
 public:
  BodyMutator(const Buffers& buffers, Workspace& workspace)
      : StmtExprMutator(workspace, {.rewrite_buffers = true}), buffers_(buffers) {}
  using StmtExprMutator::Remap;

 protected:
  const PrimExpr* VisitProducerLoad(const tir::ProducerLoad* load) override {
    const auto* buffer = buffers_.Find(load->producer);
    if (buffer == nullptr)
      throw py::value_error(fmt::format("the tensor '{}' is read before it is computed", load->producer->name));
    std::vector<const PrimExpr*> indices;
    for (const PrimExpr* index : load->indices) indices.push_back(VisitExpr(index));
    return workspace().New<tir::BufferLoad>(load->dtype, *buffer, workspace().Copy(indices));
  }

 private:
  const Buffers& buffers_;
};

// A stage of Python; iropt/te/prim_func.py makes it.
struct Stage {
  // Of the blocks: one for a reduction, else one for each output.
  std::vector<std::string> names;
  std::vector<const tir::IterVar*> axes, reduced;
  std::vector<const PrimExpr*> values;
  std::vector<const tir::DataProducer*> outputs;
  py::dict attrs;

  Stage(const py::tuple& fields, Build& build)
      : names(fields[0].cast<std::vector<std::string>>()),
        axes(NodesOf<tir::IterVar>(fields[1], build)),
        reduced(NodesOf<tir::IterVar>(fields[2], build)),
        outputs(NodesOf<tir::DataProducer>(fields[4], build)),
        attrs(fields[5]) {
    for (py::handle value : fields[3]) values.push_back(RequiredPrim(value, build));
  }
  const tir::Reduce* reduction() const { return As<tir::Reduce>(values[0]); }
};

// A stage with a body of its own, which has buffers of its own for what it reads and writes.
struct ExternStage {
  std::string name;
  std::vector<const tir::DataProducer*> inputs, outputs;
  std::vector<const tir::Buffer*> input_buffers, output_buffers;
  const tir::Stmt* body;
  py::dict attrs;

  static constexpr size_t kNumFields = 7;
  ExternStage(const py::tuple& fields, Build& build)
      : name(fields[0].cast<std::string>()),
        inputs(NodesOf<tir::DataProducer>(fields[1], build)),
        outputs(NodesOf<tir::DataProducer>(fields[3], build)),
        input_buffers(NodesOf<tir::Buffer>(fields[2], build)),
        output_buffers(NodesOf<tir::Buffer>(fields[4], build)),
        body(static_cast<const tir::Stmt*>(ToNode(fields[5], build))),
        attrs(fields[6]) {}
};

// Makes the function of stages, as TVM's te.create_prim_func does: a loop nest around a block for each of them.
class PrimFuncMaker {
 public:
  explicit PrimFuncMaker(Build& build)
      : build_(build), workspace_(build.workspace()), func_(workspace_), make_(workspace_), analyzer_(make_, arith::Analyzer::SymVars::kAny) {}

  const PrimFunc* Make(const py::list& args, const py::list& stages) {
    for (py::handle arg : args) args_.push_back(ToNode(arg, build_));
    std::vector<const tir::DataProducer*> computed;
    for (py::handle item : stages) Declare(py::reinterpret_borrow<py::tuple>(item), computed);
    for (const Node* arg : args_) AddParam(arg);
    for (const tir::DataProducer* producer : computed) {
      if (!IsParam(producer)) func_.AllocBuffer(*buffers_.Find(producer));
    }
    for (py::handle item : stages) {
      const auto fields = py::reinterpret_borrow<py::tuple>(item);
      fields.size() == ExternStage::kNumFields ? Emit(ExternStage(fields, build_)) : Emit(Stage(fields, build_));
    }
    func_.SetAttr(attr::kGlobalSymbol, StrAttr::Get("main"));
    func_.SetAttr(attr::kNoAlias, IntAttr::Bool(true));
    if (!layout_free_.empty()) {
      std::vector<const Attr*> numbers;
      for (const int64_t number : layout_free_) numbers.push_back(IntAttr::Get(number));
      func_.SetAttr(attr::kLayoutFreeBuffers, ListAttr::Get(numbers));
    }
    return Complete();
  }

 private:
  using Exprs = std::vector<const PrimExpr*>;

  // ---- Buffers and parameters
  bool IsParam(const tir::DataProducer* producer) const {
    return std::find(args_.begin(), args_.end(), producer) != args_.end();
  }
  const tir::Buffer* DeclareBuffer(const tir::DataProducer* producer) {
    tir::BufferSpec spec;
    spec.shape.assign(producer->shape.begin(), producer->shape.end());
    spec.dtype = producer->dtype;
    return buffers_[producer] = tir::MakeBuffer(workspace_, spec, producer->name);
  }
  // The buffers of the outputs of a stage. An input of an extern stage has the buffer of that stage unless another one
  // computes it.
  void Declare(const py::tuple& fields, std::vector<const tir::DataProducer*>& computed) {
    if (fields.size() != ExternStage::kNumFields) {
      for (const auto* output : NodesOf<tir::DataProducer>(fields[4], build_)) {
        DeclareBuffer(output);
        computed.push_back(output);
      }
      return;
    }
    const ExternStage stage(fields, build_);
    for (size_t i = 0; i < stage.inputs.size(); ++i) {
      if (IsParam(stage.inputs[i])) buffers_.try_emplace(stage.inputs[i], stage.input_buffers[i]);
    }
    for (size_t i = 0; i < stage.outputs.size(); ++i) {
      buffers_[stage.outputs[i]] = stage.output_buffers[i];
      computed.push_back(stage.outputs[i]);
    }
  }
  void AddParam(const Node* arg) {
    if (const auto* var = As<tir::Var>(arg)) return func_.AddParam(var);
    const auto* producer = To<tir::DataProducer>(arg);
    const auto* known = buffers_.Find(producer);
    const tir::Buffer* buffer = known != nullptr ? *known : DeclareBuffer(producer);
    func_.AddParam(workspace_.NewPrimVar(fmt::format("var_{}", producer->name), DataType::Handle()), buffer);
  }

  // ---- Attributes of stages
  const Attr* AttrOf(py::handle value) {
    if (py::isinstance<py::list>(value) || py::isinstance<py::tuple>(value)) {
      std::vector<const Attr*> items;
      for (py::handle item : value) items.push_back(AttrOf(item));
      return ListAttr::Get(items);
    }
    if (!IsNode(value) && !py::hasattr(value, "_node_")) return ToAttr(value, build_);
    const auto* producer = As<tir::DataProducer>(ToNode(value, build_));
    if (producer == nullptr) return ToAttr(value, build_);
    const auto* buffer = buffers_.Find(producer);
    if (buffer == nullptr)
      throw py::value_error(fmt::format("the tensor '{}' of an attribute is not a part of the function", producer->name));
    return ExprAttr::Get(workspace_.New<tir::BufferLoad>(DataType::Handle(), *buffer, List<const PrimExpr*>()));
  }
  // Parameters whose layout a schedule may choose are told by the function.
  const Attr* LayoutFree(py::handle tensors) {
    py::list others;
    for (py::handle tensor : tensors) {
      const auto found = std::find(args_.begin(), args_.end(), ToNode(tensor, build_));
      found == args_.end() ? others.append(tensor) : void(layout_free_.insert(found - args_.begin()));
    }
    return others.empty() ? nullptr : AttrOf(others);
  }
  const DictAttr* AttrsOf(const py::dict& attrs) {
    // What TVM's topi says to schedulers that are gone.
    constexpr std::string_view kDropped[] = {"const_matrix", "auto_scheduler_simplify_const_tensor_indices", "workload"};
    const DictAttr* result = DictAttr::Empty();
    for (const auto& [key, value] : attrs) {
      const auto name = key.cast<std::string>();
      if (std::ranges::find(kDropped, name) != std::ranges::end(kDropped)) continue;
      const Attr* attr = name == attr::kLayoutFreePlaceholders ? LayoutFree(value) : AttrOf(value);
      if (attr != nullptr) result = result->With(name, attr);
    }
    return result;
  }

  // ---- Blocks

  // The loops around a block, and the ranges that they run through.
  using Loops = std::vector<std::pair<const tir::Var*, tir::Range>>;

  const tir::IterVar* AxisOf(const tir::IterVar* axis, const tir::Range& dom, BodyMutator& body) {
    const DataType dtype = axis->var->dtype;
    const tir::Var* var = workspace_.NewPrimVar(fmt::format("v_{}", axis->var->name), dtype);
    body.Remap(axis->var, var);
    const auto* range = workspace_.New<tir::Range>(make_.Cast(dtype, dom.min), make_.Cast(dtype, dom.extent));
    return workspace_.New<tir::IterVar>(range, var, axis->iter_type, axis->thread_tag);
  }

  // Reductions over nothing have the value at which they begin; a block that does not run would not store it.
  static bool IsEmpty(const Stage& stage) {
    return std::ranges::any_of(stage.reduced, [](const tir::IterVar* axis) {
      const int64_t* extent = arith::AsInt(axis->dom->extent);
      return extent != nullptr && *extent == 0;
    });
  }

  void Emit(Stage stage) {
    const tir::Reduce* reduction = stage.reduction();
    const bool is_empty = reduction != nullptr && IsEmpty(stage);
    if (is_empty) stage.reduced.clear();
    const size_t depth = func_.depth();
    std::vector<const tir::IterVar*> axes = stage.axes;
    axes.insert(axes.end(), stage.reduced.begin(), stage.reduced.end());
    Loops loops;
    // The domain of an axis may depend on the axes before it.
    BodyMutator outer(buffers_, workspace_);
    for (const tir::IterVar* axis : axes) {
      const tir::Range dom(analyzer_.Simplify(outer.VisitExpr(axis->dom->min)),
                           analyzer_.Simplify(outer.VisitExpr(axis->dom->extent)));
      const DataType dtype = DataType::Int(std::max(axis->dom->min->dtype.bits, axis->dom->extent->dtype.bits));
      const tir::Var* loop = workspace_.NewPrimVar(axis->var->name, dtype);
      outer.Remap(axis->var, make_.Cast(axis->var->dtype, loop));
      loops.push_back({loop, dom});
      func_.Open<tir::For>(Span(), loop, make_.Cast(dtype, dom.min), make_.Cast(dtype, dom.extent),
                           tir::ForKind::kSerial, nullptr, nullptr, DictAttr::Empty());
    }
    for (size_t i = 0; i < stage.names.size(); ++i) {
      BodyMutator body(buffers_, workspace_);
      const size_t outside = func_.depth();
      const Exprs indices = OpenBlock(stage, i, axes, loops, body);
      if (reduction == nullptr) {
        func_.Store(*buffers_.Find(stage.outputs[i]), indices, analyzer_.Simplify(body.VisitExpr(stage.values[i])));
      } else {
        EmitReduction(stage, *reduction, indices, is_empty, body);
      }
      func_.CloseTo(outside);
    }
    func_.CloseTo(depth);
  }

  // Returns the indices of what the block stores.
  Exprs OpenBlock(const Stage& stage, size_t number, const std::vector<const tir::IterVar*>& axes, const Loops& loops,
                  BodyMutator& body) {
    func_.OpenBlock(stage.names[number], true);
    func_.block()->annotations = AttrsOf(stage.attrs);
    Exprs indices;
    for (size_t i = 0; i < axes.size(); ++i) {
      const auto& [loop, dom] = loops[i];
      const tir::IterVar* axis = AxisOf(axes[i], dom, body);
      func_.Axis(axis, loop);
      if (i < stage.axes.size()) indices.push_back(axis->var);
    }
    const DataType int32 = DataType::Int(32);
    if (axes.empty()) func_.Axis(tir::IterVarType::kDataPar, "vi", make_.Int(1, int32), make_.Int(0, int32));
    return indices;
  }

  // The values that a step of the reduction takes in; where its condition does not hold, those that change nothing.
  Exprs Sources(const tir::Reduce& reduction, const Exprs& identity, BodyMutator& body) {
    Exprs sources;
    const int64_t* always = arith::AsInt(reduction.condition);
    for (size_t i = 0; i < reduction.source.size(); ++i) {
      const PrimExpr* source = body.VisitExpr(reduction.source[i]);
      if (always == nullptr || *always == 0) {
        const Exprs args = {body.VisitExpr(reduction.condition), source, identity[i]};
        source = make_.Keep(tir::Call(source->dtype, GetOp(op::kTirIfThenElse), workspace_.Copy(args)));
      }
      sources.push_back(analyzer_.Simplify(source));
    }
    return sources;
  }

  void EmitReduction(const Stage& stage, const tir::Reduce& reduction, const Exprs& indices, bool is_empty,
                     BodyMutator& body) {
    const tir::CommReducer& combiner = *reduction.combiner;
    const size_t count = stage.outputs.size();
    std::vector<const tir::Buffer*> outputs;
    Exprs left, identity, start;
    for (size_t i = 0; i < count; ++i) {
      outputs.push_back(*buffers_.Find(stage.outputs[i]));
      left.push_back(func_.Load(outputs[i], indices));
      identity.push_back(body.VisitExpr(combiner.identity_element[i]));
      start.push_back(reduction.init.empty() ? identity[i] : body.VisitExpr(reduction.init[i]));
    }
    if (is_empty) return StoreAll(outputs, indices, start);
    {
      const tir::Frame init = func_.Init();
      StoreAll(outputs, indices, start);
    }
    const Exprs right = Sources(reduction, identity, body);
    tir::VarValues operands;
    for (size_t i = 0; i < count; ++i) {
      operands[combiner.lhs[i]] = left[i];
      operands[combiner.rhs[i]] = right[i];
    }
    Exprs combined;
    for (size_t i = 0; i < count; ++i)
      combined.push_back(body.VisitExpr(tir::Substitute(combiner.result[i], operands, workspace_)));
    if (count == 1) return StoreAll(outputs, indices, combined);
    // All values are computed before any of them is stored.
    const size_t depth = func_.depth();
    Exprs vars;
    for (size_t i = 0; i < count; ++i) {
      const auto* var = workspace_.NewPrimVar(fmt::format("v_{}", outputs[i]->name), left[i]->dtype);
      vars.push_back(var);
      func_.Open<tir::LetStmt>(Span(), var, combined[i], nullptr);
    }
    StoreAll(outputs, indices, vars);
    func_.CloseTo(depth);
  }

  void StoreAll(const std::vector<const tir::Buffer*>& buffers, const Exprs& indices, const Exprs& values) {
    for (size_t i = 0; i < buffers.size(); ++i) {
      if (values[i]->dtype != buffers[i]->dtype)
        throw py::type_error(fmt::format("a reduction of {} combines to {}", buffers[i]->dtype.ToString(),
                                         values[i]->dtype.ToString()));
      func_.Store(buffers[i], indices, values[i]);
    }
  }

  void Emit(const ExternStage& stage) {
    BodyMutator body(buffers_, workspace_);
    for (size_t i = 0; i < stage.inputs.size(); ++i) {
      const tir::Buffer* buffer = *buffers_.Find(stage.inputs[i]);
      if (buffer == stage.input_buffers[i]) continue;
      body.Remap(stage.input_buffers[i]->data, buffer->data);
      body.Remap(stage.input_buffers[i], buffer);
    }
    const size_t depth = func_.depth();
    func_.OpenBlock(stage.name, true);
    func_.block()->annotations = AttrsOf(stage.attrs);
    func_.Reads({});
    func_.Writes({});
    func_.Emit(body.VisitStmt(stage.body));
    func_.CloseTo(depth);
  }

  // ---- The function
  const PrimFunc* Complete() {
    const tir::Stmt* body = func_.Finish();
    const auto opaque = CompleteBlocks(func_.param_buffers(), body, func_.incomplete_blocks(), workspace_);
    if (!opaque.empty())
      throw py::value_error(fmt::format("a computed tensor passes on the pointer of '{}': use te.extern for it",
                                        opaque[0].buffer->name));
    auto* func = workspace_.New<PrimFunc>(workspace_.Copy(func_.params()), workspace_.Copy(func_.param_buffers()), body,
                                          TupleType::Get({}), func_.attrs(), nullptr);
    return CopyPrimFunc(func, workspace_);
  }

  Build& build_;
  Workspace& workspace_;
  tir::FuncBuilder func_;
  arith::PrimBuilder make_;
  arith::Analyzer analyzer_;
  std::vector<const Node*> args_;
  Buffers buffers_;
  std::set<int64_t> layout_free_;  // numbers of parameters
};

// The function with indices of the dtype.
const PrimFunc* WithIndices(const PrimFunc* func, DataType dtype, Workspace& workspace) {
  arith::IndexDTypeNormalizer::Vars vars;
  arith::IndexDTypeNormalizer(dtype, vars, workspace).VisitStmt(func->body);
  PrimFunc copy = *arith::IndexDTypeNormalizer(dtype, vars, workspace).Rewrite(func);
  copy.type = PrimFuncType(&copy);
  return workspace.New<PrimFunc>(copy);
}

NodeRef CreatePrimFunc(const py::list& args, const py::list& stages, const py::object& index_dtype) {
  Build build;
  const PrimFunc* func = PrimFuncMaker(build).Make(args, stages);
  if (!index_dtype.is_none()) func = WithIndices(func, ToDType(index_dtype), build.workspace());
  return build.Made(func);
}

}  // namespace

void AddTensorExprs(py::module_& m) {
  m.def("read_tensors", &ReadTensors);
  m.def("create_prim_func", &CreatePrimFunc);
}

}  // namespace iropt::python
