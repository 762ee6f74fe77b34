// Properties of buffers: alignment, memory, dtype, separators of axes; and what blocks state to access.
#include <fmt/format.h>

#include <algorithm>

#include "buffer_sites.h"
#include "schedule/checks.h"
#include "schedule/index_map_tools.h"
#include "schedule/primitive_call.h"
#include "schedule/stmt_tools.h"

namespace iropt::schedule {

namespace {

Result<Ref*> AllocationSite(State& state, Ref* block, const tir::Buffer* buffer) {
  const DefiningSite site = FindDefiningSite(block, buffer);
  if (site.is_allocated) return site.site;
  return state.Refuse(fmt::format(
      "the buffer {} is a parameter, or matched to a region: expected one that a block allocates", buffer->name));
}

// Replaces a buffer, and what regions of it are matched to, by others that `change` gives.
class BufferChanger : public tir::StmtExprMutator {
 public:
  using Change = std::function<const tir::Buffer*(const tir::Buffer&)>;
  BufferChanger(const tir::Buffer* buffer, const tir::Buffer* new_buffer, Change change, Workspace& workspace)
      : StmtExprMutator(workspace), buffer_(buffer), new_buffer_(new_buffer), change_(std::move(change)) {
    Replace(buffer, new_buffer);
  }

 protected:
  const tir::Buffer* VisitBufferDef(const tir::Buffer* buffer) override {
    return buffer == buffer_ ? new_buffer_ : StmtExprMutator::VisitBufferDef(buffer);
  }
  const tir::MatchBufferRegion* VisitMatchBufferRegion(const tir::MatchBufferRegion* match) override {
    if (!RemapOf(match->source->buffer)) return match;
    const tir::Buffer* target = change_(*match->buffer);
    Replace(match->buffer, target);
    return workspace().New<tir::MatchBufferRegion>(target, VisitBufferRegion(match->source));
  }

  void Replace(const tir::Buffer* from, const tir::Buffer* to) {
    Remap(from, to);
    if (from->data != to->data) Remap(from->data, to->data);
  }
  const tir::Buffer* Changed(const tir::Buffer* buffer) const { return RemapOf(buffer); }

 private:
  const tir::Buffer* buffer_;
  const tir::Buffer* new_buffer_;
  Change change_;
};

// Stores are converted to the new dtype, loads to the old one.
class DTypeChanger : public BufferChanger {
 public:
  DTypeChanger(const tir::Buffer* buffer, const tir::Buffer* new_buffer, Change change, Workspace& workspace)
      : BufferChanger(buffer, new_buffer, std::move(change), workspace),
        old_dtype_(buffer->dtype),
        new_dtype_(new_buffer->dtype) {}

 protected:
  const tir::Stmt* VisitBufferStore(const tir::BufferStore* store) override {
    const bool changes = Changed(store->buffer) != nullptr;
    const auto* visited = To<tir::BufferStore>(BufferChanger::VisitBufferStore(store));
    if (!changes) return visited;
    auto* copy = workspace().New<tir::BufferStore>(*visited);
    copy->value = workspace().New<tir::Cast>(new_dtype_, visited->value);
    return copy;
  }
  const PrimExpr* VisitBufferLoad(const tir::BufferLoad* load) override {
    const bool changes = Changed(load->buffer) != nullptr;
    const auto* visited = To<tir::BufferLoad>(BufferChanger::VisitBufferLoad(load));
    if (!changes || IsMention(*load)) return visited;
    auto* copy = workspace().New<tir::BufferLoad>(*visited);
    copy->dtype = new_dtype_;
    return workspace().New<tir::Cast>(old_dtype_, copy);
  }

