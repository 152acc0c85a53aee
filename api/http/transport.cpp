#include "api/http/transport.h"

#include <algorithm>

namespace tpuslice::http {
namespace {

constexpr std::string_view kEndOfStream = "EndOfStream";

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

const std::string* find_header(const Headers& headers, std::string_view name) {
  const auto same = [name](const auto& header) {
    return std::equal(name.begin(), name.end(), header.first.begin(), header.first.end(),
                      [](char a, char b) { return lower(a) == lower(b); });
  };
  const auto found = std::find_if(headers.begin(), headers.end(), same);
  return found == headers.end() ? nullptr : &found->second;
}

Error end_of_stream() {
  return Error(ErrorCode::kUnavailable, "the stream has ended").with_reason(std::string(kEndOfStream));
}

bool is_end_of_stream(const Error& error) { return error.reason() == kEndOfStream; }

}  // namespace tpuslice::http
