#include "api/client/protobuf_answer.h"

#include <array>
#include <utility>

#include <fmt/format.h>

namespace tpuslice::client {
namespace {

using protobuf::Field;
using protobuf::Message;
using enum protobuf::Type;

// Source: k8s.io/apimachinery/pkg/apis/meta/v1/generated.proto and pkg/runtime/generated.proto, 1.36.
constexpr std::uint32_t kMetadataOfList = 1;
constexpr std::uint32_t kItemOfList = 2;
constexpr std::uint32_t kResourceVersionOfMetadata = 2;
constexpr std::uint32_t kContinueOfMetadata = 3;
constexpr std::uint32_t kRemainingOfMetadata = 4;
constexpr std::uint32_t kMetadataOfObject = 1;
constexpr std::uint32_t kNameOfMetadata = 1;
constexpr std::uint32_t kNamespaceOfMetadata = 3;
constexpr std::uint32_t kTypeOfEvent = 1;
constexpr std::uint32_t kObjectOfEvent = 2;
constexpr std::uint32_t kRawOfExtension = 1;

constexpr std::array kCauseFields{Field{1, "reason", kString}, Field{2, "message", kString},
                                  Field{3, "field", kString}};
constexpr Message kCause{"StatusCause", kCauseFields};
constexpr std::array kDetailsFields{
    Field{4, "causes", kMessage, &kCause, true},
    Field{5, "retryAfterSeconds", kInteger},
};
constexpr Message kDetails{"StatusDetails", kDetailsFields};
constexpr std::array kStatusFields{
    Field{2, "status", kString}, Field{3, "message", kString},
    Field{4, "reason", kString}, Field{5, "details", kMessage, &kDetails},
    Field{6, "code", kInteger},
};
constexpr Message kStatus{"Status", kStatusFields};

constexpr std::size_t kLengthBytes = 4;
/// Bytes of the JSON of a list. No object is as long: etcd stores at most 1.5 MiB of one, and JSON takes at most six
/// times the bytes.
constexpr std::size_t kMaxListJson = 16U << 20U;

/// Errors name the object.
Result<std::string> json_of(std::string_view object, const Message& type) {
  std::string json;
  if (const Status converted = protobuf::append_json(json, object, type); !converted) {
    const std::string_view metadata = protobuf::bytes_of(object, kMetadataOfObject);
    return converted.error().within(fmt::format("{}/{}", protobuf::bytes_of(metadata, kNamespaceOfMetadata),
                                                protobuf::bytes_of(metadata, kNameOfMetadata)));
  }
  return json;
}

Status read_list_metadata(std::string_view metadata, ListPage& list) {
  protobuf::Reader reader(metadata);
  while (reader.next()) {
    if (reader.number() == kResourceVersionOfMetadata) list.resource_version = reader.bytes();
    if (reader.number() == kContinueOfMetadata) list.continue_token = reader.bytes();
    if (reader.number() == kRemainingOfMetadata && reader.is_varint()) list.remaining = reader.varint();
  }
  return reader.broken() ? Status(Error::internal("list: metadata is malformed")) : Status();
}

}  // namespace

bool is_protobuf(const http::Headers& headers) {
  const std::string* type = http::find_header(headers, "Content-Type");
  return type != nullptr && type->starts_with("application/vnd.kubernetes.protobuf");
}

Result<ListPage> convert_list(std::string_view body, const Message& item) {
  ASSIGN_OR_RETURN(const std::string_view document, protobuf::unwrap(body));
  ListPage list;
  std::size_t bytes = 0;
  protobuf::Reader reader(document);
  while (reader.next()) {
    if (reader.number() == kMetadataOfList) {
      RETURN_IF_ERROR(read_list_metadata(reader.bytes(), list));
    }
    if (reader.number() != kItemOfList) continue;
    ASSIGN_OR_RETURN(std::string json, json_of(reader.bytes(), item));
    bytes += json.size();
    if (bytes > kMaxListJson) {
      return Error::of(ErrorCode::kResponseTooLong, "list: its JSON is longer than {} bytes", kMaxListJson);
    }
    list.items.push_back(std::move(json));
  }
  if (reader.broken()) return Error::internal("list: {} bytes are not a complete protobuf message", body.size());
  if (list.resource_version.empty()) return Error::internal("list: metadata.resourceVersion is missing");
  return list;
}

Result<std::string> convert_status(std::string_view body) {
  ASSIGN_OR_RETURN(const std::string_view document, protobuf::unwrap(body));
  std::string fields;
  RETURN_IF_ERROR(protobuf::append_json(fields, document, kStatus));
  return R"({"kind":"Status")" + (fields == "{}" ? "}" : "," + fields.substr(1));
}

Result<WatchEvent> decode_protobuf_event(std::string_view frame, const Message& object) {
  const std::string_view type = protobuf::bytes_of(frame, kTypeOfEvent);
  const std::string_view raw = protobuf::bytes_of(protobuf::bytes_of(frame, kObjectOfEvent), kRawOfExtension);
  if (type == "ERROR") {
    ASSIGN_OR_RETURN(std::string status, convert_status(raw));
    return make_watch_event(type, std::move(status));
  }
  ASSIGN_OR_RETURN(const std::string_view document, protobuf::unwrap(raw));
  ASSIGN_OR_RETURN(std::string json, json_of(document, object));
  return make_watch_event(type, std::move(json));
}

std::optional<std::size_t> FrameSplitter::length_at(std::size_t frame) const {
  if (buffer_.size() - frame < kLengthBytes) return std::nullopt;
  std::size_t length = 0;
  for (std::size_t at = frame; at < frame + kLengthBytes; ++at) {
    length = length << 8U | static_cast<unsigned char>(buffer_[at]);
  }
  return length;
}

Status FrameSplitter::feed(std::string_view bytes) {
  if (start_ > buffer_.size() / 2) {
    buffer_.erase(0, start_);
    last_frame_ -= start_;
    start_ = 0;
  }
  buffer_.append(bytes);
  while (const auto length = length_at(last_frame_)) {
    if (*length > max_frame_) return Error::internal("watch: an event is longer than {} bytes", max_frame_);
    if (pending() - kLengthBytes < *length) break;
    last_frame_ += kLengthBytes + *length;
  }
  return {};
}

std::optional<std::string> FrameSplitter::next() {
  if (start_ == last_frame_) return std::nullopt;
  const std::size_t length = length_at(start_).value();
  std::string frame = buffer_.substr(start_ + kLengthBytes, length);
  start_ += kLengthBytes + length;
  return frame;
}

}  // namespace tpuslice::client
