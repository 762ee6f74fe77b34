#include "transform/tir/util/storage_align.h"

#include <array>

#include "iropt/ir/attr.h"
#include "iropt/ir/tir/visitor.h"

namespace iropt {

namespace {

class AlignCollector : public tir::StmtExprVisitor {
 public:
  StorageAligns aligns;

 protected:
  void VisitBlock(const tir::Block* block) override {
    ForEachTuple(*block->annotations, [&](int64_t buffer, const StorageAlign& align) {
      if (buffer >= 0 && buffer < block->writes.size()) aligns[block->writes[buffer]->buffer->data].push_back(align);
    });
    StmtExprVisitor::VisitBlock(block);
  }

  void VisitAllocate(const tir::Allocate* allocate) override {
    ForEachTuple(*allocate->annotations,
                 [&](int64_t, const StorageAlign& align) { aligns[allocate->buffer_var].push_back(align); });
    StmtExprVisitor::VisitAllocate(allocate);
  }

  void VisitExpr(const PrimExpr*) override {}

 private:
  // The annotation is a list of [buffer, dimension, factor, offset].
  template <class F>
  static void ForEachTuple(const DictAttr& annotations, F&& f) {
    const auto* tuples = As<ListAttr>(annotations.Find(attr::kBufferDimAlign));
    if (!tuples) return;
    for (const Attr* item : tuples->values) {
      const auto* tuple = As<ListAttr>(item);
      if (!tuple || tuple->values.size() != 4) continue;
      std::array<int64_t, 4> values = {};
      bool are_ints = true;
      for (uint32_t i = 0; i < 4; ++i) {
        const auto* value = As<IntAttr>(tuple->values[i]);
        are_ints &= value != nullptr;
        if (value) values[i] = value->value;
      }
      if (are_ints) f(values[0], StorageAlign{.dim = values[1], .factor = values[2], .offset = values[3]});
    }
  }
};

}  // namespace

StorageAligns CollectStorageAligns(const tir::Stmt* stmt) {
  AlignCollector collector;
  collector.VisitStmt(stmt);
  return std::move(collector.aligns);
}

const Attr* MakeStorageAlignAttr(const std::vector<StorageAlign>& aligns) {
  const auto make = [](int64_t value) { return IntAttr::Get(value); };
  std::vector<const Attr*> tuples;
  tuples.reserve(aligns.size());
  for (const StorageAlign& align : aligns) {
    // The allocation is that of one buffer.
    const std::array<const Attr*, 4> tuple = {make(-1), make(align.dim), make(align.factor), make(align.offset)};
    tuples.push_back(ListAttr::Get(tuple));
  }
  return ListAttr::Get(tuples);
}

}  // namespace iropt
