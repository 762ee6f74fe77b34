// The wire format under the messages: protozero's reader with checks of wire types, nesting and place.
#pragma once

#include <cstdint>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "exchange/onnx/model.h"

namespace iropt::onnx {

// A field with another wire type than its message says, or messages nested too deeply. Caught by the functions of
// decode.h, as protozero's own exceptions are.
struct BadMessage {
  std::string reason;
};

// The place of the reader, for messages. Parts that were not left are still in it when an exception is caught.
class Place {
 public:
  static constexpr size_t kDeepest = 100;  // as protobuf's own readers

  static constexpr size_t kOnly = SIZE_MAX;  // the index of a field that is not repeated

  // `what` is a literal.
  void Enter(std::string_view what, size_t index);
  void Leave() { parts_.pop_back(); }
  // "graph, node 3 'conv1', attribute 'pads'".
  std::string ToString() const;
  // Names the innermost part, once its name is known.
  void Name(std::string_view name) {
    if (!parts_.empty()) parts_.back().name = name;
  }

 private:
  struct Part {
    std::string_view what;
    size_t index;
    std::string_view name = {};
  };
  std::vector<Part> parts_;
};

// The fields of one message, one after the other.
class WireReader {
 public:
  WireReader(std::string_view bytes, Place& place) : reader_(bytes.data(), bytes.size()), place_(place) {}

  bool Next() { return reader_.next(); }
  uint32_t field() const { return reader_.tag(); }
  Place& place() { return place_; }
  void Skip() { reader_.skip(); }

  std::string_view Bytes();
  int64_t Int();
  float Float();
  // Appends the values of a repeated field, packed or not.
  void Ints(std::vector<int64_t>& values);
  void Floats(std::vector<float>& values);
  // The bytes of a repeated field of numbers of `size` bytes. Several parts are put together in `model`.
  void Fixed(std::string_view& bytes, size_t size, Model& model);

  // Reads a message with `decode(WireReader&)`; `part`, a literal, names it.
  template <class F>
  void Message(std::string_view part, size_t index, F&& decode) {
    const std::string_view bytes = Bytes();
    place_.Enter(part, index);
    WireReader inner(bytes, place_);
    decode(inner);
    place_.Leave();
  }
  template <class F>
  void Message(std::string_view part, F&& decode) {
    Message(part, Place::kOnly, std::forward<F>(decode));
  }

 private:
  void Require(protozero::pbf_wire_type type) const;

  protozero::pbf_reader reader_;
  Place& place_;
};

}  // namespace iropt::onnx
