#include "api/client/proxy.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "api/base/strings.h"
#include "api/http/url.h"

namespace tpuslice::client {
namespace {

/// The variable of either letter case; the upper one wins, as in Go.
std::string variable(const ConfigSources& sources, const std::string& name) {
  const std::string upper = sources.environment(name).value_or("");
  return upper.empty() ? sources.environment(to_lower(name)).value_or("") : upper;
}

/// 16 bytes; IPv4 addresses are mapped to IPv6.
using IpAddress = std::array<unsigned char, 16>;
constexpr int kMappedBits = 96;

std::optional<IpAddress> parse_ip(const std::string& text) {
  IpAddress out{};
  if (inet_pton(AF_INET6, text.c_str(), out.data()) == 1) return out;
  out[10] = out[11] = 0xff;
  if (inet_pton(AF_INET, text.c_str(), out.data() + 12) == 1) return out;
  return std::nullopt;
}

bool have_common_prefix(const IpAddress& a, const IpAddress& b, int bits) {
  for (int bit = 0; bit < bits; ++bit) {
    const auto byte = static_cast<std::size_t>(bit / 8);
    if (((a[byte] ^ b[byte]) >> (7 - bit % 8) & 1) != 0) return false;
  }
  return true;
}

bool is_in_network(const IpAddress& address, const std::string& network) {
  const std::size_t slash = network.find('/');
  const std::optional<IpAddress> base = parse_ip(network.substr(0, slash));
  const auto prefix = parse_integer<int>(network.substr(slash + 1));
  if (!base || !prefix) return false;
  const int bits = *prefix + (network.find(':') == std::string::npos ? kMappedBits : 0);
  return *prefix >= 0 && bits <= 128 && have_common_prefix(address, *base, bits);
}

bool is_loopback(const std::string& host) {
  if (host == "localhost") return true;
  const std::optional<IpAddress> address = parse_ip(host);
  return address && (is_in_network(*address, "127.0.0.0/8") || is_in_network(*address, "::1/128"));
}

bool is_domain_of(std::string_view host, std::string_view domain) {
  if (domain.starts_with("*.")) domain.remove_prefix(1);
  if (domain.starts_with('.')) return host.size() > domain.size() && host.ends_with(domain);
  return host == domain || (host.ends_with(domain) && host[host.size() - domain.size() - 1] == '.');
}

/// Whether this entry of NO_PROXY is about the server.
bool excludes(std::string entry, const http::BaseUrl& server) {
  entry = to_lower(trimmed(entry));
  if (entry.empty()) return false;
  if (entry == "*") return true;
  const std::optional<IpAddress> address = parse_ip(server.host);
  if (entry.find('/') != std::string::npos) return address && is_in_network(*address, entry);
  if (const std::size_t colon = entry.rfind(':'); colon != std::string::npos && !parse_ip(entry)) {
    if (entry.substr(colon + 1) != std::to_string(server.port)) return false;
    entry.resize(colon);
    if (entry.starts_with('[') && entry.ends_with(']')) entry = entry.substr(1, entry.size() - 2);
  }
  if (const std::optional<IpAddress> other = parse_ip(entry)) return address == other;
  return is_domain_of(to_lower(server.host), entry);
}

}  // namespace

std::string proxy_from_environment(const std::string& server, const ConfigSources& sources) {
  const auto url = http::parse_base_url(server);
  if (!url || is_loopback(url->host)) return {};
  std::string proxy = trimmed(variable(sources, url->tls() ? "HTTPS_PROXY" : "HTTP_PROXY"));
  if (proxy.empty()) return {};
  const std::vector<std::string> entries = split(variable(sources, "NO_PROXY"), ',');
  if (std::ranges::any_of(entries, [&](const std::string& entry) { return excludes(entry, *url); })) return {};
  return proxy.find("://") == std::string::npos ? "http://" + proxy : proxy;
}

}  // namespace tpuslice::client
