// Requests to the dashboard, and what is kept of its answers. The dashboard is the one of the simulator.
#include "controllers/ray/dashboard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cmd/tpu-slice-sim/ray/dashboards.h"

namespace tpuslice::ray {
namespace {

using namespace std::chrono_literals;
using plan::WorkloadAnswer;
using plan::WorkloadRequest;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

const Dashboard kDashboard{"10.0.0.7:8265", "train-head-svc.default.svc.cluster.local", {}};

Json a_cluster(Json head = {{"containers", Json::array({{{"name", "ray"}, {"image", "ray"}}})}}) {
  return {{"apiVersion", "ray.io/v1"},
          {"kind", "RayCluster"},
          {"metadata", {{"name", "train"}, {"namespace", "default"}, {"uid", "u"}}},
          {"spec", {{"headGroupSpec", {{"template", {{"spec", std::move(head)}}}}}}}};
}

class DashboardTest : public ::testing::Test {
 protected:
  WorkloadAnswer ask(const WorkloadRequest& request) {
    WorkloadAnswer answer{request};
    http::Request message{request.method, request.target, {{"Host", request.host}}, request.body};
    const auto response = dashboards_.handle(message);
    if (!response) {
      answer.error = "no answer in time";
      return answer;
    }
    return answered(request, response->status, response->body);
  }
  static WorkloadAnswer answered(const WorkloadRequest& request, int status, const std::string& body) {
    WorkloadAnswer answer{request, status};
    answer.content = request.read(status, body);
    return answer;
  }

