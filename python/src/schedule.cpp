#include "schedule.h"

#include <pybind11/stl.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "errors.h"
#include "driver/script_reader.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/schedule/rules.h"
#include "iropt/schedule/schedule.h"
#include "iropt/schedule/trace.h"
#include "module.h"
#include "pass_handle.h"
#include "snapshot_names.h"
#include "transform/tir/schedule/builtin_intrinsics.h"
#include "transform/tir/schedule/run_schedule.h"
#include "values.h"

namespace iropt::python {

namespace {

using schedule::Value;

// ---- Arguments

// Names of results are objects with `_name_`.
class ValueReader {
 public:
  explicit ValueReader(Build& build) : build_(build) {}

  Value Read(py::handle value) {
    if (value.is_none()) return {};
    if (py::hasattr(value, "_name_")) return {Value::Name{value.attr("_name_").cast<std::string>()}};
    if (IsNode(value)) return ReadNode(ToNode(value, build_));
    if (py::isinstance<py::bool_>(value)) return {value.cast<bool>()};
    if (py::isinstance<py::str>(value)) return {value.cast<std::string>()};
    if (py::isinstance<py::float_>(value)) return {value.cast<double>()};
    if (PyDict_Check(value.ptr()) != 0) return ReadDict(py::reinterpret_borrow<py::dict>(value));
    if (PyIndex_Check(value.ptr()) != 0) return {py::int_(py::reinterpret_borrow<py::object>(value)).cast<int64_t>()};
    if (PySequence_Check(value.ptr()) != 0) {
      Value::List list;
      for (py::handle item : py::reinterpret_borrow<py::sequence>(value)) list.push_back(Read(item));
      return {std::move(list)};
    }
    throw py::type_error("expected an argument of a primitive, not " + DescribeObject(value));
  }

 private:
  static Value ReadNode(const Node* node) {
    if (const auto* map = As<IndexMapAttr>(node)) return {map};
    if (const auto* imm = As<tir::IntImm>(node)) return {imm->value};
    if (const auto* imm = As<tir::FloatImm>(node)) return {imm->value};
    if (const auto* imm = As<tir::StringImm>(node)) return {std::string(imm->value)};
    throw py::type_error("such a node is not an argument of a primitive");
  }
  Value ReadDict(const py::dict& dict) {
    Value::Dict entries;
    for (const auto& [key, item] : dict) entries.push_back({py::str(key).cast<std::string>(), Read(item)});
    return {std::move(entries)};
  }

  Build& build_;
};

// ---- Schedules

// Tensor intrinsics that Python registers, and the built-in ones: a function of Python returns the module of a name and
// the version of TVM of the scheduled module, or None.
class Intrinsics : public schedule::IntrinsicTable {
 public:
  explicit Intrinsics(py::object find) : find_(std::move(find)) {}

  std::optional<schedule::TensorIntrinsic> Find(std::string_view name, TextVersion version) override {
    auto known = modules_.find(name);
    if (known == modules_.end()) {
      const py::gil_scoped_acquire lock;
      const py::object found = (*find_)(std::string(name), std::string(ToString(version)));
      if (found.is_none()) return std::nullopt;
      known = modules_.emplace(name, found.cast<const PyModule&>().module()).first;
    }
    const ModuleEntry* description = known->second.Find(std::string(name) + "_desc");
    const ModuleEntry* implementation = known->second.Find(std::string(name) + "_impl");
    if (description == nullptr || implementation == nullptr) return std::nullopt;
    return schedule::TensorIntrinsic{As<PrimFunc>(description->func), As<PrimFunc>(implementation->func)};
  }

 private:
  Callback find_;
  std::map<std::string, Module, std::less<>> modules_;
};

// A reference of Python to a block or loop. Python keeps its schedule alive.
struct PyRef {
  schedule::State* state;
  schedule::Ref* ref;
};

// The place of a node among all of a function, if it is one of them.
std::optional<size_t> PlaceOf(const PrimFunc* func, const Node* wanted) {
  size_t place = 0;
  std::optional<size_t> found;
  PostOrderVisit(func->body, [&](const Node* node) {
    if (node == wanted) found = place;
    ++place;
  });
  return found;
}

const Node* AtPlace(const PrimFunc* func, size_t wanted) {
  size_t place = 0;
  const Node* found = nullptr;
  PostOrderVisit(func->body, [&](const Node* node) {
    if (place++ == wanted) found = node;
  });
  return found;
}

class PySchedule {
 public:
  PySchedule(const PyModule& module, py::object find_intrinsic)
      : session_(module.session()), original_(module.module()), intrinsics_(std::move(find_intrinsic)), schedule_(module.module(), &intrinsics_) {}

