// The version of TVM whose behaviour the running passes follow where versions differ. A pass follows that of the text
// of its module; the simplifier and the legalizations, which know of no module, ask here.
#pragma once

#include <optional>

#include "iropt/support/text_version.h"

namespace iropt {

// That of the innermost scope; 0.18 outside of all scopes. Threads of parallel loops take it over.
TextVersion FollowedVersion();

inline bool FollowsSince(TextVersion first) { return FollowedVersion() >= first; }

// Sets the version while it exists; without a version the one around it stays.
class FollowedVersionScope {
 public:
  explicit FollowedVersionScope(std::optional<TextVersion> version);
  FollowedVersionScope(const FollowedVersionScope&) = delete;
  FollowedVersionScope& operator=(const FollowedVersionScope&) = delete;
  ~FollowedVersionScope();

  TextVersion version() const { return version_; }

 private:
  const TextVersion version_;
  FollowedVersionScope* const outer_;
};

}  // namespace iropt
