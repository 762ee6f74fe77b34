#include "flag_table.h"

#include "cli/flag_rows.h"

namespace iropt {

namespace {

constexpr Flag kFlags[] = {
#define IROPT_FLAG IROPT_FLAG_ROW
#include "flags.def"
};

}  // namespace

std::span<const Flag> Flags() { return kFlags; }

}  // namespace iropt