  // The names of the results.
  std::vector<std::string> Apply(const std::string& name, const py::list& arguments, const py::object& decision) {
    Build build;
    ValueReader reader(build);
    const schedule::Primitive* primitive = schedule::FindPrimitive(name);
    if (primitive == nullptr) throw py::key_error("there is no primitive '" + name + "'");
    std::vector<Value> args;
    for (py::handle argument : arguments) args.push_back(reader.Read(argument));
    std::optional<Value> decided;
    if (!decision.is_none()) decided = reader.Read(decision);
    kept_.push_back(build.store());
    const schedule::State* function = FunctionOf(args, schedule_);
    const auto apply = [&] {
      const py::gil_scoped_release unlocked;
      return schedule_.Apply(*primitive, std::move(args), std::move(decided));
    };
    if (!primitive->is_pure) snapshot_.reset();
    return Check(apply(), primitive->python, function);
  }
  void Replay(const schedule::Trace& trace) {
    const Build build;
    const auto replay = [&] {
      const py::gil_scoped_release unlocked;
      return schedule_.Replay(trace);
    };
    snapshot_.reset();
    Check(replay(), "the trace");
  }
  const schedule::Trace& trace() const { return schedule_.trace(); }
  // Applies a rule; returns whether it applies. After a failure the schedule is of no use.
  bool ApplyRule(const std::string& name, const std::string& function, const NodeRef& target, int64_t few) {
    const schedule::Rule* rule = schedule::FindRule(name);
    if (rule == nullptr) throw py::key_error("unknown rule '" + name + "'");
    const Build build;
    snapshot_.reset();
    schedule::Refusal refusal;
    const py::gil_scoped_release unlocked;
    return schedule::ApplyRule(*rule, schedule_, function, To<TargetAttr>(target.node), refusal, few) ==
           schedule::RuleResult::kApplied;
  }

  PyModule GetModule() { return PyModule(Snapshot(), session_); }
  // A number, or the node in the module.
  py::object Get(const std::string& name) {
    const schedule::Variable* variable = schedule_.Find(name);
    if (variable == nullptr) throw py::index_error("the random variable '" + name + "' is not defined");
    if (variable->ref == nullptr) return py::int_(variable->value);
    if (variable->ref->stmt == nullptr) throw py::index_error("'" + name + "' no longer exists");
    return StmtOf(*variable->state, variable->ref);
  }
  // The reference to a block or loop of the module; with its name in place of it if there is one.
  PyRef RefOf(const py::object& value) {
    if (py::hasattr(value, "_name_")) {
      const schedule::Variable* variable = schedule_.Find(value.attr("_name_").cast<std::string>());
      if (variable != nullptr && variable->ref != nullptr) return {variable->state, variable->ref};
      throw py::index_error("the random variable is not a block or loop");
    }
    const Node* node = GetNode(value).node;
    const Build build;
    for (const ModuleEntry& entry : Snapshot().functions()) {
      const auto* func = As<PrimFunc>(entry.func);
      const std::optional<size_t> place = func == nullptr ? std::nullopt : PlaceOf(func, node);
      if (!place) continue;
      schedule::State* state = schedule_.StateOf(entry.var->name);
      if (state == nullptr) break;
      if (schedule::Ref* ref = state->Find(To<tir::Stmt>(AtPlace(state->func(), *place)))) return {state, ref};
    }
    throw py::value_error("the statement is not a block or loop of the module");
  }
  py::object StmtOf(const schedule::State& state, const schedule::Ref* ref) {
    if (ref == nullptr || ref->stmt == nullptr) return py::none();
    const Build build;
    const ModuleEntry* entry = Snapshot().Find(schedule_.EntryOf(state).var);
    const std::optional<size_t> place = PlaceOf(state.func(), ref->stmt);
    if (!place) throw py::value_error("the block or loop is not a part of its function");
    return ToPython(AtPlace(To<PrimFunc>(entry->func), *place), session_->KeepOf(entry->storage));
  }
  // Returns whether bindings are affine, what is read has been written, and the block is a stage pipeline.
  py::tuple FlagsOf(const PyRef& ref) {
    const Build build;
    return py::make_tuple(ref.state->IsAffine(ref.ref), ref.state->IsRegionCovered(ref.ref),
                          ref.state->IsStagePipeline(ref.ref));
  }
  // The dependences between the blocks of a block: (source, destination, kind).
  py::list DependencesOf(const PyRef& ref) {
    const Build build;
    py::list list;
    const schedule::BlockScope& scope = ref.state->ScopeInfo(ref.ref);
    for (schedule::Ref* child : scope.children()) {
      for (const schedule::Dependence& dependence : scope.DependencesTo(child))
        list.append(py::make_tuple(PyRef{ref.state, dependence.src}, PyRef{ref.state, dependence.dst},
                                   static_cast<int>(dependence.kind)));
    }
    return list;
  }
  void SetSeed(uint64_t seed) { schedule_.SetSeed(seed); }
  uint64_t seed() const { return schedule_.seed(); }

