#include "iropt/analysis/relax/vdevice_map.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "iropt/ir/dlpack.h"
#include "iropt/ir/relax/visitor.h"
#include "iropt/op/ops/device.h"

namespace iropt {

namespace {

const VDeviceAttr* DeviceOfType(const Type* type) {
  const auto* tensor = As<TensorType>(type);
  return tensor ? tensor->vdevice : nullptr;
}

}  // namespace

VDeviceLookup::VDeviceLookup(const Module& module) {
  const auto found = module.global_infos().find("vdevice");
  if (found == module.global_infos().end()) return;
  for (const Attr* info : found->second) {
    if (const auto* device = As<VDeviceAttr>(info)) devices_.push_back(device);
  }
}

const VDeviceAttr* VDeviceLookup::Of(const Call& hint) const {
  const HintOnDeviceAttrs attrs(hint);
  const int64_t type = attrs.dev_type();
  const int64_t id = attrs.dev_id();
  const auto fits = [&](const VDeviceAttr* device) {
    return device->vdevice_id == id && device->target && DLPackDeviceType(*device->target) == type;
  };
  const auto found = std::ranges::find_if(devices_, fits);
  return found == devices_.end() ? nullptr : *found;
}

// Walks over a function and records the devices of its variables and which of them are on the same device.
class VDeviceMap::Collector : public ExprVisitor {
 public:
  Collector(const Module& module, VDeviceMap& map) : module_(module), map_(map), lookup_(module) {}

  void Run(size_t function) {
    offset_ = map_.offsets_[function];
    const ModuleEntry& entry = module_.functions()[function];
    tuples_.assign(entry.storage->num_vars, {});
    VisitExpr(entry.func);
  }

  std::vector<Seed> known;
  std::vector<Seed> hinted;  // operands of hints
  std::vector<std::pair<uint32_t, uint32_t>> edges;

 protected:
  void VisitFunction(const Function* function) override {
    ExprVisitor::VisitFunction(function);
    if (const auto* body = As<SeqExpr>(function->body)) NoteResult(body->body, function->ret_type);
  }

  void VisitVarDef(const Var* var) override {
    if (const VDeviceAttr* device = DeviceOfType(var->type)) known.push_back({Node(var), device});
  }

  void VisitBinding(const Binding* binding) override {
    const Var* outer = std::exchange(current_, binding->var);
    if (!NoteTuple(*binding)) ExprVisitor::VisitBinding(binding);
    current_ = outer;
  }

  void VisitCall(const Call* call) override {
    if (IsOp(call->op, op::kToVdevice)) return;
    if (IsOp(call->op, op::kHintOnDevice)) return NoteHint(*call);
    if (const auto* callee = As<GlobalVar>(call->op)) NoteCall(*call, module_.IndexOf(callee));
    ExprVisitor::VisitCall(call);
  }

  void VisitVar(const Var* var) override {
    if (current_ && !Is<ShapeType>(var->type) && !Is<PrimType>(var->type)) Connect(Node(current_), Whole(var));
  }

 private:
  struct KnownTuple {
    const Tuple* tuple = nullptr;
    bool is_connected = false;  // with its fields
  };

  uint32_t Node(const Var* var) const { return offset_ + var->id; }
  void Connect(uint32_t a, uint32_t b) { edges.emplace_back(a, b); }

  // Records the fields of tuples made in this function. Returns whether the binding needs nothing else.
  bool NoteTuple(const Binding& binding) {
    const auto* var_binding = As<VarBinding>(&binding);
    if (!var_binding) return false;
    if (const Tuple* tuple = TupleOf(var_binding->value)) {
      tuples_[binding.var->id].tuple = tuple;
      return true;
    }
    const auto* item = As<TupleGetItem>(var_binding->value);
    const Tuple* tuple = item ? TupleOf(item->tuple) : nullptr;
    if (!tuple) return false;
    const Expr* field = tuple->fields[static_cast<uint32_t>(item->index)];
    if (const Tuple* nested = TupleOf(field)) {
      tuples_[binding.var->id].tuple = nested;
    } else {
      VisitExpr(field);
    }
    VisitVarDef(binding.var);
    return true;
  }