 private:
  const DataType old_dtype_;
  const DataType new_dtype_;
};

void ReplaceScope(State& state, Ref* scope, const tir::Stmt* new_scope) {
  const BlockReuse reuse = PairBlocks(scope->stmt, new_scope);
  state.Replace(scope, new_scope, reuse);
}

Result<const ListAttr*> AlignmentsOf(State& state, const tir::Block& block) {
  const Attr* given = block.annotations->Find(attr::kBufferDimAlign);
  if (!given) return ListAttr::Get({});
  const auto is_tuple = [](const Attr* item) {
    const auto* tuple = As<ListAttr>(item);
    return tuple && tuple->values.size() == 4 &&
           std::ranges::all_of(tuple->values, [](const Attr* value) { return Is<IntAttr>(value); });
  };
  const auto* list = As<ListAttr>(given);
  if (list && std::ranges::all_of(list->values, is_tuple)) return list;
  return state.Refuse(
      "the block {0} has an invalid annotation of alignments: expected a list of (buffer_index, axis, factor, offset)",
      {&block});
}

}  // namespace

Result<BufferSite> FindBufferSite(State& state, Ref* ref, int64_t index, Side side) {
  IROPT_ASSIGN_OR_RETURN(const tir::BufferRegion* access, RequireAccess(state, ref, index, side == Side::kWrite));
  const DefiningSite site = FindDefiningSite(ref, access->buffer);
  if (site.site && !site.is_allocated)
    return state.Refuse(
        fmt::format("the buffer {} is matched to a region: expected a parameter, or one that a block allocates",
                    access->buffer->name));
  BufferSite found{.buffer = access->buffer, .scope = site.site, .is_param = !site.site};
  if (!site.site) {
    IROPT_ASSIGN_OR_RETURN(found.scope, RequireScope(state, ref, /*stage_pipeline=*/false));
  }
  return found;
}

void ReplaceParamBuffer(State& state, const tir::Buffer* buffer, const tir::Buffer* new_buffer) {
  Workspace& workspace = state.workspace();
  auto* func = workspace.New<PrimFunc>(*state.func());
  std::vector<const tir::Buffer*> buffers(func->param_buffers.begin(), func->param_buffers.end());
  std::ranges::replace(buffers, buffer, new_buffer);
  func->param_buffers = workspace.Copy(buffers);
  state.SetFunc(func);
}

Status ApplyStorageAlign(PrimitiveCall& call, const args::StorageAlign<Resolved>& args) {
  State& state = call.state();
  Ref* ref = args.block;
  const tir::Block& block = ref->block();
  const int64_t index = args.buffer_index;
  const int64_t factor = args.factor;
  int64_t axis = args.axis;
  IROPT_ASSIGN_OR_RETURN(const tir::BufferRegion* access, RequireAccess(state, ref, index, /*is_write=*/true));
  if (factor <= 0) return state.Refuse(fmt::format("invalid `factor` {}: expected a positive number", factor));
  const auto ndim = static_cast<int64_t>(access->buffer->shape.size());
  if (axis < -ndim || axis >= ndim)
    return state.Refuse(fmt::format("invalid `axis` {3} of the buffer {0}: expected one in [{2}, {1})",
                                    access->buffer->name, ndim, -ndim, axis));
  if (axis < 0) axis += ndim;
  IROPT_RETURN_IF_ERROR(AllocationSite(state, ref, access->buffer));
  IROPT_ASSIGN_OR_RETURN(const ListAttr* known, AlignmentsOf(state, block));
  std::vector<const Attr*> numbers;
  for (const int64_t number : {index, axis, factor, args.offset}) numbers.push_back(IntAttr::Get(number));
  const Attr* tuple = ListAttr::Get(numbers);
  std::vector<const Attr*> tuples(known->values.begin(), known->values.end());
  const auto is_same = [&](const Attr* item) {
    const auto& values = To<ListAttr>(item)->values;
    return To<IntAttr>(values[0])->value == index && To<IntAttr>(values[1])->value == axis;
  };
  const auto same = std::ranges::find_if(tuples, is_same);
  if (same == tuples.end())
    tuples.push_back(tuple);
  else
    *same = tuple;
  const tir::Block* new_block = CopyBlock(block, state.workspace(), [&](tir::Block& copy) {
    copy.annotations = copy.annotations->With(attr::kBufferDimAlign, ListAttr::Get(tuples));
  });
  state.Replace(ref, new_block, {{&block, new_block}});
  return {};
}

Status ApplySetScope(PrimitiveCall& call, const args::SetScope<Resolved>& args) {
  State& state = call.state();
  Workspace& workspace = state.workspace();
  Ref* ref = args.block;
  const std::string& memory = args.storage_scope;
  IROPT_ASSIGN_OR_RETURN(const tir::BufferRegion* access,
                         RequireAccess(state, ref, args.buffer_index, /*is_write=*/true));
  if (access->buffer->scope() == memory) return {};
  IROPT_RETURN_IF_ERROR(CheckStorageScope(state, memory));
  IROPT_ASSIGN_OR_RETURN(Ref * site, AllocationSite(state, ref, access->buffer));
  const auto change = [&](const tir::Buffer& buffer) {
    return CopyBuffer(buffer, {.name = fmt::format("{}_{}", buffer.name, memory), .scope = memory, .is_view = true},
                      workspace);
  };
  BufferChanger changer(access->buffer, change(*access->buffer), change, workspace);
  ReplaceScope(state, site, changer.VisitStmt(site->stmt));
  return {};
}

Status ApplyUnsafeSetDType(PrimitiveCall& call, const args::UnsafeSetDType<Resolved>& args) {
  State& state = call.state();
  Workspace& workspace = state.workspace();
  Ref* ref = args.block;
  const auto dtype = DataType::Parse(args.dtype);
  IROPT_ASSIGN_OR_RETURN(const tir::BufferRegion* access,
                         RequireAccess(state, ref, args.buffer_index, /*is_write=*/true));
  if (!dtype || dtype->is_void()) return call.Refuse(fmt::format("unknown dtype '{}'", args.dtype));
  if (access->buffer->dtype == *dtype) return {};
  IROPT_ASSIGN_OR_RETURN(Ref * site, AllocationSite(state, ref, access->buffer));
  const auto change = [&](const tir::Buffer& buffer) {
    return CopyBuffer(buffer, {.name = {}, .dtype = *dtype, .is_view = true}, workspace);
  };
  DTypeChanger changer(access->buffer, change(*access->buffer), change, workspace);
  ReplaceScope(state, site, changer.VisitStmt(site->stmt));
  return {};
}

Status ApplySetAxisSeparator(PrimitiveCall& call, const args::SetAxisSeparator<Resolved>& args) {
  State& state = call.state();
  Workspace& workspace = state.workspace();
  IROPT_ASSIGN_OR_RETURN(const BufferSite site,
                         FindBufferSite(state, args.block, args.buffer_index, args.buffer_index_type));
  const List<int64_t> separators = workspace.Copy(args.axis_separators);
  const auto ndim = static_cast<int64_t>(site.buffer->shape.size());
  for (size_t i = 0; i < separators.size(); ++i) {
    if (separators[i] < 0 || separators[i] > ndim || (i > 0 && separators[i] < separators[i - 1]))
      return call.Refuse(
          fmt::format("the axis separators of a buffer of {} dimensions must be increasing positions of "
                      "its axes",
                      ndim));
  }
  const auto change = [&](const tir::Buffer& buffer) {
    auto* copy = workspace.New<tir::Buffer>(buffer);
    copy->id = workspace.NextVarId();
    copy->axis_separators = separators;
    if (buffer.shape.size() != site.buffer->shape.size())
      copy->axis_separators = workspace.Copy(std::vector<int64_t>(separators.size(), 0));
    return copy;
  };
  const tir::Buffer* new_buffer = change(*site.buffer);
  BufferChanger changer(site.buffer, new_buffer, change, workspace);
  const tir::Stmt* new_scope = changer.VisitStmt(site.scope->stmt);
  if (site.is_param) ReplaceParamBuffer(state, site.buffer, new_buffer);
  ReplaceScope(state, site.scope, new_scope);
  return {};
}

Status ApplyUnsafeHideBufferAccess(PrimitiveCall& call, const args::UnsafeHideBufferAccess<Resolved>& args) {
  State& state = call.state();
  Ref* ref = args.block;
  const tir::Block& block = ref->block();
  const std::string& kind = args.buf_type;
  if (kind != "read" && kind != "write")
    return state.Refuse(fmt::format("invalid `buf_type` '{}': expected 'read' or 'write'", kind));
  const List<const tir::BufferRegion*> regions = kind == "read" ? block.reads : block.writes;
  const std::vector<int64_t> hidden = args.buf_index_array;
  for (const int64_t index : hidden) {
    if (index < 0 || index >= regions.size())
      return state.Refuse(fmt::format("invalid `buf_index_array`: expected integers from 0 to {}, not {}",
                                      static_cast<int64_t>(regions.size()) - 1, index));
  }
  std::vector<const tir::BufferRegion*> rest;
  for (size_t i = 0; i < regions.size(); ++i) {
    if (std::ranges::find(hidden, static_cast<int64_t>(i)) == hidden.end()) rest.push_back(regions[i]);
  }
  const tir::Block* new_block = CopyBlock(block, state.workspace(), [&](tir::Block& copy) {
    (kind == "read" ? copy.reads : copy.writes) = state.workspace().Copy(rest);
  });
  state.Replace(ref, new_block, {{&block, new_block}});
  return {};
}

Status ApplyAnnotateBufferAccess(PrimitiveCall& call, const args::AnnotateBufferAccess<Resolved>& args) {
  State& state = call.state();
  Workspace& workspace = state.workspace();
  Ref* ref = args.block;
  const tir::Block& block = ref->block();
  const int64_t index = args.buffer_index;
  const bool is_write = args.buffer_index_type == Side::kWrite;
  const IndexMapAttr& map = *args.gen_new_ranges;
  IROPT_ASSIGN_OR_RETURN(const tir::BufferRegion* access, RequireAccess(state, ref, index, is_write));
  arith::Analyzer analyzer(state.make(), arith::Analyzer::SymVars::kAny);
  std::vector<const PrimExpr*> axes;
  for (const tir::IterVar* axis : block.iter_vars) axes.push_back(axis->var);
  if (map.params.size() != axes.size() || map.results.size() != 2 * access->region.size())
    return call.Refuse("the ranges need one parameter for each axis of the block, and two results for each dimension");
  const std::vector<const PrimExpr*> ends = MapIndices(map, axes, analyzer);
  std::vector<const tir::Range*> ranges;
  for (size_t i = 0; i < ends.size(); i += 2)
    ranges.push_back(workspace.New<tir::Range>(ends[i], analyzer.Simplify(analyzer.make().Sub(ends[i + 1], ends[i]))));
  const tir::BufferRegion* region = MakeRegion(access->buffer, ranges, workspace);
  const std::string_view key = is_write ? "explicit_write_region" : "explicit_read_region";
  std::vector<const Attr*> stated;
  if (const auto* list = As<ListAttr>(block.annotations->Find(key)))
    stated.assign(list->values.begin(), list->values.end());
  const auto is_same = [&](const Attr* item) { return Is<IntAttr>(item) && To<IntAttr>(item)->value == index; };
  if (std::ranges::none_of(stated, is_same)) stated.push_back(IntAttr::Get(index));
  const tir::Block* new_block = CopyBlock(block, workspace, [&](tir::Block& copy) {
    std::vector<const tir::BufferRegion*> regions;
    const List<const tir::BufferRegion*> old = is_write ? copy.writes : copy.reads;
    for (size_t i = 0; i < old.size(); ++i) regions.push_back(static_cast<int64_t>(i) == index ? region : old[i]);
    (is_write ? copy.writes : copy.reads) = workspace.Copy(regions);
    copy.annotations = copy.annotations->With(key, ListAttr::Get(stated));
  });
  state.Replace(ref, new_block, {{&block, new_block}});
  return {};
}

}  // namespace iropt::schedule
