#include "api/client/protobuf.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "api/base/clock.h"
#include "api/types/json_text.h"

namespace tpuslice::client::protobuf {
namespace {

constexpr std::string_view kMagic("k8s\0", 4);
constexpr std::uint32_t kRawOfUnknown = 2;  // k8s.io/apimachinery/pkg/runtime/generated.proto

// Field number of the key in the entry of a map.
constexpr std::uint32_t kKey = 1;
constexpr std::uint32_t kValue = 2;
constexpr std::uint32_t kSecondsOfTime = 1;     // k8s.io/apimachinery/pkg/apis/meta/v1/generated.proto
constexpr std::uint32_t kStringOfQuantity = 1;  // k8s.io/apimachinery/pkg/api/resource/generated.proto

Error malformed(const Message& type, const Field& field) {
  return Error::internal("protobuf: {}.{} is malformed", type.name, field.name);
}

/// A time out of range is written as its number of seconds, so that only this object fails to decode, not the
/// others of the list.
std::string time_text(std::int64_t seconds) {
  const std::optional<Timestamp> time = timestamp_of(seconds);
  return time ? format_rfc3339(*time) : std::to_string(seconds);
}

bool is_map(const Field& field) { return field.type == Type::kStrings || field.type == Type::kQuantities; }

Result<std::int64_t> seconds_of(std::string_view time, const Field& field, const Message& type) {
  std::int64_t seconds = 0;
  Reader reader(time);
  while (reader.next()) {
    if (reader.number() == kSecondsOfTime && reader.is_varint()) seconds = reader.varint();
  }
  if (reader.broken()) return malformed(type, field);
  return seconds;
}

/// Writes JSON from fields.
class Printer {
 public:
  explicit Printer(std::string& json) : json_(json) {}

  Status message(std::string_view bytes, const Message& type) {
    json_ += '{';
    std::uint64_t printed = 0;
    char before = '\0';
    Reader reader(bytes);
    while (reader.next()) {
      const auto field = std::ranges::find(type.fields, reader.number(), &Field::number);
      if (field == type.fields.end()) continue;
      const std::uint64_t bit = std::uint64_t{1} << static_cast<std::uint64_t>(field - type.fields.begin());
      if ((printed & bit) != 0) continue;
      printed |= bit;
      const std::size_t start = json_.size();
      if (before != '\0') json_ += before;
      append_json_string(json_, field->name);
      json_ += ':';
      ASSIGN_OR_RETURN(const bool there, value(reader, *field, type));
      if (there) {
        before = ',';
      } else {
        json_.resize(start);
      }
    }
    if (reader.broken()) return Error::internal("protobuf: {} is malformed", type.name);
    json_ += '}';
    return {};
  }

 private:
  /// Prints all values of the field at the reader's position. False if JSON leaves it out.
  Result<bool> value(const Reader& reader, const Field& field, const Message& type) {
    if (!field.repeated && !is_map(field)) return single(reader, field, type);
    json_ += is_map(field) ? '{' : '[';
    bool first = true;
    Reader rest = reader;
    do {
      if (rest.number() != field.number) continue;
      if (!std::exchange(first, false)) json_ += ',';
      RETURN_IF_ERROR(is_map(field) ? entry(rest, field, type) : item(rest, field, type));
    } while (rest.next());
    json_ += is_map(field) ? '}' : ']';
    return true;
  }

  Result<bool> single(const Reader& reader, const Field& field, const Message& type) {
    if (field.type == Type::kBool || field.type == Type::kInteger) {
      if (!reader.is_varint()) return malformed(type, field);
      json_ += field.type == Type::kInteger ? std::to_string(reader.varint()) : reader.varint() != 0 ? "true" : "false";
      return true;
    }
    if (!reader.is_bytes()) return malformed(type, field);
    if (field.type == Type::kMessage) {
      RETURN_IF_ERROR(message(reader.bytes(), *field.message));
      return true;
    }
    std::string time;
    if (field.type == Type::kTime && !reader.bytes().empty()) {  // The zero time is empty.
      ASSIGN_OR_RETURN(const std::int64_t seconds, seconds_of(reader.bytes(), field, type));
      time = time_text(seconds);
    }
    const std::string_view text = field.type == Type::kTime ? time : reader.bytes();
    if (text.empty()) return false;
    append_json_string(json_, text);
    return true;
  }

  /// An item of a list; an empty string is one, too.
  Status item(const Reader& reader, const Field& field, const Message& type) {
    ASSIGN_OR_RETURN(const bool there, single(reader, field, type));
    if (!there) json_ += field.type == Type::kString ? "\"\"" : "null";
    return {};
  }

  Status entry(const Reader& reader, const Field& field, const Message& type) {
    if (!reader.is_bytes()) return malformed(type, field);
    append_json_string(json_, bytes_of(reader.bytes(), kKey));
    json_ += ':';
    std::string_view text = bytes_of(reader.bytes(), kValue);
    if (field.type == Type::kQuantities) text = bytes_of(text, kStringOfQuantity);
    append_json_string(json_, text);
    return {};
  }

  std::string& json_;
};

}  // namespace

bool Reader::fail() {
  broken_ = true;
  rest_ = {};
  return false;
}

bool Reader::read_varint(std::uint64_t& value) {
  constexpr std::size_t kMaxBytes = 10;
  value = 0;
  for (std::size_t at = 0; at < std::min(rest_.size(), kMaxBytes); ++at) {
    const auto byte = static_cast<unsigned char>(rest_[at]);
    value |= static_cast<std::uint64_t>(byte & 0x7FU) << (7 * at);
    if ((byte & 0x80U) != 0) continue;
    rest_.remove_prefix(at + 1);
    return true;
  }
  return false;
}

bool Reader::take(std::uint64_t length) {
  if (length > rest_.size()) return false;
  bytes_ = rest_.substr(0, length);
  rest_.remove_prefix(length);
  return true;
}

bool Reader::next() {
  if (rest_.empty()) return false;
  std::uint64_t tag = 0;
  if (!read_varint(tag) || tag >> 3U == 0 || tag >> 3U > 0x1FFFFFFFU) return fail();
  number_ = static_cast<std::uint32_t>(tag >> 3U);
  kind_ = static_cast<Kind>(tag & 7U);
  bytes_ = {};
  std::uint64_t length = 0;
  switch (kind_) {
    case Kind::kVarint:
      return read_varint(varint_) || fail();
    case Kind::kFixed64:
      return take(8) || fail();
    case Kind::kBytes:
      return (read_varint(length) && take(length)) || fail();
    case Kind::kFixed32:
      return take(4) || fail();
  }
  return fail();
}

std::string_view bytes_of(std::string_view message, std::uint32_t number) {
  Reader reader(message);
  while (reader.next()) {
    if (reader.number() == number && reader.is_bytes()) return reader.bytes();
  }
  return {};
}

Status append_json(std::string& json, std::string_view message, const Message& type) {
  return Printer(json).message(message, type);
}

Result<std::string_view> unwrap(std::string_view document) {
  if (!document.starts_with(kMagic)) {
    return Error::internal("protobuf: a document of {} bytes does not begin with \"k8s\\0\"", document.size());
  }
  Reader unknown(document.substr(kMagic.size()));
  std::string_view object;
  while (unknown.next()) {
    if (unknown.number() == kRawOfUnknown && unknown.is_bytes()) object = unknown.bytes();
  }
  if (unknown.broken()) return Error::internal("protobuf: a document of {} bytes is malformed", document.size());
  return object;
}

}  // namespace tpuslice::client::protobuf
