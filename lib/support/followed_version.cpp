#include "iropt/support/followed_version.h"

#include "iropt/support/inherited.h"

namespace iropt {

namespace {

using InnermostVersion = Inherited<FollowedVersionScope>;

}  // namespace

TextVersion FollowedVersion() {
  const FollowedVersionScope* scope = InnermostVersion::Current();
  return scope == nullptr ? TextVersion::kV0_18 : scope->version();
}

FollowedVersionScope::FollowedVersionScope(std::optional<TextVersion> version)
    : version_(version.value_or(FollowedVersion())), outer_(InnermostVersion::Exchange(this)) {}

FollowedVersionScope::~FollowedVersionScope() { InnermostVersion::Restore(outer_); }

}  // namespace iropt
