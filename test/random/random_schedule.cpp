// Random sequences of primitives: each gets arguments of the kinds that its row of the table states.
#include "random_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "iropt/arith/analyzer.h"
#include "iropt/ir/context.h"
#include "iropt/ir/tir/visitor.h"

namespace iropt::generate {

namespace {

using schedule::ParamKind;
using schedule::Value;
using Names = std::vector<std::string>;

// They trust their arguments, or need what a random function does not have; the last one, as in TVM, trusts that the
// blocks around have the form that it is made for.
constexpr std::array<std::string_view, 7> kLeftOut = {
    "AnnotateBufferAccess", "EnterPostproc",          "FuseReductionEpilogue", "SetAxisSeparator",
    "UnsafeSetDType",       "UnsafeHideBufferAccess", "SampleComputeLocation"};
// Those that need a place, an intrinsic or a form that is rare.
constexpr std::array<std::string_view, 10> kTriedOften = {
    "RollingBuffer",    "Blockize",           "Tensorize", "DecomposePadding", "ComputeAt",
    "ReverseComputeAt", "DecomposeReduction", "RFactor",   "ReadAt",           "WriteAt"};

class RandomSchedule {
 public:
  RandomSchedule(schedule::Schedule& sch, const std::string& function, Choices& choices)
      : sch_(sch), function_(function), choices_(choices) {
    for (const schedule::Primitive& row : schedule::Primitives()) {
      if (std::ranges::find(kLeftOut, row.name) != kLeftOut.end()) continue;
      rows_.push_back(&row);
      if (std::ranges::find(kTriedOften, row.name) != kTriedOften.end()) rows_.insert(rows_.end(), 2, &row);
    }
    FindBlocks();
  }

  // Returns whether it was applied.
  bool ApplyOne() {
    const schedule::Primitive& row = *choices_.Pick(rows_);
    if (!LookAround()) return false;
    std::vector<Value> args;
    for (const schedule::Param& param : row.params) {
      std::optional<Value> value = MakeValue(param);
      if (!value) return false;
      args.push_back(*std::move(value));
    }
    // The caller would have to give a parameter in the new layout.
    if (row.name == "TransformLayout" && IsParam(args)) return false;
    if (row.name == "Bind" && has_local_memory_) return false;
    // Elements that a layout adds would be copied before they have values.
    if (std::ranges::any_of(args, SplitsIndex) && !HasEvenSizes(args[0])) return false;
    // Lowering needs to know how often these loops run.
    if ((row.name == "Unroll" || row.name == "Vectorize") && !arith::AsInt(LoopOf(args[0]).extent)) return false;
    if (row.name == "Vectorize" && IsNearVectors(sch_.Find(args[0].As<Value::Name>()->text)->ref)) return false;
    // The copy of what is only updated has no values to begin with.
    if (row.name == "CacheWrite" && IsOnlyUpdated(args)) return false;
    if (row.name == "CacheInplace" && BeginsResult(args)) return false;
    const auto results = sch_.Apply(row, std::move(args));
    if (!results) return false;
    for (const std::string& name : *results) {
      if (name.starts_with('b')) blocks_.push_back(name);
    }
    return !row.is_pure;
  }

  bool WrongSplit() {
    for (int attempt = 0; attempt < 20; ++attempt) {
      if (!LookAround() || loops_.empty()) continue;
      const std::string loop = choices_.Pick(loops_);
      const tir::For& stmt = sch_.Find(loop)->ref->loop();
      const int64_t* extent = arith::AsInt(stmt.extent);
      if (!extent || !IndexesByItself(stmt)) continue;
      const int64_t factor = *extent % 3 != 0 ? 3 : *extent % 5 != 0 ? 5 : 7;
      const Value factors{Value::List{Value{}, Value{factor}}};
      if (sch_.Apply(*schedule::FindPrimitive("Split"), {Value{Value::Name{loop}}, factors, Value{true}, Value{true}}))
        return true;
    }
    return false;
  }

 private:
  bool IsLive(const std::string& name) const {
    const schedule::Variable* variable = sch_.Find(name);
    return variable && variable->ref && variable->ref->stmt;
  }

