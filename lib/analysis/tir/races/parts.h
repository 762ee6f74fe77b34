// Buffers that are parts of others under another name.
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "analysis/tir/races/accesses.h"
#include "iropt/arith/prim_builder.h"

namespace iropt::races {

class Parts {
 public:
  void Add(const tir::Buffer* part, const tir::Buffer* whole, std::vector<const PrimExpr*> begin) {
    parts_[part] = {whole, std::move(begin)};
  }

  // An element of a part becomes one of the buffer. The part may lack first dimensions.
  void FindWhole(Access& access, const arith::PrimBuilder& make) const {
    for (auto part = parts_.find(access.buffer); part != parts_.end(); part = parts_.find(access.buffer)) {
      std::vector<const PrimExpr*> indices = part->second.begin;
      if (access.indices.size() > indices.size()) {
        access.unknown = "a part of a buffer has more dimensions than the buffer";
        return;
      }
      const size_t first = indices.size() - access.indices.size();
      for (size_t i = 0; i < access.indices.size(); ++i)
        indices[first + i] = make.Add(indices[first + i], access.indices[i]);
      access.indices = std::move(indices);
      access.buffer = part->second.whole;
      access.data = access.buffer->data;
    }
  }

 private:
  struct Part {
    const tir::Buffer* whole = nullptr;
    std::vector<const PrimExpr*> begin = {};
  };
  std::map<const tir::Buffer*, Part> parts_;
};

}  // namespace iropt::races
