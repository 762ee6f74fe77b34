#include "exchange/onnx/wire_reader.h"

#include <fmt/format.h>

#include <cstring>

namespace iropt::onnx {

using protozero::pbf_wire_type;

void Place::Enter(std::string_view what, size_t index) {
  if (parts_.size() >= kDeepest) throw BadMessage{"messages are nested too deeply"};
  parts_.push_back({what, index});
}

std::string Place::ToString() const {
  std::string text;
  for (const Part& part : parts_) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", part.what);
    if (part.index != kOnly) text += fmt::format(" {}", part.index);
    if (!part.name.empty()) text += fmt::format(" '{}'", part.name);
  }
  return text;
}

void WireReader::Require(pbf_wire_type type) const {
  if (reader_.wire_type() != type)
    throw BadMessage{fmt::format("field {} has wire type {}: expected {}", reader_.tag(),
                                 static_cast<int>(reader_.wire_type()), static_cast<int>(type))};
}

std::string_view WireReader::Bytes() {
  Require(pbf_wire_type::length_delimited);
  const protozero::data_view view = reader_.get_view();
  return {view.data(), view.size()};
}

int64_t WireReader::Int() {
  Require(pbf_wire_type::varint);
  return reader_.get_int64();
}

float WireReader::Float() {
  Require(pbf_wire_type::fixed32);
  return reader_.get_float();
}

void WireReader::Ints(std::vector<int64_t>& values) {
  if (reader_.wire_type() != pbf_wire_type::length_delimited) {
    values.push_back(Int());
    return;
  }
  for (const int64_t value : reader_.get_packed_int64()) values.push_back(value);
}

void WireReader::Floats(std::vector<float>& values) {
  if (reader_.wire_type() != pbf_wire_type::length_delimited) {
    values.push_back(Float());
    return;
  }
  for (const float value : reader_.get_packed_float()) values.push_back(value);
}

void WireReader::Fixed(std::string_view& bytes, size_t size, Model& model) {
  std::string_view part;
  std::string single;
  if (reader_.wire_type() == pbf_wire_type::length_delimited) {
    part = Bytes();
    if (part.size() % size != 0) throw BadMessage{fmt::format("a field of {} bytes ends within a number", part.size())};
  } else if (size == sizeof(uint32_t)) {
    Require(pbf_wire_type::fixed32);
    const uint32_t bits = reader_.get_fixed32();
    single.assign(reinterpret_cast<const char*>(&bits), size);
    part = single;
  } else {
    Require(pbf_wire_type::fixed64);
    const uint64_t bits = reader_.get_fixed64();
    single.assign(reinterpret_cast<const char*>(&bits), size);
    part = single;
  }
  if (bytes.empty() && single.empty()) {
    bytes = part;
    return;
  }
  // Mostly the text that was kept last grows.
  const bool grows = !model.texts.empty() && !bytes.empty() && bytes.data() == model.texts.back().data();
  if (!grows) model.Keep(std::string(bytes));
  model.texts.back().append(part);
  bytes = model.texts.back();
}

}  // namespace iropt::onnx
