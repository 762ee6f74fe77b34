#include "iropt/analysis/tir/written_params.h"

#include "iropt/ir/tir/visitor.h"
#include "iropt/support/lookup.h"

namespace iropt {

std::vector<bool> WrittenParams(const PrimFunc& function) {
  LookupSet<const tir::Var*> written;                              // pointer variables
  LookupMap<const tir::Var*, int> uses;                            // of pointers otherwise than by attributes
  std::vector<std::pair<const tir::Var*, const tir::Var*>> views;  // a matched region and what it is a part of
  tir::PostOrderVisit(function.body, [&](const Node* node) {
    if (const auto* store = As<tir::BufferStore>(node)) {
      written.insert(store->buffer->data);
    } else if (const auto* block = As<tir::Block>(node)) {
      for (const tir::MatchBufferRegion* match : block->match_buffers)
        views.emplace_back(match->buffer->data, match->source->buffer->data);
    } else if (const auto* attr = As<tir::AttrStmt>(node)) {
      // Its node was visited before.
      if (const auto* annotated = As<tir::Var>(attr->node)) --uses[annotated];
    } else if (const auto* var = As<tir::Var>(node); var && var->dtype.is_handle()) {
      ++uses[var];
    }
  });
  const auto is_written = [&](const tir::Var* var) {
    const auto* used = uses.Find(var);
    return written.contains(var) || (used && *used > 0);
  };
  // The visit ends with the outermost block, so that a view of a view comes before the view that it is of.
  for (const auto& [view, source] : views) {
    if (is_written(view)) written.insert(source);
  }
  std::vector<bool> result;
  for (const tir::Buffer* buffer : function.param_buffers) result.push_back(buffer && is_written(buffer->data));
  return result;
}

namespace {

class FirstAccesses : public tir::StmtExprVisitor {
 public:
  LookupMap<const tir::Var*, bool> is_load;  // by data pointer

 protected:
  void VisitBufferLoad(const tir::BufferLoad* load) override {
    StmtExprVisitor::VisitBufferLoad(load);
    is_load.try_emplace(load->buffer->data, true);
  }
  void VisitBufferStore(const tir::BufferStore* store) override {
    StmtExprVisitor::VisitBufferStore(store);
    is_load.try_emplace(store->buffer->data, false);
  }
};

}  // namespace

std::vector<bool> ParamsReadFirst(const PrimFunc& function) {
  FirstAccesses first;
  first.VisitStmt(function.body);
  std::vector<bool> result;
  for (const tir::Buffer* buffer : function.param_buffers)
    result.push_back(buffer && first.is_load.Lookup(buffer->data, false));
  return result;
}

}  // namespace iropt
