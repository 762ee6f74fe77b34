// The description of a pass for the pass manager.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace iropt {

struct AnalysisKind;

enum class PassKind : uint8_t {
  Module,
  Function,
  DataflowBlock,
  PrimFunc,
  Sequential,  // this and the next two run other passes
  Fixpoint,
  Repeat,
};

std::string_view PassKindName(PassKind kind);

// The highest level of a context.
inline constexpr int kMaxOptLevel = 4;
// The level of a Sequential for which none was set: below every level of a context.
inline constexpr int kNoOptLevel = std::numeric_limits<int>::min();

struct PassInfo {
  std::string name;
  int opt_level = 0;                       // the lowest level of a context at which a Sequential runs the pass
  std::vector<std::string> required = {};  // passes that a Sequential runs before this one
  bool traceable = false;                  // for tools that record passes; the pass manager ignores it
  std::vector<const AnalysisKind*> preserved_analyses = {};  // see analysis.h
  PassKind kind = PassKind::Module;

  bool is_composite() const { return kind >= PassKind::Sequential; }
};

}  // namespace iropt
