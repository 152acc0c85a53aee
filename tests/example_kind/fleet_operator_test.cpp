// The whole operator with the kind in its list: this program is linked with kinds.cpp of this folder instead of the
// operator's, and with nothing else of the operator changed.
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/clock.h"
#include "api/base/file.h"
#include "api/types/yaml.h"
#include "cmd/tpu-slice-operator/kinds.h"
#include "cmd/tpu-slice-operator/operator.h"
#include "cmd/tpu-slice-operator/upstream.h"
#include "cmd/tpu-slice-sim/cluster/cluster.h"
#include "tests/example_kind/fleet_kind.h"
#include "tests/support/error_matchers.h"
#include "tests/support/kind_manifests.h"

namespace tpuslice {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

CommandLine command_line(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "tpu-slice-operator");
  Result<CommandLine> parsed = parse_command_line(static_cast<int>(arguments.size()), arguments.data());
  EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error().message());
  return parsed.ok() ? *std::move(parsed) : CommandLine{};
}

std::string without(std::string text, std::string_view part) {
  const std::size_t found = text.find(part);
  EXPECT_NE(found, std::string::npos) << part;
  return found == std::string::npos ? text : text.erase(found, part.size());
}

TEST(ExampleKind, IsOneEntryOfTheList) {
  std::string list = read_file("tests/example_kind/kinds.cpp").value();
  list = without(std::move(list), "#include \"tests/example_kind/fleet_kind.h\"\n");
  list = without(std::move(list), "    &example::kKind,\n");
  EXPECT_EQ(list, read_file("cmd/tpu-slice-operator/kinds.cpp").value());
  EXPECT_THAT(std::vector(kinds().begin(), kinds().end()), Contains(&example::kKind));
}

TEST(ExampleKind, IsAKindOfTheOptions) {
  EXPECT_THAT(command_line({"--help"}).output, AllOf(HasSubstr("-fleet"), HasSubstr("Fleets")));
  EXPECT_TRUE(command_line({}).options.enables("fleet"));
  EXPECT_FALSE(command_line({"--controllers=*,-fleet"}).options.enables("fleet"));
  const char* const take_over[] = {"tpu-slice-operator", "--take-over=fleet"};
  EXPECT_THAT(parse_command_line(2, take_over), IsError(ErrorCode::kInvalidArgument))
      << "it has no upstream controller";
  for (const auto& each : upstream_controllers({})) EXPECT_FALSE(each.lease.empty());
}

TEST(ExampleKind, HasItsManifests) {
  std::vector<Json> manifests;
  for (const char* file : {"example.com_fleets.yaml", "rbac.yaml", "webhook.yaml"}) {
    const auto documents = parse_yaml_documents(read_file(std::string("tests/example_kind/deploy/") + file).value());
    ASSERT_TRUE(documents.ok()) << file;
    for (const YamlDocument& document : *documents) manifests.push_back(document.value);
  }
  EXPECT_THAT(kind::missing_manifests(example::kKind, manifests), IsEmpty());
  EXPECT_EQ(kind::missing_manifests(example::kKind, {}).size(), 6U);
}

/// Runs a cluster and the operator in it in real time until the condition holds.
bool run_until(sim::Cluster& cluster, const Clock& clock, const std::function<bool()>& condition) {
  const Instant until = clock.now() + std::chrono::seconds(60);
  while (clock.now() < until) {
    const sim::Revision seen = cluster.storage().revision();
    while (cluster.step()) {
    }
    if (condition()) return true;
    cluster.storage().wait_past(std::max(seen, cluster.storage().revision()), std::chrono::milliseconds(50), {});
  }
  return false;
}

TEST(ExampleKind, RunsInTheOperator) {
  const RealClock clock;
  sim::Cluster cluster(clock);
  ASSERT_TRUE(cluster.apply_yaml("{apiVersion: v1, kind: Namespace, metadata: {name: tpu-slice-system}}").ok());
  for (const char* file :
       {"tests/example_kind/deploy/example.com_fleets.yaml", "tests/example_kind/deploy/sample.yaml"}) {
    ASSERT_TRUE(cluster.apply_yaml(read_file(file).value()).ok()) << file;
  }
  const auto api = cluster.transport({"system:serviceaccount:tpu-slice-system:tpu-slice-operator",
                                      {"system:serviceaccounts", "system:authenticated"}});
  Metrics metrics;
  OperatorOptions options;
  options.controllers = {"fleet", "slice"};
  options.metrics_bind_address = options.health_probe_bind_address = options.webhook_bind_address = "0";
  options.shutdown_delay_seconds = 0;
  const auto started = Operator::start(options, {.api = *api,
                                                 .election_api = *api,
                                                 .clock = clock,
                                                 .metrics = metrics,
                                                 .log = Logger(),
                                                 .identity = "example",
                                                 .namespace_name = "tpu-slice-system",
                                                 .send_to_workload = {}});
  ASSERT_TRUE(started.ok()) << started.error().message();
  const std::jthread runs([&](const std::stop_token& stop) { (*started)->run(stop); });
  EXPECT_TRUE(run_until(cluster, clock, [&] {
    return int_at(*cluster.get("fleets.example.com", {"default", "north"}), {"status", "readyShips"}) == 2;
  }));
}

}  // namespace
}  // namespace tpuslice
