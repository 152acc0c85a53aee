#include "api/client/list_splitter.h"

#include <charconv>

#include "api/client/json_scan.h"

namespace tpuslice::client {
namespace {

Status split_items(std::string_view value, std::vector<std::string_view>& out) {
  if (value == "null") return {};  // How Go encodes a list that is nil.
  JsonScanner items(value);
  if (!value.starts_with('[')) return Error::internal("list: items is {}, expected an array", value.substr(0, 20));
  while (const std::optional<JsonMember> item = items.next()) {
    if (!item->value.starts_with('{')) {
      return Error::internal("list: item {} is {}, expected an object", out.size(), item->value.substr(0, 20));
    }
    out.push_back(item->value);
  }
  if (!items.complete()) return Error::internal("list: items break off after {}", out.size());
  return {};
}

void read_metadata(std::string_view value, SplitList& out) {
  JsonScanner metadata(value);
  while (const std::optional<JsonMember> member = metadata.next()) {
    if (member->name == "resourceVersion") out.resource_version = json_string(member->value).value_or("");
    if (member->name == "continue") out.continue_token = json_string(member->value).value_or("");
    if (member->name == "remainingItemCount") {
      std::from_chars(member->value.data(), member->value.data() + member->value.size(), out.remaining);
    }
  }
}

}  // namespace

Result<SplitList> split_list(std::string_view body) {
  SplitList out;
  JsonScanner list(body);
  while (const std::optional<JsonMember> member = list.next()) {
    if (member->name == "metadata") read_metadata(member->value, out);
    if (member->name == "items") {
      out.items.clear();  // The last of duplicate members wins, as in parse_json().
      RETURN_IF_ERROR(split_items(member->value, out.items));
    }
  }
  if (!list.complete()) return Error::internal("list: {} bytes are not a complete JSON object", body.size());
  if (list.rest().find_first_not_of(" \t\r\n") != std::string_view::npos) {
    return Error::internal("list: {} bytes follow the JSON object", list.rest().size());
  }
  if (out.resource_version.empty()) return Error::internal("list: metadata.resourceVersion is missing");
  return out;
}

}  // namespace tpuslice::client
