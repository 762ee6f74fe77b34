#include "transform/tir/util/staging_buffer.h"

#include <algorithm>
#include <string>

namespace iropt {

const tir::Buffer* MakeStagingBuffer(const tir::Buffer& like, std::string_view scope,
                                     const std::vector<const PrimExpr*>& shape, Workspace& workspace) {
  std::string name(like.name);
  name.append("_").append(scope);
  std::ranges::replace(name, '.', '_');
  auto* buffer = workspace.New<tir::Buffer>(like);
  buffer->data = workspace.NewPrimVar(name, DataType::Handle(), tir::PointerInfo::Get(like.dtype, scope));
  buffer->name = buffer->data->name;
  buffer->id = workspace.NextVarId();
  buffer->shape = workspace.Copy(shape);
  buffer->strides = {};
  buffer->axis_separators = {};
  return buffer;
}

}  // namespace iropt