  FakeClock clock_;
  sim::RayDashboards dashboards_{clock_};
};

TEST_F(DashboardTest, IsThatOfTheHeadPod) {
  const Json cluster = a_cluster();
  const auto spec = raycluster::RayClusterSpec::read(cluster);
  PodView head;
  EXPECT_FALSE(dashboard_of(spec, head, "cluster.local"));
  head.pod_ip = "10.0.0.7";
  EXPECT_EQ(dashboard_of(spec, head, "cluster.local"), kDashboard);
  head.pod_ip = "fd00::7";
  EXPECT_EQ(dashboard_of(spec, head, "cluster.local")->address, "[fd00::7]:8265");
  EXPECT_EQ(dashboard_host_port(spec, "cluster.local"), "train-head-svc.default.svc.cluster.local:8265");
}

TEST_F(DashboardTest, HasThePortWithItsName) {
  const Json cluster = a_cluster(
      {{"containers",
        Json::array({{{"name", "ray"}, {"ports", Json::array({{{"name", "dashboard"}, {"containerPort", 9000}}})}}})}});
  PodView head;
  head.pod_ip = "10.0.0.7";
  EXPECT_EQ(dashboard_of(raycluster::RayClusterSpec::read(cluster), head, "cluster.local")->address, "10.0.0.7:9000");
}

TEST_F(DashboardTest, TakesTheTokenOfTheCluster) {
  Json cluster = a_cluster();
  cluster["spec"]["authOptions"] = {{"mode", "token"}};
  PodView head;
  head.pod_ip = "10.0.0.7";
  const auto token_of = [&] {
    return dashboard_of(raycluster::RayClusterSpec::read(cluster), head, "cluster.local")->token.value();
  };
  EXPECT_EQ(token_of(), (plan::TokenSource{"train", "auth_token"}));
  cluster["spec"]["authOptions"]["secretName"] = "mine";
  EXPECT_EQ(token_of(), (plan::TokenSource{"mine", "auth_token"}));
}

TEST_F(DashboardTest, RunsAJob) {
  const WorkloadRequest get = get_job(kDashboard, "train-1", 3s);
  EXPECT_EQ(ask(get).status, 404);
  EXPECT_FALSE(job_info(ask(get)));
  const WorkloadRequest submit =
      submit_job(kDashboard, {{"entrypoint", "python x.py"}, {"submission_id", "train-1"}}, 0);
  EXPECT_TRUE(ask(submit).ok());
  EXPECT_EQ(ask(submit).status, 500) << "the id is in use";
  EXPECT_THAT(explain(ask(submit)), HasSubstr("Please use a different submission_id"));
  EXPECT_EQ(job_info(ask(get))->status, kRunning);
  EXPECT_FALSE(is_terminal(kRunning));
  EXPECT_TRUE(ask(stop_job(kDashboard, "train-1")).ok());
  const auto stopped = job_info(ask(get));
  EXPECT_EQ(stopped->status, kStopped);
  EXPECT_TRUE(is_terminal(stopped->status));
  EXPECT_EQ(stopped->end_time,
            std::chrono::duration_cast<std::chrono::milliseconds>(clock_.wall().time_since_epoch()).count());
}

TEST_F(DashboardTest, EscapesIds) {
  EXPECT_EQ(get_job(kDashboard, "a/../b?c d", 3s).target, "/api/jobs/a%2F..%2Fb%3Fc%20d");
}

TEST_F(DashboardTest, DeploysApplications) {
  const WorkloadRequest get = get_applications(kDashboard, "active", 2s);
  EXPECT_THAT(serve_info(ask(get))->applications, SizeIs(0));
  EXPECT_EQ(ask(put_applications(kDashboard, "serve", {{"applications", 1}}, 0)).status, 400);
  const Json config = {{"applications", Json::array({{{"name", "llm"}}})}};
  EXPECT_TRUE(ask(put_applications(kDashboard, "serve", config, 0)).ok());
  dashboards_.set_proxies("train-head-svc.default", {"10.0.0.9", "10.0.0.8"});
  const auto serve = serve_info(ask(get));
  EXPECT_EQ(serve->applications.at("llm").status, kApplicationRunning);
  EXPECT_EQ(serve->applications.at("llm").deployments.at("Deployment").status, "HEALTHY");
  EXPECT_THAT(serve->proxies, ElementsAre("10.0.0.8", "10.0.0.9"));
}

TEST_F(DashboardTest, ReportsTheConfigurationOfApplications) {
  const WorkloadRequest get = get_applications(kDashboard, "active", 2s);
  const Json application = {{"name", "llm"}, {"args", {{"replicas", 2}, {"seed", nullptr}}}};
  ASSERT_TRUE(ask(put_applications(kDashboard, "serve", {{"applications", Json::array({application})}}, 0)).ok());
  EXPECT_EQ(serve_info(ask(get))->applications.at("llm").config, application_hash(application));
  EXPECT_EQ(application_hash(application), application_hash({{"args", {{"replicas", 2.0}}}, {"name", "llm"}}));
  EXPECT_NE(application_hash(application), application_hash({{"args", {{"replicas", 3}}}, {"name", "llm"}}));
  EXPECT_EQ(serve_info(answered(get, 200, R"({"applications": {"llm": {"status": "RUNNING"}}})"))
                ->applications.at("llm")
                .config,
            "");
}

TEST_F(DashboardTest, TrustsNoAnswer) {
  const WorkloadRequest job = get_job(kDashboard, "a", 3s);
  const WorkloadRequest applications = get_applications(kDashboard, "active", 2s);
  for (const auto fault : {sim::DashboardFault::kInvalid, sim::DashboardFault::kHuge, sim::DashboardFault::kFailing,
                           sim::DashboardFault::kSlow}) {
    dashboards_.set_fault(fault);
    EXPECT_FALSE(job_info(ask(job)));
    EXPECT_FALSE(serve_info(ask(applications)));
  }
  dashboards_.set_fault(sim::DashboardFault::kWrongTypes);
  EXPECT_EQ(job_info(ask(job))->status, "");
  EXPECT_FALSE(job_info(ask(job))->end_time);
  EXPECT_THAT(serve_info(ask(applications))->applications, SizeIs(0));
  EXPECT_THAT(serve_info(ask(applications))->proxies, SizeIs(0));
}

TEST_F(DashboardTest, KeepsLittleOfALongAnswer) {
  const WorkloadRequest get = get_job(kDashboard, "a", 3s);
  const Json job = {{"status", "BOOTING"}, {"message", std::string(1U << 19U, 'x')}};
  const auto info = job_info(answered(get, 200, job.dump()));
  EXPECT_EQ(info->status, "") << "no status of a job";
  EXPECT_LE(info->message.size(), kMaxMessage + 3);
  EXPECT_LE(explain(answered(get, 500, std::string(1U << 19U, 'x'))).size(), kMaxMessage + 20);
  EXPECT_EQ(explain(answered(get, 500, "\xff\xfe")), "HTTP status 500");
  EXPECT_EQ(explain(answered(get, 500, "connection refused\n")), "500: connection refused");

  Json serve = {{"applications", Json::object()}, {"proxies", Json::object()}};
  for (int i = 0; i < 500; ++i) {
    serve["applications"]["app-" + std::to_string(i)] = {{"status", "RUNNING"}, {"deployments", {{"d", 1}}}};
  }
  const auto info_of_serve = serve_info(answered(get_applications(kDashboard, "active", 2s), 200, serve.dump()));
  EXPECT_THAT(info_of_serve->applications, SizeIs(kMaxApplications));
}

TEST_F(DashboardTest, ExplainsMissingAnswers) {
  WorkloadAnswer answer{get_job(kDashboard, "a", 3s)};
  answer.error = "GET http://10.0.0.7:8265/api/jobs/a: no answer in time";
  EXPECT_THAT(explain(answer), StartsWith("GET http://10.0.0.7"));
}

}  // namespace
}  // namespace tpuslice::ray
