// The webhook, served by the test itself, and the real API server that calls it.
#pragma once

#include <map>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "api/base/metrics.h"
#include "api/types/yaml.h"
#include "tests/support/admission.h"
#include "tests/support/eventually.h"
#include "tests/support/operator_process.h"
#include "tests/support/pods.h"
#include "webhook/webhook_server.h"

namespace tpuslice::testing {

/// API server and controllers; no pod runs. The webhook is served by this process.
class Admission : public ::testing::Test {
 protected:
  void SetUp() override {
    // As kubeadm and GKE have it: each controller has a user of its own.
    auto plane = ControlPlane::start(
        {.scheduler = false, .kwok = false, .controller_flags = {"--use-service-account-credentials=true"}});
    if (!plane && plane.error().code() == ErrorCode::kNotFound) GTEST_SKIP() << plane.error().message();
    ASSERT_TRUE(plane.ok()) << plane.error().message();
    plane_ = std::move(*plane);
    const Status installed = install_operator(plane_->client());
    ASSERT_TRUE(installed.ok()) << installed.error().message();
    webhook::WebhookServerOptions options;
    options.namespace_name = "tpu-slice-system";
    options.mutation = mutation_;
    auto server = webhook::WebhookServer::start(options, plane_->client(), plane_->client(), clock_, metrics_, {});
    ASSERT_TRUE(server.ok()) << server.error().message();
    server_ = std::move(*server);
    const Status registered = register_webhook(plane_->client(), server_->port());
    ASSERT_TRUE(registered.ok()) << registered.error().message();
    server_->step({});
    ASSERT_TRUE(server_->ready());
    // The API server takes a moment to see the configuration.
    ASSERT_TRUE(eventually([&] { return is_admitted(); }));
    ASSERT_TRUE(eventually([&] {
      server_->step({});
      return fails_closed(plane_->client());
    }));
  }
  void TearDown() override {
    if (HasFailure() && plane_) plane_->keep_dir();
  }

  bool is_admitted() {
    const auto probe = plane_->client().create(kPods, Object(runnable(tpu::testing::RayPod{.group = "probe"}.json())),
                                               {.dry_run = true});
    return probe.ok() && tpu::testing::env_value(probe->json(), "TPU_WORKER_ID") == "0";
  }

  /// A pod that the API server takes: its containers have images. Without the token, whose volume has a random name.
  static Json runnable(Json pod) {
    pod["spec"]["automountServiceAccountToken"] = false;
    for (const char* list : {"containers", "initContainers"}) {
      if (!pod["spec"].contains(list)) continue;
      for (Json& container : pod["spec"][list]) container["image"] = "i";
    }
    return pod;
  }

  void create(const ResourceType& type, const std::string& yaml) {
    const auto object = parse_yaml(yaml);
    ASSERT_TRUE(object.ok()) << object.error().message();
    const auto created = plane_->client().create(type, Object(*object));
    ASSERT_TRUE(created.ok()) << created.error().message();
  }

  /// The `count` pods with that label, by hostname.
  std::map<std::string, Json> pods_of(const std::string& label, std::size_t count) {
    std::map<std::string, Json> pods;
    const bool there = eventually([&] {
      pods.clear();
      const auto list = plane_->client().list(kPods, {.namespace_name = "default", .label_selector = label}, {});
      if (!list) return false;
      for (const std::string& text : list->items) {
        const Json pod = Json::parse(text);
        pods[string_at(pod, {"spec", "hostname"})] = pod;
      }
      return pods.size() == count;
    });
    EXPECT_TRUE(there) << pods.size() << " pods of " << label;
    return pods;
  }

  rules::MutationOptions mutation_ = with_kinds({.served_kinds = {"JobSet", "RayCluster"}});  ///< Of the webhook.
  RealClock clock_;
  Metrics metrics_;
  std::unique_ptr<ControlPlane> plane_;
  std::unique_ptr<webhook::WebhookServer> server_;
};

}  // namespace tpuslice::testing
