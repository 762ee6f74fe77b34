# The libraries that the project uses. Those of a plain system are found by cmake/IroptPlain.cmake.
include(IroptPlain)
if(IROPT_PLAIN_SYSTEM)
  return()
endif()
iropt_require(fmt libfmt-dev)
iropt_require(nlohmann_json nlohmann-json3-dev)
iropt_require(RapidJSON rapidjson-dev)
iropt_require(CLI11 libcli11-dev)
iropt_require(ZLIB zlib1g-dev)
iropt_require(Eigen3 libeigen3-dev 3.3 NO_MODULE)
# The packages of xxHash and DTL have no CMake files; their headers are all that is used.
iropt_require_header(XXHASH_INCLUDE_DIR xxhash.h libxxhash-dev)
iropt_require_header(DTL_INCLUDE_DIR dtl/dtl.hpp libdtl-dev)
