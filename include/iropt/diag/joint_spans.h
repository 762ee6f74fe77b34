// Places that what a pass makes of several things comes from. A joint span stands for them in the few bytes that a node
// has for its place: it is copied as other spans are, and the diagnostics engine reports the first place with notes for
// the others.
#pragma once

#include <span>
#include <vector>

#include "iropt/diag/source.h"

namespace iropt {

// Offsets from here on are those of joint spans, not of sources: the last MiB of 4 GiB.
inline constexpr uint32_t kFirstJointOffset = 0xfff00000;

inline bool IsJoint(SourceSpan span) { return span.begin >= kFirstJointOffset; }

// A span that stands for the places, each once, in their order; the only one of them if there is one. Joint spans count
// as their parts, and unknown ones not at all. Of very many, or of those of very many joints in a process, the first
// one stands for all. Thread-safe.
SourceSpan Join(std::span<const SourceSpan> spans);

// The places that the span stands for, at least one: itself if it is not a joint one. Thread-safe.
std::vector<SourceSpan> PartsOf(SourceSpan span);

}  // namespace iropt
