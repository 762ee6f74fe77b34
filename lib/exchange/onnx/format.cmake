# protozero is headers alone.
find_path(PROTOZERO_INCLUDE_DIR protozero/pbf_reader.hpp)
mark_as_advanced(PROTOZERO_INCLUDE_DIR)
set(format_includes "${PROTOZERO_INCLUDE_DIR}")
if(NOT PROTOZERO_INCLUDE_DIR)
  set(format_missing "protozero was not found (Debian: libprotozero-dev): ONNX files are not read")
endif()
