// A plain system does not tell who may write a file, so that no folder is trusted.
#include "iropt/support/own_folder.h"

namespace iropt {

std::string OwnFolder::Problem() const { return "this build does not know who can write to it"; }
std::optional<std::string> OwnFolder::Read(const std::string&) const { return std::nullopt; }
bool OwnFolder::Write(const std::string&, std::initializer_list<std::string_view>) const { return false; }
void OwnFolder::Touch(const std::string&) const {}
void OwnFolder::Trim(uint64_t, std::span<const std::string_view>) const {}

}  // namespace iropt
