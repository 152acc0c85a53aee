// Bench: the cost of a mutating webhook for the creation of pods: none, a no-op one, the operator's.
#include <atomic>
#include <utility>

#include "api/http/server/server.h"
#include "tests/bench/bench.h"
#include "tests/bench/machine.h"
#include "tests/support/loopback_identity.h"
#include "tpu/labels.h"

namespace tpuslice::bench {
namespace {

/// The pod as KubeRay would send it: with index labels, without the mutations of our controller.
Result<std::string> unmutated(const std::string& text) {
  ASSIGN_OR_RETURN(Json pod, parse_json(text));
  Json& spec = pod["spec"];
  for (const char* field : {"affinity", "hostname", "subdomain"}) spec.erase(field);
  for (Json& container : spec["containers"]) {
    if (!container.contains("env")) continue;
    auto& env = container["env"].get_ref<Json::array_t&>();
    std::erase_if(env, [](const Json& entry) { return string_at(entry, {"name"}).starts_with("TPU_"); });
  }
  pod["metadata"]["labels"].erase(std::string(tpu::kSlice));
  if (pod["metadata"].contains("annotations")) pod["metadata"]["annotations"].erase(std::string(tpu::kSliceHosts));
  return pod.dump();
}

/// A webhook that reads only the uid of a request and allows it.
class NoopWebhook {
 public:
  static Result<std::unique_ptr<NoopWebhook>> start() {
    ASSIGN_OR_RETURN(testing::LoopbackIdentity identity, testing::make_loopback_identity("no-op"));
    http::ServerOptions options;
    options.tls = std::move(identity.leaf);
    std::unique_ptr<NoopWebhook> webhook(new NoopWebhook(std::move(identity.authority)));
    ASSIGN_OR_RETURN(webhook->server_,
                     http::Server::start(std::move(options), webhook->clock_,
                                         [calls = webhook->calls_](const http::Request& request, const http::Peer&) {
                                           ++*calls;
                                           return reply_to(request.body);
                                         }));
    return webhook;
  }

  [[nodiscard]] int port() const { return server_->port(); }
  [[nodiscard]] const std::string& authority() const { return authority_; }
  [[nodiscard]] int calls() const { return *calls_; }

 private:
  explicit NoopWebhook(std::string authority) : authority_(std::move(authority)) {}

  static http::Reply reply_to(const std::string& review) {
    // The request begins with its uid.
    constexpr std::string_view kUid = "\"uid\":\"";
    const std::size_t begin = review.find(kUid) + kUid.size();
    const std::string uid = review.substr(begin, review.find('"', begin) - begin);
    return {.response = {200,
                         {{"Content-Type", "application/json"}},
                         R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":")" + uid +
                             R"(","allowed":true}})"}};
  }

  const std::string authority_;
  const std::shared_ptr<std::atomic<int>> calls_ = std::make_shared<std::atomic<int>>(0);
  const RealClock clock_;
  std::unique_ptr<http::Server> server_;
};

}  // namespace

Result<WebhookCost> Bench::measure_webhook(const Shape& shape) {
  WebhookCost out;
  ASSIGN_OR_RETURN(out.none, create_unmutated(shape, [] { return true; }));

  ASSIGN_OR_RETURN(const auto noop, NoopWebhook::start());
  RETURN_IF_ERROR(testing::register_webhook(plane_->client(), noop->port(), noop->authority()));
  ASSIGN_OR_RETURN(out.noop, create_unmutated(shape, [&] { return noop->calls() > 0; }));

  ASSIGN_OR_RETURN(const int port, testing::free_port());
  RETURN_IF_ERROR(testing::register_webhook(plane_->client(), port));
  // Without the controller of RayClusters, which would reconcile the owners.
  ASSIGN_OR_RETURN(operator_, testing::OperatorProcess::start({.kubeconfig = account_,
                                                               .log = plane_->dir() + "/webhook.log",
                                                               .program = options_.operator_program,
                                                               .webhook_port = port,
                                                               .flags = {"--controllers=-raycluster"}}));
  const auto called = [&] { return admitted_pods().value_or(0) > 0; };
  const double cpu = cpu_seconds(operator_->pid());
  ASSIGN_OR_RETURN(out.ours, create_unmutated(shape, called));
  out.operator_cpu = (cpu_seconds(operator_->pid()) - cpu) / static_cast<double>(shape.pods()) * 1000;
  RETURN_IF_ERROR(stop_operator());
  return out;
}

Result<PostResult> Bench::create_unmutated(const Shape& shape, const std::function<bool()>& called) {
  ASSIGN_OR_RETURN(const std::string where, new_namespace("admit"));
  ASSIGN_OR_RETURN(const std::vector<Object> clusters, apply(shape, where));
  std::vector<std::string> pods;
  for (const Object& cluster : clusters) {
    ASSIGN_OR_RETURN(const BareCluster own, children_of(cluster));
    for (const BarePod& pod : own.pods) {
      ASSIGN_OR_RETURN(std::string text, unmutated(pod.text));
      pods.push_back(std::move(text));
    }
  }
  RETURN_IF_ERROR(wait_for_webhook(where, called));
  ASSIGN_OR_RETURN(const auto lean, LeanClient::connect(plane_->config(), kInFlight));
  ASSIGN_OR_RETURN(const PostResult posted,
                   post(where, pods.size(), [&] { return lean->post(kPods.path(where), pods); }));
  // The webhook must not be called for pods of other shapes.
  RETURN_IF_ERROR(remove_webhook());
  RETURN_IF_ERROR(remove(shape.kind, clusters, where));
  return posted;
}

}  // namespace tpuslice::bench