  void FindBlocks() {
    const auto root = sch_.Apply(*schedule::FindPrimitive("GetBlock"), {Value{std::string("root")}, Value{function_}});
    if (!root) return;
    root_ = (*root)[0];
    const auto found = sch_.Apply(*schedule::FindPrimitive("GetChildBlocks"), {Value{Value::Name{root_}}});
    if (found) blocks_ = *found;
  }

  // Chooses a block, and gets names for its loops and those of another one.
  bool LookAround() {
    std::erase_if(blocks_, [&](const std::string& name) { return !IsLive(name); });
    if (blocks_.empty()) FindBlocks();
    if (blocks_.empty()) return false;
    block_ = choices_.Pick(blocks_);
    loops_ = LoopsOf(block_);
    other_loops_ = LoopsOf(choices_.Pick(blocks_));
    return true;
  }

  Names LoopsOf(const std::string& block) {
    const auto loops = sch_.Apply(*schedule::FindPrimitive("GetLoops"), {Value{Value::Name{block}}});
    return loops ? *loops : Names();
  }

  // Whether an axis is the variable of the loop alone, of the kind that indexes results, so that running it too often
  // is out of bounds.
  static bool IndexesByItself(const tir::For& loop) {
    bool found = false;
    tir::PostOrderVisit(loop.body, [&](const Node* node) {
      const auto* realize = As<tir::BlockRealize>(node);
      if (!realize) return;
      for (size_t i = 0; i < realize->iter_values.size(); ++i)
        found = found || (realize->iter_values[i] == loop.loop_var &&
                          realize->block->iter_vars[i]->iter_type == tir::IterVarType::kDataPar);
    });
    return found;
  }

  std::optional<Value> PickName(const Names& names) {
    if (names.empty()) return std::nullopt;
    return Value{Value::Name{choices_.Pick(names)}};
  }

  // Some loops of the block: neighbours in their order, or in any.
  std::optional<Value> PickLoops() {
    if (loops_.empty()) return std::nullopt;
    const size_t first = static_cast<size_t>(choices_.Below(static_cast<int>(loops_.size())));
    const size_t count = 1 + static_cast<size_t>(choices_.Below(static_cast<int>(loops_.size() - first)));
    Value::List list;
    for (size_t i = first; i < first + count; ++i) list.push_back(Value{Value::Name{loops_[i]}});
    if (choices_.OneIn(3)) std::ranges::reverse(list);
    if (choices_.OneIn(5) && !other_loops_.empty()) list.push_back(*PickName(other_loops_));
    return Value{std::move(list)};
  }

  Value Numbers(std::initializer_list<int64_t> from, int count) {
    Value::List list;
    for (int i = 0; i < count; ++i) list.push_back(Value{choices_.Pick(std::vector<int64_t>(from))});
    return Value{std::move(list)};
  }

  int NumAxes() const { return static_cast<int>(AxesOfBlock()); }
  // The places of the axes, in any order.
  Value AnyOrder() {
    Value::List list;
    for (int i = 0; i < NumAxes(); ++i) list.insert(list.begin() + choices_.Below(i + 1), Value{int64_t{i}});
    return Value{std::move(list)};
  }

  Value Factors() {
    Value::List list{Value{}};
    const int count = 1 + choices_.Below(2);
    for (int i = 0; i < count; ++i) list.push_back(Value{choices_.Pick(std::array<int64_t, 4>{2, 3, 4, 5})});
    if (choices_.OneIn(3)) std::ranges::reverse(list);
    return Value{std::move(list)};
  }

  // A permutation, or one that splits or fuses parameters.
  Value IndexMap(size_t num_params) {
    const arith::PrimBuilder make;
    std::vector<const tir::Var*> params;
    std::vector<const PrimExpr*> results;
    for (size_t i = 0; i < num_params; ++i) {
      params.push_back(IRContext::Current().NewSymVar(fmt::format("i{}", i), DataType::Int(32)));
      results.push_back(params.back());
    }
    if (choices_.OneIn(2)) std::ranges::reverse(results);
    if (choices_.OneIn(2) && !results.empty()) {
      // It divides all extents: elements beyond them would be copied before they have values.
      const PrimExpr* factor = make.Const(2, DataType::Int(32));
      const PrimExpr* split = results[0];
      results[0] = make.FloorDiv(split, factor);
      results.push_back(make.FloorMod(split, factor));
    }
    return Value{IndexMapAttr::Get(params, results)};
  }

