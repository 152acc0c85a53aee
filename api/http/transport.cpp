#include "api/http/transport.h"

#include <algorithm>

#include "api/base/strings.h"

namespace tpuslice::http {
namespace {

constexpr std::string_view kEndOfStream = "EndOfStream";

}  // namespace

const std::string* find_header(const Headers& headers, std::string_view name) {
  const auto same = [name](const auto& header) { return equals_ignoring_case(name, header.first); };
  const auto found = std::find_if(headers.begin(), headers.end(), same);
  return found == headers.end() ? nullptr : &found->second;
}

Error end_of_stream() {
  return Error(ErrorCode::kUnavailable, "the stream has ended").with_reason(std::string(kEndOfStream));
}

bool is_end_of_stream(const Error& error) { return error.reason() == kEndOfStream; }

}  // namespace tpuslice::http
