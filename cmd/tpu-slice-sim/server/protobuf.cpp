#include "cmd/tpu-slice-sim/server/protobuf.h"

#include <array>
#include <cstdint>
#include <vector>

#include "api/base/base64.h"
#include "api/types/utf8.h"

namespace tpuslice::sim {
namespace {

enum class Type : std::uint8_t { kText, kTexts, kNumber, kTruth, kMessage, kTextMap, kBytesMap };

struct Message;

/// A field and its number in the .proto files of Kubernetes.
struct Field {
  std::uint32_t number;
  const char* name;
  Type type;
  const Message* message = nullptr;
};

struct Message {
  std::vector<Field> fields;
};

struct Known {
  const char* kind;
  const Message* message;
};

const Message& meta_message() {
  static const Message kMessage{{{1, "name", Type::kText},
                                 {3, "namespace", Type::kText},
                                 {11, "labels", Type::kTextMap},
                                 {12, "annotations", Type::kTextMap}}};
  return kMessage;
}

const Message& delete_options_message() {
  static const Message kPreconditions{{{1, "uid", Type::kText}, {2, "resourceVersion", Type::kText}}};
  static const Message kMessage{{{1, "gracePeriodSeconds", Type::kNumber},
                                 {2, "preconditions", Type::kMessage, &kPreconditions},
                                 {3, "orphanDependents", Type::kTruth},
                                 {4, "propagationPolicy", Type::kText},
                                 {5, "dryRun", Type::kTexts}}};
  return kMessage;
}

const Message* message_of(std::string_view kind) {
  static const Message kNamespace{{{1, "metadata", Type::kMessage, &meta_message()}}};
  static const Message kConfigMap{{{1, "metadata", Type::kMessage, &meta_message()},
                                   {2, "data", Type::kTextMap},
                                   {3, "binaryData", Type::kBytesMap},
                                   {4, "immutable", Type::kTruth}}};
  static const Message kSecret{{{1, "metadata", Type::kMessage, &meta_message()},
                                {2, "data", Type::kBytesMap},
                                {3, "type", Type::kText},
                                {4, "stringData", Type::kTextMap},
                                {5, "immutable", Type::kTruth}}};
  static const Message kServiceAccount{
      {{1, "metadata", Type::kMessage, &meta_message()}, {4, "automountServiceAccountToken", Type::kTruth}}};
  static const Message kEviction{{{1, "metadata", Type::kMessage, &meta_message()},
                                  {2, "deleteOptions", Type::kMessage, &delete_options_message()}}};
  const std::array known = {Known{"Namespace", &kNamespace}, Known{"ConfigMap", &kConfigMap},
                            Known{"Secret", &kSecret},       Known{"ServiceAccount", &kServiceAccount},
                            Known{"Eviction", &kEviction},   Known{"DeleteOptions", &delete_options_message()}};
  for (const Known& each : known) {
    if (each.kind == kind) return each.message;
  }
  return nullptr;
}

Error malformed() { return Error::invalid_argument("protobuf body is malformed").with_reason("BadRequest"); }

/// Iterates over the fields of a message.
class Reader {
 public:
  explicit Reader(std::string_view message) : rest_(message) {}

  [[nodiscard]] bool done() const { return rest_.empty(); }
  /// Reads a field: its number, then either `number` or `bytes`.
  Status next() {
    ASSIGN_OR_RETURN(const std::uint64_t key, varint());
    field = static_cast<std::uint32_t>(key >> 3U);
    bytes = {};
    value = 0;
    switch (key & 7U) {
      case 0: {
        ASSIGN_OR_RETURN(value, varint());
        return {};
      }
      case 1:
        return take(8);
      case 2: {
        ASSIGN_OR_RETURN(const std::uint64_t length, varint());
        return take(length);
      }
      case 5:
        return take(4);
      default:
        return malformed();
    }
  }

  std::uint32_t field = 0;
  std::uint64_t value = 0;
  std::string_view bytes;

 private:
  Result<std::uint64_t> varint() {
    std::uint64_t result = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      result |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
      if ((byte & 0x80U) == 0) return result;
    }
    return malformed();
  }
  Status take(std::uint64_t length) {
    if (length > rest_.size()) return malformed();
    bytes = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return {};
  }

  std::string_view rest_;
};

Result<Json> decode(const Message& message, std::string_view bytes);

Status add_entry(Json& map, std::string_view entry, bool binary) {
  std::string key;
  std::string value;
  for (Reader reader(entry); !reader.done();) {
    RETURN_IF_ERROR(reader.next());
    (reader.field == 1 ? key : value) = std::string(reader.bytes);
  }
  if (!is_utf8(key) || (!binary && !is_utf8(value))) return malformed();
  map[key] = binary ? encode_base64(value) : value;
  return {};
}

Status add_field(Json& object, const Field& field, const Reader& reader) {
  const bool text = field.type == Type::kText || field.type == Type::kTexts;
  if (text && !is_utf8(reader.bytes)) return malformed();
  switch (field.type) {
    case Type::kText:
      if (!reader.bytes.empty()) object[field.name] = std::string(reader.bytes);
      return {};
    case Type::kTexts:
      object[field.name].push_back(std::string(reader.bytes));
      return {};
    case Type::kNumber:
      object[field.name] = static_cast<std::int64_t>(reader.value);
      return {};
    case Type::kTruth:
      object[field.name] = reader.value != 0;
      return {};
    case Type::kTextMap:
    case Type::kBytesMap:
      return add_entry(object[field.name], reader.bytes, field.type == Type::kBytesMap);
    case Type::kMessage: {
      ASSIGN_OR_RETURN(Json inner, decode(*field.message, reader.bytes));
      if (!inner.empty()) object[field.name] = std::move(inner);
      return {};
    }
  }
  return {};
}

Result<Json> decode(const Message& message, std::string_view bytes) {
  Json object = Json::object();
  for (Reader reader(bytes); !reader.done();) {
    RETURN_IF_ERROR(reader.next());
    for (const Field& field : message.fields) {
      if (field.number == reader.field) RETURN_IF_ERROR(add_field(object, field, reader));
    }
  }
  return object;
}

}  // namespace

Result<Json> decode_protobuf(std::string_view body) {
  constexpr std::string_view kMagic("k8s\0", 4);
  if (!body.starts_with(kMagic)) return malformed();
  static const Message kType{{{1, "apiVersion", Type::kText}, {2, "kind", Type::kText}}};
  Json type = Json::object();
  std::string_view raw;
  for (Reader reader(body.substr(kMagic.size())); !reader.done();) {
    RETURN_IF_ERROR(reader.next());
    if (reader.field == 1) {
      ASSIGN_OR_RETURN(type, decode(kType, reader.bytes));
    }
    if (reader.field == 2) raw = reader.bytes;
  }
  const std::string kind = string_at(type, {"kind"});
  const Message* message = message_of(kind);
  if (message == nullptr) {
    return Error::unsupported("a {} cannot be sent as protobuf to this server; send application/json or use a manifest",
                              kind)
        .with_reason("UnsupportedMediaType");
  }
  ASSIGN_OR_RETURN(Json object, decode(*message, raw));
  object.update(type);
  return object;
}

}  // namespace tpuslice::sim