 private:
  template <class T>
  T Check(Result<T> result, std::string_view what, const schedule::State* function = nullptr) {
    Log log(session_->sources());
    if (!result.ok() && result.error().exception == nullptr) {
      const ScriptReader writer(session_->sources());
      ReportRefusal(schedule_.refusal(), "in " + std::string(what), SourceSpan(), schedule_, function, &writer, log.engine());
      log.CheckErrors();
    }
    return log.Check(std::move(result));
  }
  const Module& Snapshot() {
    if (!snapshot_) {
      const Build build;
      snapshot_ = schedule_.Snapshot();
      IdentifyNames(*snapshot_);
    }
    return *snapshot_;
  }
  void IdentifyNames(const Module& snapshot) {
    for (size_t i = 0; i < snapshot.functions().size(); ++i) {
      const ModuleEntry& entry = snapshot.functions()[i];
      if (entry.func == original_.functions()[i].func) continue;
      if (!names_) names_.emplace(session_, original_);
      names_->Identify(schedule_.StateOf(entry.var->name)->func(), entry);
    }
  }

  std::shared_ptr<Session> session_;
  Module original_;
  std::optional<SnapshotNames> names_;  // when a primitive has changed a function
  Intrinsics intrinsics_;
  schedule::Schedule schedule_;
  std::vector<std::shared_ptr<NodeStore>> kept_;  // have the arguments
  std::optional<Module> snapshot_;                // until the next primitive
};

// ---- Tables and traces

// Returns the name of a group of kinds of parameters that methods of Python treat alike.
const char* KindName(schedule::ParamKind kind) {
  using schedule::ParamKind;
  switch (kind) {
    case ParamKind::kBlock:
    case ParamKind::kBlockOrLoop: return "block";
    case ParamKind::kBlocks:
    case ParamKind::kBlocksOrLoop: return "blocks";
    case ParamKind::kLoops: return "loops";
    case ParamKind::kSide: return "side";
    case ParamKind::kIndexMap:
    case ParamKind::kOptionalIndexMap: return "index_map";
    default: return "";
  }
}

py::list PrimitiveTable() {
  py::list table;
  for (const schedule::Primitive& primitive : schedule::Primitives()) {
    py::list params;
    for (const schedule::Param& param : primitive.params) {
      params.append(py::make_tuple(param.name, KindName(param.kind), param.default_value));
    }
    py::dict row;
    row["name"] = primitive.name;
    row["python"] = primitive.python;
    row["results"] = static_cast<int>(primitive.results);
    row["is_pure"] = primitive.is_pure;
    row["summary"] = primitive.summary;
    row["params"] = params;
    table.append(row);
  }
  return table;
}

// A trace with the session that its index maps belong to.
struct PyTrace {
  std::shared_ptr<Session> session;
  schedule::Trace trace;
};

PyTrace ReadTrace(const std::string& text) {
  Build build;
  const Log log(build.session().sources());
  return {build.shared_session(), log.Check(schedule::ReadTrace(text))};
}

void AddTraces(py::module_& m) {
  py::class_<PyTrace>(m, "Trace")
      .def(py::init(&ReadTrace))
      .def("json",
           [](const PyTrace& self) {
             IRContext::Scope scope(self.session->context());
             return schedule::ToJson(self.trace);
           })
      .def("lines",
           [](const PyTrace& self) {
             IRContext::Scope scope(self.session->context());
             std::vector<std::string> lines;
             for (const schedule::Instruction& instruction : self.trace.instructions)
               lines.push_back(schedule::ToPython(instruction));
             return lines;
           })
      .def("simplified", [](const PyTrace& self) {
        IRContext::Scope scope(self.session->context());
        return PyTrace{self.session, schedule::Simplify(self.trace)};
      });
}

}  // namespace

void AddSchedules(py::module_& m) {
  AddTraces(m);
  py::class_<PyRef>(m, "StmtRef")
      .def_property_readonly("parent",
                             [](const PyRef& self) -> std::optional<PyRef> {
                               if (self.ref->parent == nullptr) return std::nullopt;
                               return PyRef{self.state, self.ref->parent};
                             })
      .def("__eq__", [](const PyRef& self, const PyRef& other) { return self.ref == other.ref; })
      .def("__hash__", [](const PyRef& self) { return std::hash<const void*>()(self.ref); });
  py::class_<PySchedule>(m, "Schedule")
      .def(py::init<const PyModule&, py::object>())
      .def("apply", &PySchedule::Apply)
      .def("apply_rule", &PySchedule::ApplyRule)
      .def("replay", [](PySchedule& self, const PyTrace& trace) { self.Replay(trace.trace); })
      .def("module", &PySchedule::GetModule)
      .def("get", &PySchedule::Get)
      .def("ref_of", &PySchedule::RefOf)
      .def("stmt_of", [](PySchedule& self, const PyRef& ref) { return self.StmtOf(*ref.state, ref.ref); })
      .def("flags_of", &PySchedule::FlagsOf)
      .def("dependences_of", &PySchedule::DependencesOf)
      .def("trace",
           [](const PySchedule& self) {
             return PyTrace{Session::Current(), self.trace()};
           })
      .def_property("seed", &PySchedule::seed, &PySchedule::SetSeed);
  m.def("primitive_table", &PrimitiveTable);
  m.def("builtin_intrinsic", [](const std::string& name, const std::string& version) {
    return BuiltinIntrinsicText(name, ToVersion(version));
  });
}

}  // namespace iropt::python
