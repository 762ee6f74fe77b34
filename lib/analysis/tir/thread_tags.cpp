#include "iropt/analysis/tir/thread_tags.h"

namespace iropt {

ThreadTag ThreadTag::Of(std::string_view tag) {
  constexpr std::string_view kBlock = "blockIdx.";
  constexpr std::string_view kThread = "threadIdx.";
  const auto dim_after = [&](std::string_view prefix) {
    return tag.size() == prefix.size() + 1 ? tag.back() - 'x' : -1;
  };
  if (tag.starts_with("vthread") || tag == "cthread") return {ThreadRank::kThread, -1};
  if (tag.starts_with(kBlock)) return {ThreadRank::kBlock, dim_after(kBlock)};
  if (tag.starts_with(kThread)) return {ThreadRank::kThread, dim_after(kThread)};
  return {};
}

bool IsVirtualThreadTag(std::string_view tag) {
  return tag == "vthread" || tag == "vthread.x" || tag == "vthread.y" || tag == "vthread.z";
}

StorageScope StorageScope::Of(std::string_view scope) {
  struct Base {
    std::string_view name;
    StorageRank rank;
  };
  static constexpr Base kBases[] = {{"global", StorageRank::kGlobal},
                                    {"shared", StorageRank::kShared},
                                    {"warp", StorageRank::kWarp},
                                    {"local", StorageRank::kLocal},
                                    {"wmma.matrix_a", StorageRank::kOther},
                                    {"wmma.matrix_b", StorageRank::kOther},
                                    {"wmma.accumulator", StorageRank::kOther},
                                    {"texture", StorageRank::kOther},
                                    {"amx.tmm", StorageRank::kOther},
                                    {"m16n8k8.matrixA", StorageRank::kOther},
                                    {"m16n8k8.matrixB", StorageRank::kOther},
                                    {"m16n8k8.matrixC", StorageRank::kOther},
                                    {"metal.simdgroup", StorageRank::kOther}};
  if (scope.empty()) return {StorageRank::kGlobal, "global", {}};
  for (const Base& base : kBases) {
    if (scope.starts_with(base.name)) return {base.rank, base.name, scope.substr(base.name.size())};
  }
  return {StorageRank::kOther, scope, {}};
}

bool IsSharedBy(const StorageScope& scope, const ThreadTag& thread) {
  switch (scope.rank) {
    case StorageRank::kGlobal: return thread.rank != ThreadRank::kUnknown;
    case StorageRank::kShared: return thread.rank == ThreadRank::kThread;
    case StorageRank::kWarp: return thread.rank == ThreadRank::kThread && thread.dim == 0;
    default: return false;
  }
}

}  // namespace iropt
