#include "api/client/credentials.h"

#include <filesystem>
#include <utility>

#include "api/base/base64.h"
#include "api/base/file.h"
#include "api/base/strings.h"
#include "api/client/subprocess.h"
#include "api/http/tls/tls_credentials.h"
#include "api/types/json.h"

namespace tpuslice::client {
namespace {

/// A credential this close to its end is not used for another request.
constexpr Duration kExpiryLeeway = std::chrono::seconds(10);

Error with_hint(Error error, const ExecConfig& exec) {
  if (exec.install_hint.empty()) return error;
  return Error::of(error.code(), "{}; {}", error.message(), trimmed(exec.install_hint));
}

/// `text`, or the current contents of `file` where there is one.
Result<std::string> current(const std::string& text, const std::string& file) {
  return file.empty() ? Result<std::string>(text) : read_file(file);
}

std::shared_ptr<Rotated<http::Identity>> client_certificate(const ClientConfig& config, const Clock& clock) {
  const auto read = [config]() -> Result<http::Identity> {
    http::Identity identity;
    ASSIGN_OR_RETURN(identity.certificate_chain, current(config.client_certificate, config.client_certificate_file));
    ASSIGN_OR_RETURN(identity.private_key, current(config.client_key, config.client_key_file));
    RETURN_IF_ERROR(http::check_identity(identity));  // They may not match while the files are replaced.
    return identity;
  };
  return std::make_shared<Rotated<http::Identity>>(read, clock);
}

std::shared_ptr<Rotated<std::string>> ca_file(const ClientConfig& config, const Clock& clock) {
  const auto read = [file = config.ca_file]() -> Result<std::string> {
    ASSIGN_OR_RETURN(std::string pem, read_file(file));
    const auto count = http::count_certificates(pem);
    return count ? Result<std::string>(std::move(pem)) : Result<std::string>(count.error());
  };
  return std::make_shared<Rotated<std::string>>(read, clock);
}

}  // namespace

std::shared_ptr<Rotated<std::string>> token_file(const std::string& path, const Clock& clock) {
  const auto read = [path]() -> Result<std::string> {
    const Result<std::string> text = read_file(path);
    if (!text) return Error::of(ErrorCode::kUnauthorized, "token file: {}", text.error().message());
    std::string token = trimmed(*text);
    if (token.empty()) return Error::of(ErrorCode::kUnauthorized, "token file {} is empty", path);
    return token;
  };
  return std::make_shared<Rotated<std::string>>(read, clock);
}

Result<ExecCredential> parse_exec_credential(std::string_view output, std::string_view api_version) {
  const Result<Json> json = parse_json(output);
  if (!json || !json->is_object()) {
    return Error::invalid_argument("{} bytes of output are not a JSON object, expected an ExecCredential",
                                   output.size());
  }
  if (string_at(*json, {"kind"}) != "ExecCredential" || string_at(*json, {"apiVersion"}) != api_version) {
    return Error::invalid_argument("output is a \"{}\" of \"{}\", expected ExecCredential of {}",
                                   string_at(*json, {"kind"}), string_at(*json, {"apiVersion"}), api_version);
  }
  ExecCredential out;
  if (std::string token = string_at(*json, {"status", "token"}); !token.empty()) out.token = std::move(token);
  http::Identity identity{string_at(*json, {"status", "clientCertificateData"}),
                          string_at(*json, {"status", "clientKeyData"})};
  if (identity.certificate_chain.empty() != identity.private_key.empty()) {
    return Error::invalid_argument("status.clientCertificateData and status.clientKeyData need each other");
  }
  if (!identity.certificate_chain.empty()) out.identity = std::move(identity);
  if (!out.token && !out.identity) {
    return Error::invalid_argument("status has neither a token nor a client certificate");
  }
  if (const std::string text = string_at(*json, {"status", "expirationTimestamp"}); !text.empty()) {
    out.expires = parse_rfc3339(text);
    if (!out.expires) return Error::invalid_argument("status.expirationTimestamp is \"{}\", expected RFC 3339", text);
  }
  return out;
}

std::string exec_info(const ClientConfig& config) {
  Json info = {
      {"apiVersion", config.exec->api_version}, {"kind", "ExecCredential"}, {"spec", {{"interactive", false}}}};
  if (config.exec->provide_cluster_info) {
    Json cluster = {{"server", config.server}};
    if (!config.tls_server_name.empty()) cluster["tls-server-name"] = config.tls_server_name;
    if (config.insecure_skip_verify) cluster["insecure-skip-tls-verify"] = true;
    if (!config.ca.empty()) cluster["certificate-authority-data"] = encode_base64(config.ca);
    if (!config.proxy_url.empty()) cluster["proxy-url"] = config.proxy_url;
    const Result<Json> extension = parse_json(config.exec->cluster_extension);
    cluster["config"] = extension ? *extension : Json();
    info["spec"]["cluster"] = std::move(cluster);
  }
  return info.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<ExecCredential> run_exec_plugin(const ClientConfig& config, Duration deadline) {
  const ExecConfig& exec = *config.exec;
  Subprocess process{exec.command, exec.args, exec.env, deadline};
  process.env.emplace_back("KUBERNETES_EXEC_INFO", exec_info(config));
  const Result<SubprocessOutput> output = run_subprocess(process);
  if (!output) {
    const bool missing = output.error().code() == ErrorCode::kNotFound;
    const Error error = output.error().within("exec plugin");
    return missing ? with_hint(Error(ErrorCode::kUnauthorized, error.message()), exec) : error;
  }
  if (output->exit_code != 0) {
    return Error::of(ErrorCode::kUnauthorized, "exec plugin {}: exit code {}: {}", exec.command, output->exit_code,
                     trimmed(output->err));
  }
  Result<ExecCredential> credential = parse_exec_credential(output->out, exec.api_version);
  if (credential) return credential;
  return Error::of(ErrorCode::kUnauthorized, "exec plugin {}: {}", exec.command, credential.error().message());
}

Result<ExecCredential> ExecCredentials::credential(bool refresh) {
  {
    const MutexLock lock(mutex_);
    const std::uint64_t seen = runs_;
    while (true) {
      // A run that another thread finished during this call also satisfies `refresh`.
      const bool fresh = current_ && (!current_->expires || *current_->expires - clock_.wall() > kExpiryLeeway);
      if (fresh && (!refresh || runs_ != seen)) return *current_;
      if (!running_) break;
      done_.wait(mutex_, [this]() TPUSLICE_REQUIRES(mutex_) { return !running_; });
    }
    running_ = true;
  }
  Result<ExecCredential> answer = run_exec_plugin(config_, deadline_);
  const MutexLock lock(mutex_);
  running_ = false;
  ++runs_;
  if (answer) current_ = *answer;
  done_.notify_all();
  return answer;
}

Result<http::TransportOptions> transport_options(const ClientConfig& config, const Clock& clock) {
  http::TransportOptions options;
  options.server = config.server;
  options.ca = config.ca;
  options.proxy_url = config.proxy_url;
  options.tls_server_name = config.tls_server_name;
  options.insecure_skip_verify = config.insecure_skip_verify;
  options.gzip = !config.disable_compression;
  const int sources = (config.token.empty() ? 0 : 1) + (config.token_file.empty() ? 0 : 1) + (config.exec ? 1 : 0);
  if (sources > 1) {
    return Error::invalid_argument("client of {}: token, token_file and exec exclude each other", config.server);
  }
  using Token = Result<std::optional<std::string>>;
  using Certificate = Result<std::optional<http::Identity>>;
  std::shared_ptr<Rotated<http::Identity>> certificate;
  if (!config.client_certificate.empty()) {
    certificate = client_certificate(config, clock);
    if (const auto usable = certificate->get(false); !usable) return usable.error().within("client certificate");
    options.identity = [certificate]() -> Certificate {
      ASSIGN_OR_RETURN(http::Identity identity, certificate->get(false));
      return std::optional(std::move(identity));
    };
  }
  if (!config.ca_file.empty()) {
    options.read_ca = [ca = ca_file(config, clock)] { return ca->get(false); };
  }
  if (!config.token.empty()) {
    options.bearer = [token = config.token](bool) -> Token { return std::optional<std::string>(token); };
  } else if (!config.token_file.empty()) {
    options.bearer = [file = token_file(config.token_file, clock)](bool refresh) -> Token {
      ASSIGN_OR_RETURN(std::string token, file->get(refresh));
      return std::optional<std::string>(std::move(token));
    };
  } else if (config.exec) {
    auto plugin = std::make_shared<ExecCredentials>(config, clock);
    options.bearer = [plugin](bool refresh) -> Token {
      ASSIGN_OR_RETURN(const ExecCredential answer, plugin->credential(refresh));
      return answer.token;
    };
    options.identity = [plugin, fixed = options.identity]() -> Certificate {
      ASSIGN_OR_RETURN(ExecCredential answer, plugin->credential(false));
      if (answer.identity || !fixed) return answer.identity;
      return fixed();
    };
  }
  return options;
}

Result<std::unique_ptr<http::Transport>> make_transport(const ClientConfig& config, const Clock& clock) {
  ASSIGN_OR_RETURN(http::TransportOptions options, transport_options(config, clock));
  return http::make_network_transport(std::move(options));
}

}  // namespace tpuslice::client