  // The tuple that an expression is, if it is made in this function.
  const Tuple* TupleOf(const Expr* expr) const {
    if (const auto* var = As<Var>(expr)) return tuples_[var->id].tuple;
    return As<Tuple>(expr);
  }

  // The node of a variable that is used as a whole: all items of a tuple are on the device of the use.
  uint32_t Whole(const Var* var) {
    KnownTuple& known_tuple = tuples_[var->id];
    if (known_tuple.tuple && !std::exchange(known_tuple.is_connected, true)) {
      const Var* outer = std::exchange(current_, var);
      WithStack([&] { VisitExpr(known_tuple.tuple); });
      current_ = outer;
    }
    return Node(var);
  }

  void NoteHint(const Call& hint) {
    const VDeviceAttr* device = lookup_.Of(hint);
    if (!device) {
      map_.unknown_hints_.push_back(&hint);
      return;
    }
    if (current_) known.push_back({Node(current_), device});
    if (const auto* var = As<Var>(hint.args[0])) hinted.push_back({Node(var), device});
  }

  void NoteCall(const Call& call, int callee) {
    const auto* function = callee < 0 ? nullptr : As<Function>(module_.functions()[static_cast<size_t>(callee)].func);
    if (!function) return;
    const uint32_t offset = map_.offsets_[static_cast<size_t>(callee)];
    for (uint32_t i = 0; i < std::min(call.args.size(), function->params.size()); ++i) {
      if (const auto* var = As<Var>(call.args[i])) Connect(Node(var), offset + function->params[i]->id);
    }
  }

  // The result type of the function states the device of its result.
  void NoteResult(const Expr* expr, const Type* type) {
    if (const VDeviceAttr* device = DeviceOfType(type)) {
      if (const auto* var = As<Var>(expr)) known.push_back({Node(var), device});
    }
    const auto* types = As<TupleType>(type);
    const Tuple* tuple = types ? TupleOf(expr) : nullptr;
    if (!tuple || tuple->fields.size() != types->fields.size()) return;
    for (uint32_t i = 0; i < types->fields.size(); ++i) {
      WithStack([&] { NoteResult(tuple->fields[i], types->fields[i]); });
    }
  }

  const Module& module_;
  VDeviceMap& map_;
  VDeviceLookup lookup_;
  uint32_t offset_ = 0;
  const Var* current_ = nullptr;    // the variable that the current expression is bound to
  std::vector<KnownTuple> tuples_;  // by Var::id
};

VDeviceMap::VDeviceMap(const Module& module) {
  uint32_t nodes = 0;
  for (const ModuleEntry& entry : module.functions()) {
    offsets_.push_back(nodes);
    nodes += entry.storage->num_vars;
  }
  Collector collector(module, *this);
  for (size_t i = 0; i < module.size(); ++i) {
    if (Is<Function>(module.functions()[i].func)) collector.Run(i);
  }
  starts_.assign(nodes + size_t{2}, 0);
  for (const auto& [a, b] : collector.edges) {
    ++starts_[a + 2];
    ++starts_[b + 2];
  }
  for (size_t i = 2; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
  targets_.resize(2 * collector.edges.size());
  for (const auto& [a, b] : collector.edges) {
    targets_[starts_[a + 1]++] = b;
    targets_[starts_[b + 1]++] = a;
  }
  devices_.assign(nodes, nullptr);
  Propagate(collector.known);
  Propagate(collector.hinted);
}

void VDeviceMap::Propagate(const std::vector<Seed>& seeds) {
  std::deque<uint32_t> queue;
  for (const Seed& seed : seeds) {
    if (devices_[seed.node]) continue;
    devices_[seed.node] = seed.device;
    queue.push_back(seed.node);
  }
  for (; !queue.empty(); queue.pop_front()) {
    const uint32_t node = queue.front();
    for (uint32_t i = starts_[node]; i < starts_[node + 1]; ++i) {
      if (devices_[targets_[i]]) continue;
      devices_[targets_[i]] = devices_[node];
      queue.push_back(targets_[i]);
    }
  }
}

}  // namespace iropt
