// Arguments of primitives by wrong names, as other types, and of another primitive.
#include "iropt/schedule/schedule.h"
#include "iropt/schedule/typed_calls.h"

#pragma GCC diagnostic error "-Wmissing-field-initializers"

namespace iropt::schedule {

Name Copy(TypedCalls& sch, const Name& block) {
  return sch.CacheRead({.block = block, .read_buffer_index = 0, .storage_scope = "shared"});
}
Names Halves(TypedCalls& sch, const Name& loop) { return sch.Split({loop, {std::nullopt, 2}}); }
Result<Names> Loops(Schedule& schedule, const Name& block) { return schedule.Apply(args::GetLoops<Named>{block}); }
bool ReadsFirst(const args::CacheRead<Resolved>& given) { return given.block && given.read_buffer_index == 0; }

#if CASE == 1  // cannot convert|does not refer to any field
Name Misspelt(TypedCalls& sch, const Name& block) { return sch.CacheRead({.block = block, .buffer_index = 0}); }
#endif

#if CASE == 2  // no member named 'buffer_index'
bool MisspeltRead(const args::CacheRead<Resolved>& given) { return given.buffer_index == 0; }
#endif

#if CASE == 3  // no matching function|could not convert|cannot convert|no viable conversion
void OtherType(TypedCalls& sch, const Name& loop) { sch.Bind({loop, 1}); }
#endif

#if CASE == 4  // missing initializer|missing field
void Missing(TypedCalls& sch, const Name& loop) { sch.Bind({.loop = loop}); }
#endif

#if CASE == 5  // no member named 'Splt'
void MisspeltPrimitive(TypedCalls& sch, const Name& loop) { sch.Splt({loop, {2, 4}}); }
#endif

#if CASE == 6  // no matching function|could not convert|cannot convert|no viable conversion
void SideAsNumber(TypedCalls& sch, const Name& block) { sch.ReIndex({block, 0, 1}); }
#endif

}  // namespace iropt::schedule
