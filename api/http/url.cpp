#include "api/http/url.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

#include "api/base/percent.h"
#include "api/base/strings.h"

namespace tpuslice::http {
namespace {

template <typename Address>
bool parses_as(int family, std::string_view host) {
  Address address{};
  return inet_pton(family, std::string(host).c_str(), &address) == 1;
}

/// A host may be a DNS name or an address; nothing that could change the meaning of the URL around it.
bool plausible_host(std::string_view host) {
  return !host.empty() && std::all_of(host.begin(), host.end(), [](char c) { return is_unreserved(c); });
}

Status parse_port(std::string_view text, std::string_view url, BaseUrl& out) {
  const auto port = parse_integer<std::uint16_t>(text);
  if (!port || *port == 0) {
    return Error::invalid_argument("url {}: port \"{}\" is not a number from 1 to 65535", url, text);
  }
  out.port = *port;
  return {};
}

/// "host", "host:port", "[v6]", "[v6]:port"
Status parse_authority(std::string_view authority, std::string_view url, BaseUrl& out) {
  std::string_view port;
  bool has_port = false;
  if (authority.starts_with('[')) {
    const auto close = authority.find(']');
    if (close == std::string_view::npos) return Error::invalid_argument("url {}: '[' without ']'", url);
    out.host = authority.substr(1, close - 1);
    if (!is_ipv6(out.host)) return Error::invalid_argument("url {}: {} is not an IPv6 address", url, out.host);
    const std::string_view after = authority.substr(close + 1);
    if (!after.empty() && after.front() != ':') {
      return Error::invalid_argument("url {}: \"{}\" after the host, expected a port", url, after);
    }
    has_port = !after.empty();
    if (has_port) port = after.substr(1);
  } else {
    const auto colon = authority.find(':');
    out.host = authority.substr(0, colon);
    has_port = colon != std::string_view::npos;
    if (has_port) port = authority.substr(colon + 1);
    if (!plausible_host(out.host)) return Error::invalid_argument("url {}: bad host \"{}\"", url, out.host);
  }
  out.port = out.tls() ? 443 : 80;
  return has_port ? parse_port(port, url, out) : Status();
}

}  // namespace

SplitTarget split_target(std::string_view target) {
  const auto question = target.find('?');
  if (question == std::string_view::npos) return {target, {}};
  return {target.substr(0, question), target.substr(question + 1)};
}

const std::string* QueryParams::find(std::string_view name) const {
  const auto found = std::find_if(params_.begin(), params_.end(), [&](const auto& each) { return each.first == name; });
  return found == params_.end() ? nullptr : &found->second;
}

std::string QueryParams::get(std::string_view name) const {
  const std::string* value = find(name);
  return value == nullptr ? std::string() : *value;
}

bool QueryParams::flag(std::string_view name) const {
  const std::string value = get(name);
  constexpr std::array<std::string_view, 6> kTrue = {"1", "t", "T", "true", "TRUE", "True"};
  return std::find(kTrue.begin(), kTrue.end(), value) != kTrue.end();
}

std::string QueryParams::encode() const {
  std::string out;
  for (const auto& [name, value] : params_) {
    if (!out.empty()) out += '&';
    out += percent_encode(name) + '=' + percent_encode(value);
  }
  return out;
}

QueryParams parse_query(std::string_view target) {
  QueryParams params;
  std::string_view rest = split_target(target).query;
  const auto decode = [](std::string_view text) { return percent_decode(text, true).value_or(std::string(text)); };
  while (!rest.empty()) {
    const auto end = std::min(rest.find('&'), rest.size());
    const std::string_view pair = rest.substr(0, end);
    const auto equals = std::min(pair.find('='), pair.size());
    if (!pair.empty()) {
      params.add(decode(pair.substr(0, equals)), decode(equals < pair.size() ? pair.substr(equals + 1) : ""));
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return params;
}

std::string BaseUrl::authority() const {
  return is_ipv6(host) ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

std::string BaseUrl::origin() const { return fmt::format("{}://{}", scheme, authority()); }

Result<BaseUrl> parse_base_url(std::string_view url) {
  BaseUrl out;
  const auto colon = url.find("://");
  if (colon == std::string_view::npos) {
    return Error::invalid_argument("url \"{}\": expected http://host or https://host", url);
  }
  out.scheme = url.substr(0, colon);
  if (out.scheme != "http" && out.scheme != "https") {
    return Error::invalid_argument("url \"{}\": scheme \"{}\" is neither http nor https", url, out.scheme);
  }
  std::string_view rest = url.substr(colon + 3);
  if (rest.find_first_of("?#") != std::string_view::npos) {
    return Error::invalid_argument("url \"{}\": a base URL has no query and no fragment", url);
  }
  const auto slash = std::min(rest.find('/'), rest.size());
  std::string_view authority = rest.substr(0, slash);
  out.path = rest.substr(slash);
  while (out.path.ends_with('/')) out.path.pop_back();
  if (const auto at = authority.rfind('@'); at != std::string_view::npos) {
    const std::string_view info = authority.substr(0, at);
    const auto separator = std::min(info.find(':'), info.size());
    ASSIGN_OR_RETURN(out.user, percent_decode(info.substr(0, separator)));
    ASSIGN_OR_RETURN(out.password, percent_decode(separator < info.size() ? info.substr(separator + 1) : ""));
    authority.remove_prefix(at + 1);
  }
  // Error messages from here on omit user and password.
  const std::string shown = fmt::format("{}://{}{}", out.scheme, authority, out.path);
  RETURN_IF_ERROR(parse_authority(authority, shown, out));
  return out;
}

bool is_ipv4(std::string_view host) { return parses_as<in_addr>(AF_INET, host); }
bool is_ipv6(std::string_view host) { return parses_as<in6_addr>(AF_INET6, host); }

}  // namespace tpuslice::http
