// Objects of built-in types in protobuf, as API servers send them, to JSON: those fields that a table lists.
//
// kube-apiserver encodes an event once for all watches that ask for the same encoding. kube-controller-manager,
// kube-scheduler and kubelets ask for protobuf; a watch that asks for JSON has it encoded once more. The fields that
// are not listed are skipped by their length.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "api/base/result.h"

namespace tpuslice::client::protobuf {

enum class Type : std::uint8_t {
  kString,
  kBool,
  kInteger,  ///< int32 or int64
  kTime,     ///< meta/v1 Time; in JSON an RFC 3339 time.
  kMessage,
  kStrings,     ///< map<string, string>
  kQuantities,  ///< map<string, Quantity>
};

struct Message;

/// A field of a generated.proto of k8s.io/api or k8s.io/apimachinery. Names are those of JSON.
struct Field {
  std::uint32_t number;
  std::string_view name;
  Type type;
  const Message* message = nullptr;  ///< The type of a kMessage.
  bool repeated = false;
};

/// A type with at most 64 fields.
struct Message {
  std::string_view name;  ///< For errors: "PodSpec".
  std::span<const Field> fields;
};

/// Walks over the fields of one encoded message.
class Reader {
 public:
  explicit Reader(std::string_view message) : rest_(message) {}

  /// Moves to the next field. False at the end, and when the rest is not protobuf.
  [[nodiscard]] bool next();
  [[nodiscard]] bool broken() const { return broken_; }

  [[nodiscard]] std::uint32_t number() const { return number_; }
  [[nodiscard]] bool is_bytes() const { return kind_ == Kind::kBytes; }    ///< A string or a message.
  [[nodiscard]] bool is_varint() const { return kind_ == Kind::kVarint; }  ///< An integer or a bool.
  [[nodiscard]] std::string_view bytes() const { return bytes_; }
  [[nodiscard]] std::int64_t varint() const { return static_cast<std::int64_t>(varint_); }

 private:
  enum class Kind : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };  // The wire types in use.

  bool fail();
  [[nodiscard]] bool read_varint(std::uint64_t& value);
  [[nodiscard]] bool take(std::uint64_t length);

  std::string_view rest_;
  std::string_view bytes_;
  std::uint64_t varint_ = 0;
  std::uint32_t number_ = 0;
  Kind kind_ = Kind::kVarint;
  bool broken_ = false;
};

/// The first field with this number as text; empty if there is none.
[[nodiscard]] std::string_view bytes_of(std::string_view message, std::uint32_t number);

/// Appends the message as a JSON object with those fields of `type` that are there. As in the JSON of an API server,
/// empty strings and zero times are absent. Of a field that is there twice and is not repeated, the first counts.
///
/// Errors: Internal for bytes that are not such a message.
[[nodiscard]] Status append_json(std::string& json, std::string_view message, const Message& type);

/// The object in a document of type application/vnd.kubernetes.protobuf: the magic bytes "k8s\0", and a
/// runtime.Unknown with the encoded object. Errors: Internal for other bytes.
[[nodiscard]] Result<std::string_view> unwrap(std::string_view document);

}  // namespace tpuslice::client::protobuf
