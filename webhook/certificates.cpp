#include "webhook/certificates.h"

#include <iterator>

#include <fmt/format.h>

#include "api/base/base64.h"
#include "api/base/file.h"
#include "api/http/tls/tls_credentials.h"

namespace tpuslice::webhook {
namespace {

constexpr ResourceType kMutatingConfigurations{"admissionregistration.k8s.io", "v1", "MutatingWebhookConfiguration",
                                               "mutatingwebhookconfigurations", false};
constexpr ResourceType kValidatingConfigurations{"admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration",
                                                 "validatingwebhookconfigurations", false};

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
  Duration interval() const override { return std::chrono::seconds(10); }

 private:
  const std::string directory_;
};

/// The JSON patch that gives every webhook of a configuration this bundle; empty if they have it.
Json bundle_patch(const Json& configuration, const std::string& bundle) {
  Json patch = Json::array();
  const Json* webhooks = find_path(configuration, {"webhooks"});
  if (webhooks == nullptr || !webhooks->is_array()) return patch;
  for (std::size_t index = 0; index < webhooks->size(); ++index) {
    const Json& webhook = (*webhooks)[index];
    if (string_at(webhook, {"clientConfig", "caBundle"}) == bundle) continue;
    // The test fails the patch if the list has changed meanwhile.
    patch.push_back(
        {{"op", "test"}, {"path", fmt::format("/webhooks/{}/name", index)}, {"value", string_at(webhook, {"name"})}});
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
    ASSIGN_OR_RETURN(const CertificateBundle bundle, shared_bundle(stop));
    const std::string encoded = encode_base64(bundle.authorities);
    RETURN_IF_ERROR(trust(kMutatingConfigurations, encoded, stop));
    RETURN_IF_ERROR(trust(kValidatingConfigurations, encoded, stop));
    served_ = bundle;
    return bundle.leaf;
  }
  Duration interval() const override { return options_.check; }

 private:
  Result<CertificateBundle> shared_bundle(const std::stop_token& stop) {
    const ObjectKey key{options_.namespace_name, options_.secret};
    const auto secret = reader_.get(kSecrets, key, stop);
    if (!secret && secret.error().code() != ErrorCode::kNotFound) return secret.error();
    const auto stored = secret ? read_certificate_data(secret->json()) : std::nullopt;
    // If the Secret was deleted, the served bundle is written again: the other replicas serve it, too.
    ASSIGN_OR_RETURN(CertificateBundle renewed, renew_certificates(secret ? stored : served_, options_, clock_.wall()));
    if (stored && *stored == renewed) return renewed;
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

  Object new_secret(const Json& data) const {
    return Object(Json({{"apiVersion", "v1"},
                        {"kind", "Secret"},
                        {"metadata",
                         {{"name", options_.secret},
                          {"namespace", options_.namespace_name},
                          {"labels", {{"app.kubernetes.io/name", "tpu-slice-operator"}}}}},
                        {"type", "kubernetes.io/tls"},
                        {"data", data}}));
  }

  Status trust(const ResourceType& type, const std::string& bundle, const std::stop_token& stop) {
    const ObjectKey key{{}, options_.configuration};
    const auto configuration = reader_.get(type, key, stop);
    if (!configuration) {
      if (configuration.error().code() == ErrorCode::kNotFound) return {};
      return configuration.error();
    }
    const Json patch = bundle_patch(configuration->json(), bundle);
    if (patch.empty()) return {};
    const auto written = writer_.patch(type, key, client::PatchType::kJson, patch, {}, stop);
    if (!written) return written.error();
    return {};
  }

  const SelfManagedOptions options_;
  client::Reader& reader_;
  client::Writer& writer_;
  const Clock& clock_;
  std::optional<CertificateBundle> served_;
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
