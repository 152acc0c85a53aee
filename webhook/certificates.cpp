#include "webhook/certificates.h"

#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "api/base/base64.h"
#include "api/base/file.h"
#include "api/http/tls/tls_credentials.h"

namespace tpuslice::webhook {
namespace {

/// A bundle that does not change is verified again after this time. Its parts are renewed long before they expire.
constexpr Duration kVerifyInterval = std::chrono::hours(1);

class FileCertificates final : public CertificateSource {
 public:
  explicit FileCertificates(std::string directory) : directory_(std::move(directory)) {}

  Result<http::Identity> step(std::stop_token) override {
    http::Identity identity;
    ASSIGN_OR_RETURN(identity.certificate_chain, read_file(directory_ + "/tls.crt"));
    ASSIGN_OR_RETURN(identity.private_key, read_file(directory_ + "/tls.key"));
    if (const Status good = http::check_identity(identity); !good) return good.error().within(directory_);
    return identity;
  }
  [[nodiscard]] Duration interval() const override { return std::chrono::seconds(10); }

 private:
  const std::string directory_;
};

/// The JSON patch that gives every webhook of a configuration this bundle; empty if they have it.
Json bundle_patch(const Object& configuration, const std::string& bundle) {
  Json patch = Json::array();
  const Json* webhooks = find_path(configuration.json(), {"webhooks"});
  if (webhooks == nullptr || !webhooks->is_array()) return patch;
  for (std::size_t index = 0; index < webhooks->size(); ++index) {
    if (string_at((*webhooks)[index], {"clientConfig", "caBundle"}) == bundle) continue;
    if (patch.empty()) {  // The test fails the patch if the configuration has changed meanwhile.
      patch.push_back(
          {{"op", "test"}, {"path", "/metadata/resourceVersion"}, {"value", configuration.resource_version()}});
    }
    patch.push_back(
        {{"op", "add"}, {"path", fmt::format("/webhooks/{}/clientConfig/caBundle", index)}, {"value", bundle}});
  }
  return patch;
}

class SelfManagedCertificates final : public CertificateSource {
 public:
  SelfManagedCertificates(SelfManagedOptions options, client::Reader& reader, client::Writer& writer,
                          const Clock& clock)
      : options_(std::move(options)), reader_(reader), writer_(writer), clock_(clock) {}

  Result<http::Identity> step(std::stop_token stop) override {
    // Read before the Secret: a replica that renews the Secret writes the configurations afterwards. If it does so
    // after we have read the old Secret, our patch fails instead of replacing the new authority with the old one.
    ASSIGN_OR_RETURN(const Configurations configurations, read_configurations(stop));
    ASSIGN_OR_RETURN(const CertificateBundle bundle, shared_bundle(stop));
    const std::string encoded = encode_base64(bundle.authorities);
    bool patched = false;
    for (const auto& [type, configuration] : configurations) {
      const Json patch = bundle_patch(configuration, encoded);
      if (patch.empty()) continue;
      const auto written = writer_.patch(type, configuration.key(), client::PatchType::kJson, patch, {}, stop);
      if (!written) return written.error();
      patched = true;
    }
    // The API servers trust a new authority a moment after it was written: its leaf is served from the next step on.
    const bool is_trusted = !patched && seen_ == bundle;
    seen_ = bundle;
    if (!served_ || is_trusted) served_ = bundle;
    return served_->leaf;
  }
  [[nodiscard]] Duration interval() const override { return options_.check; }
  [[nodiscard]] std::string authorities() const override { return served_ ? served_->authorities : std::string(); }

 private:
  using Configurations = std::vector<std::pair<ResourceType, Object>>;

  Result<Configurations> read_configurations(const std::stop_token& stop) {
    Configurations out;
    for (const ResourceType& type : {kMutatingConfigurations, kValidatingConfigurations}) {
      auto configuration = reader_.get(type, {{}, options_.configuration}, stop);
      if (!configuration && configuration.error().code() == ErrorCode::kNotFound) continue;
      if (!configuration) return configuration.error();
      out.emplace_back(type, *std::move(configuration));
    }
    return out;
  }

  /// What the Secret should contain, before it is renewed.
  [[nodiscard]] std::optional<CertificateBundle> current_bundle(const CertificateBundle* stored) const {
    const bool usable = stored != nullptr && http::check_identity(stored->authority).ok();
    if (!usable && served_) return served_;
    return stored == nullptr ? std::nullopt : std::optional(*stored);
  }

  Result<CertificateBundle> shared_bundle(const std::stop_token& stop) {
    const ObjectKey key{options_.namespace_name, options_.secret};
    const auto secret = reader_.get(kSecrets, key, stop);
    if (!secret && secret.error().code() != ErrorCode::kNotFound) return secret.error();
    const CertificateBundle stored = secret ? read_certificate_data(secret->json()) : CertificateBundle();
    if (stored == verified_ && clock_.now() < verify_again_) return stored;
    ASSIGN_OR_RETURN(CertificateBundle renewed,
                     renew_certificates(current_bundle(secret ? &stored : nullptr), options_, clock_.wall()));
    if (stored == renewed) {
      verified_ = renewed;
      verify_again_ = clock_.now() + kVerifyInterval;
      return renewed;
    }
    const Json data = certificate_data(renewed);
    if (secret) {
      client::PatchOptions patch;
      patch.uid = secret->uid();
      patch.resource_version = secret->resource_version();
      const auto written = writer_.patch(kSecrets, key, client::PatchType::kMerge, {{"data", data}}, patch, stop);
      if (!written) return written.error();
    } else {
      const auto written = writer_.create(kSecrets, new_secret(data), {}, stop);
      if (!written) return written.error();
    }
    return renewed;
  }

  [[nodiscard]] Object new_secret(const Json& data) const {
    return Object(Json({{"apiVersion", "v1"},
                        {"kind", "Secret"},
                        {"metadata",
                         {{"name", options_.secret},
                          {"namespace", options_.namespace_name},
                          {"labels", {{"app.kubernetes.io/name", "tpu-slice-operator"}}}}},
                        {"type", "kubernetes.io/tls"},
                        {"data", data}}));
  }

  const SelfManagedOptions options_;
  client::Reader& reader_;
  client::Writer& writer_;
  const Clock& clock_;
  std::optional<CertificateBundle> served_;
  std::optional<CertificateBundle> seen_;      ///< By the last step, in the Secret and the configurations.
  std::optional<CertificateBundle> verified_;  ///< Nothing of it was due for renewal.
  Instant verify_again_{};
};

}  // namespace

std::unique_ptr<CertificateSource> certificates_from_files(std::string directory) {
  return std::make_unique<FileCertificates>(std::move(directory));
}

std::unique_ptr<CertificateSource> self_managed_certificates(SelfManagedOptions options, client::Reader& reader,
                                                             client::Writer& writer, const Clock& clock) {
  return std::make_unique<SelfManagedCertificates>(std::move(options), reader, writer, clock);
}

}  // namespace tpuslice::webhook