  std::string Text(std::string_view param) {
    if (param == "name") return "root";
    if (param == "func_name") return function_;
    // Local memory belongs to a thread, also where it is filled outside of its loop.
    if (param == "storage_scope") {
      const bool is_local = !has_threads_ && choices_.OneIn(4);
      has_local_memory_ |= is_local;
      return is_local ? "local" : "global";
    }
    if (param == "thread_axis") {
      has_threads_ = true;
      return choices_.OneIn(2) ? "threadIdx.x" : "blockIdx.x";
    }
    if (param == "tensor_intrin") return choices_.OneIn(2) ? "copy4" : "dot4";
    return "note";
  }

  std::optional<Value> MakeValue(const schedule::Param& param) {
    switch (param.kind) {
      case ParamKind::kBlock: return Value{Value::Name{choices_.OneIn(8) ? choices_.Pick(blocks_) : block_}};
      case ParamKind::kLoop:
      case ParamKind::kLoopOrMark: return PickName(choices_.OneIn(2) ? other_loops_ : loops_);
      case ParamKind::kBlockOrLoop:
      case ParamKind::kBlocksOrLoop: return choices_.OneIn(2) ? Value{Value::Name{block_}} : PickName(loops_);
      case ParamKind::kLoops: return PickLoops();
      case ParamKind::kBlocks: return Value{Value::List{}};
      case ParamKind::kFactors: return Factors();
      case ParamKind::kInt: return Value{param.name == "index" ? int64_t{-1} : int64_t{choices_.Below(2)}};
      case ParamKind::kBool: return Value{param.name == "disable_predication" ? false : choices_.OneIn(2)};
      case ParamKind::kString: return Value{Text(param.name)};
      case ParamKind::kIntList: return param.name == "new_order" ? AnyOrder() : Numbers({1, 2, 4}, NumAxes());
      case ParamKind::kFloatList: return Value{Value::List{Value{0.5}, Value{0.25}, Value{0.25}}};
      case ParamKind::kIndexMap:
        return IndexMap(choices_.OneIn(2) ? AxesOfBlock() : 1 + static_cast<size_t>(choices_.Below(2)));
      case ParamKind::kOptionalIndexMap: return Value{};
      case ParamKind::kSide: return Value{int64_t{choices_.Below(2)}};
      case ParamKind::kAnnotation: return Value{int64_t{1}};
    }
    return std::nullopt;
  }

  // Whether the buffer that a block, an index and a side name is one of the function's parameters.
  bool IsParam(const std::vector<Value>& args) const {
    const tir::Block& block = sch_.Find(args[0].As<Value::Name>()->text)->ref->block();
    const auto& regions = *args[2].AsInt() == 0 ? block.reads : block.writes;
    const auto index = static_cast<size_t>(*args[1].AsInt());
    if (index >= regions.size()) return false;
    const auto& params = sch_.OriginalOf(function_)->param_buffers;
    return std::ranges::find(params, regions[index]->buffer) != params.end();
  }

  static bool SplitsIndex(const Value& value) {
    const auto* map = value.As<const IndexMapAttr*>();
    return map && (*map)->results.size() > (*map)->params.size();
  }
  // Whether all axes of the block and all dimensions of its buffers have even sizes.
  bool HasEvenSizes(const Value& name) const {
    const tir::Block& block = sch_.Find(name.As<Value::Name>()->text)->ref->block();
    const auto is_even = [](const PrimExpr* size) { return arith::AsInt(size) && *arith::AsInt(size) % 2 == 0; };
    const auto has_even_dims = [&](const tir::BufferRegion* region) {
      return std::ranges::all_of(region->buffer->shape, is_even);
    };
    return std::ranges::all_of(block.iter_vars, [&](const tir::IterVar* axis) { return is_even(axis->dom->extent); }) &&
           std::ranges::all_of(block.reads, has_even_dims) && std::ranges::all_of(block.writes, has_even_dims);
  }

