#include "api/client/config.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "api/base/file.h"
#include "api/base/strings.h"
#include "api/client/kubeconfig.h"
#include "api/client/proxy.h"
#include "api/http/url.h"

namespace tpuslice::client {
namespace {

std::vector<std::string> split_paths(const std::string& list) {
  std::vector<std::string> out;
  std::istringstream in(list);
  for (std::string path; std::getline(in, path, ':');) {
    if (!path.empty()) out.push_back(path);
  }
  return out;
}

std::string join(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& each : parts) out += (out.empty() ? "" : ", ") + each;
  return out;
}

}  // namespace

ConfigSources ConfigSources::real() {
  return {[](const std::string& name) -> std::optional<std::string> {
            const char* value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): nothing writes it
            return value == nullptr ? std::nullopt : std::optional<std::string>(value);
          },
          tpuslice::read_file};
}

Result<ClientConfig> load_kubeconfig(const std::string& path, const std::string& context,
                                     const ConfigSources& sources) {
  std::vector<std::string> paths = {path};
  if (path.empty()) {
    paths = split_paths(sources.environment("KUBECONFIG").value_or(""));
    const std::optional<std::string> home = sources.environment("HOME");
    if (paths.empty() && home) paths.push_back(*home + "/.kube/config");
  }
  Kubeconfig merged;
  bool any = false;
  for (const std::string& each : paths) {
    Result<std::string> text = sources.read_file(each);
    if (!text && text.error().code() == ErrorCode::kNotFound && path.empty()) continue;
    if (!text) return text.error().within("kubeconfig");
    RETURN_IF_ERROR(merged.add(each, *text));
    any = true;
  }
  if (!any) {
    return Error::not_found("kubeconfig: not found (tried {}; set KUBECONFIG or give a path)",
                            paths.empty() ? "nothing, since HOME is not set" : join(paths));
  }
  Result<ClientConfig> config = merged.resolve(context, sources);
  if (config && config->proxy_url.empty()) config->proxy_url = proxy_from_environment(config->server, sources);
  return config;
}

Result<ClientConfig> in_cluster_config(const ConfigSources& sources, const std::string& directory) {
  const std::optional<std::string> host = sources.environment("KUBERNETES_SERVICE_HOST");
  const std::optional<std::string> port = sources.environment("KUBERNETES_SERVICE_PORT");
  if (!host || host->empty() || !port || port->empty()) {
    return Error::not_found(
        "in-cluster configuration: KUBERNETES_SERVICE_HOST and _PORT are not set: not running in a pod");
  }
  ClientConfig config;
  config.server = fmt::format("https://{}:{}", http::is_ipv6(*host) ? "[" + *host + "]" : *host, *port);
  config.token_file = directory + "/token";
  const Result<std::string> token = sources.read_file(config.token_file);
  if (!token) return Error::invalid_argument("in-cluster configuration: {}", token.error().message());
  config.ca_file = directory + "/ca.crt";
  Result<std::string> ca = sources.read_file(config.ca_file);
  if (!ca) return Error::invalid_argument("in-cluster configuration: {}", ca.error().message());
  config.ca = *std::move(ca);
  const Result<std::string> name = sources.read_file(directory + "/namespace");
  if (name && !trimmed(*name).empty()) config.namespace_name = trimmed(*name);
  config.proxy_url = proxy_from_environment(config.server, sources);
  return config;
}

Result<ClientConfig> find_config(const std::string& path, const std::string& context, const ConfigSources& sources) {
  const bool asked_for = !path.empty() || !context.empty() || !sources.environment("KUBECONFIG").value_or("").empty();
  if (asked_for) return load_kubeconfig(path, context, sources);
  Result<ClientConfig> in_cluster = in_cluster_config(sources);
  if (in_cluster || in_cluster.error().code() != ErrorCode::kNotFound) return in_cluster;
  return load_kubeconfig(path, context, sources);
}

}  // namespace tpuslice::client
