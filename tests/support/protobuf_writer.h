// Encodes protobuf messages, for tests of what reads them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tpuslice::testing {

class ProtobufWriter {
 public:
  ProtobufWriter& varint(std::uint32_t number, std::uint64_t value) {
    append(number << 3U);
    append(value);
    return *this;
  }
  ProtobufWriter& bytes(std::uint32_t number, std::string_view value) {
    append(number << 3U | 2U);
    append(value.size());
    text_ += value;
    return *this;
  }
  ProtobufWriter& message(std::uint32_t number, const ProtobufWriter& value) { return bytes(number, value.text_); }
  /// The entry of a map.
  ProtobufWriter& entry(std::uint32_t number, std::string_view key, std::string_view value) {
    return message(number, ProtobufWriter().bytes(1, key).bytes(2, value));
  }
  /// A fixed-width field: wire type 1 has 8 bytes, 5 has 4.
  ProtobufWriter& fixed(std::uint32_t number, std::uint32_t wire_type) {
    append(number << 3U | wire_type);
    text_.append(wire_type == 1 ? 8 : 4, 'x');
    return *this;
  }

  [[nodiscard]] const std::string& text() const { return text_; }
  /// As a document of a Kubernetes API server.
  [[nodiscard]] std::string document(std::string_view kind) const {
    const ProtobufWriter type = ProtobufWriter().bytes(1, "v1").bytes(2, kind);
    return std::string("k8s\0", 4) + ProtobufWriter().message(1, type).bytes(2, text_).bytes(3, "").bytes(4, "").text_;
  }

 private:
  void append(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U) text_ += static_cast<char>(value | 0x80U);
    text_ += static_cast<char>(value);
  }

  std::string text_;
};

}  // namespace tpuslice::testing