  // Whether a loop around or in this one is vectorized: vectors of vectors are not lowered.
  static bool IsNearVectors(const schedule::Ref* loop) {
    bool found = false;
    const auto look = [&](const Node* node) {
      const auto* other = As<tir::For>(node);
      found = found || (other && other->for_kind == tir::ForKind::kVectorized);
    };
    tir::PostOrderVisit(loop->loop().body, look);
    for (; loop; loop = loop->parent) look(loop->stmt);
    return found;
  }

  const tir::For& LoopOf(const Value& value) const { return sch_.Find(value.As<Value::Name>()->text)->ref->loop(); }

  bool IsOnlyUpdated(const std::vector<Value>& args) const {
    const tir::Block& block = sch_.Find(args[0].As<Value::Name>()->text)->ref->block();
    return !block.init && std::ranges::any_of(block.reads, [&](const tir::BufferRegion* read) {
      return std::ranges::find(block.writes, read->buffer, &tir::BufferRegion::buffer) != block.writes.end();
    });
  }

  // Whether a buffer that the block reads has no values before it: a result of the function that no other block writes
  // first. The caller may give it any.
  bool BeginsResult(const std::vector<Value>& args) const {
    const schedule::Ref* ref = sch_.Find(args[0].As<Value::Name>()->text)->ref;
    const auto index = static_cast<size_t>(*args[1].AsInt());
    schedule::State& state = *sch_.StateOf(function_);
    schedule::Ref* scope = state.ScopeOf(ref);
    if (!scope || index >= ref->block().reads.size()) return false;
    const std::vector<schedule::Ref*>& writers = state.ScopeInfo(scope).WritersOf(ref->block().reads[index]->buffer);
    return !writers.empty() && writers.front() == ref;
  }

  size_t AxesOfBlock() const { return sch_.Find(block_)->ref->block().iter_vars.size(); }

  schedule::Schedule& sch_;
  const std::string function_;
  Choices& choices_;
  std::vector<const schedule::Primitive*> rows_;
  std::string root_, block_;
  Names blocks_, loops_, other_loops_;
  bool has_threads_ = false, has_local_memory_ = false;
};

}  // namespace

namespace {

// Compares what the state keeps of the block, and of those in it, with what is found from the start.
void CheckScopes(schedule::State& state, schedule::Ref* block) {
  const auto fail = [&](std::string_view what) {
    throw std::logic_error(fmt::format("the state keeps wrong {} of the block '{}'", what, block->block().name_hint));
  };
  const schedule::BlockScope& kept = state.ScopeInfo(block);
  const std::vector<schedule::Ref*> children = state.ChildrenOf(block);
  if (kept.children() != children) fail("children");
  for (size_t i = 0; i < children.size(); ++i) {
    if (children[i]->place != i) fail("places");
  }
  const schedule::BlockScope found(children);
  const auto same = [](const schedule::Dependence& a, const schedule::Dependence& b) {
    return a.src == b.src && a.dst == b.dst && a.kind == b.kind;
  };
  for (schedule::Ref* child : children) {
    if (!std::ranges::equal(kept.DependencesTo(child), found.DependencesTo(child), same) ||
        !std::ranges::equal(kept.DependencesFrom(child), found.DependencesFrom(child), same))
      fail("dependences");
    const std::vector<schedule::Ref*> named = state.BlocksNamed(child->block().name_hint);
    if (std::ranges::count(named, child) != 1) fail("names");
    CheckScopes(state, child);
  }
}

}  // namespace

int ApplyRandomPrimitives(schedule::Schedule& sch, const std::string& function, int count, Choices& choices) {
  RandomSchedule random(sch, function, choices);
  int applied = 0;
  for (int i = 0; i < count; ++i) {
    applied += random.ApplyOne() ? 1 : 0;
    if (schedule::State* state = sch.StateOf(function)) CheckScopes(*state, state->root());
  }
  return applied;
}

bool ApplyWrongSplit(schedule::Schedule& sch, const std::string& function, Choices& choices) {
  return RandomSchedule(sch, function, choices).WrongSplit();
}

}  // namespace iropt::generate
