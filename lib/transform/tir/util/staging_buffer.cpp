#include "transform/tir/util/staging_buffer.h"

#include <algorithm>
#include <string>

#include "iropt/ir/tir/builder.h"

namespace iropt {

const tir::Buffer* MakeStagingBuffer(const tir::Buffer& like, std::string_view scope,
                                     const std::vector<const PrimExpr*>& shape, Workspace& workspace) {
  std::string name(like.name);
  name.append("_").append(scope);
  std::ranges::replace(name, '.', '_');
  return tir::MakeBuffer(workspace, {.shape = shape, .dtype = like.dtype, .scope = scope, .align = like.data_alignment},
                         name);
}

}  // namespace iropt
