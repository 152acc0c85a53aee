// URLs: query strings, and the base URL of a server. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/base/result.h"

namespace tpuslice::http {

/// The path and query of a request target; both still encoded, the query without '?'.
struct SplitTarget {
  std::string_view path;
  std::string_view query;
};
[[nodiscard]] SplitTarget split_target(std::string_view target);

/// Decoded names and values, in order; names may repeat.
class QueryParams {
 public:
  QueryParams() = default;

  void add(std::string name, std::string value) { params_.emplace_back(std::move(name), std::move(value)); }
  /// The first value of `name`, or nullptr.
  [[nodiscard]] const std::string* find(std::string_view name) const;
  /// The first value of `name`, or "".
  [[nodiscard]] std::string get(std::string_view name) const;
  /// True for "1", "t", "true" in any case; as the API server reads booleans.
  [[nodiscard]] bool flag(std::string_view name) const;
  [[nodiscard]] bool empty() const { return params_.empty(); }
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& all() const { return params_; }
  /// "a=1&b=x%20y", without '?'.
  [[nodiscard]] std::string encode() const;

 private:
  std::vector<std::pair<std::string, std::string>> params_;
};

/// The query of a whole target ("/api/v1/pods?limit=5"); empty when it has no query. Malformed escapes are kept as they
/// are.
[[nodiscard]] QueryParams parse_query(std::string_view target);

/// scheme://[user[:password]@]host[:port][/path]
struct BaseUrl {
  std::string scheme;      ///< "http" or "https"
  std::string user;        ///< Decoded; empty without one.
  std::string password;    ///< Decoded.
  std::string host;        ///< Without brackets.
  std::uint16_t port = 0;  ///< The scheme's default where none is given.
  std::string path;        ///< "" or "/k8s/clusters/c-1", never with a trailing '/'.

  [[nodiscard]] bool tls() const { return scheme == "https"; }
  /// "host:port", IPv6 in brackets.
  [[nodiscard]] std::string authority() const;
  /// "https://host:port", IPv6 in brackets; no credentials, no path.
  [[nodiscard]] std::string origin() const;
};

/// Errors: InvalidArgument for anything but the above; a query or fragment is refused.
[[nodiscard]] Result<BaseUrl> parse_base_url(std::string_view url);

[[nodiscard]] bool is_ipv4(std::string_view host);
[[nodiscard]] bool is_ipv6(std::string_view host);

}  // namespace tpuslice::http
