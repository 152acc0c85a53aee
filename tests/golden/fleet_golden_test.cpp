// What `kubectl tpu` says of a dozen fleets: each folder of tests/golden/fleet is a case, with the answers as people
// see them (answers.txt) and the fleet as programs do (fleet.json). TPUSLICE_GOLDEN=update (`make golden`) writes both.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/base/file.h"
#include "fleet/answers/explain.h"
#include "fleet/answers/history.h"
#include "fleet/answers/what_if.h"
#include "fleet/fleet_json.h"
#include "fleet/tables/texts.h"
#include "tests/support/fleet_document.h"

namespace tpuslice::fleet {
namespace {

using namespace std::chrono_literals;
using testing::FleetDocument;

void add_pools(FleetDocument& document, const char* names) {
  for (const char* name = names; *name != '\0'; ++name) document.pool({.name = fmt::format("v6e-4x4-{}", *name)});
}

/// The fleet of the questions that the commands were made for.
FleetDocument busy() {
  FleetDocument document;
  add_pools(document, "ab");
  document.pool({.name = "v6e-4x4-c", .not_ready = {1}}).pool({.name = "v6e-4x4-d"});
  document.pool({.name = "v6e-4x4-e", .cordoned = {3}});
  document.pool({.name = "v5e-4x8-a", .accelerator = "tpu-v5-lite-podslice", .topology = "4x8", .hosts = 8});
  document.slice({.workload = "train-x7k",
                  .namespace_name = "ml",
                  .kind = "RayCluster",
                  .api_version = "ray.io/v1",
                  .slice = "v6e-0",
                  .pool = "v6e-4x4-a",
                  .since = 52min});
  document.workload("RayCluster", "train-x7k", "RayJob", "train", "ml");
  document.slice(
      {.workload = "eval", .namespace_name = "nlp", .pool = "v6e-4x4-b", .deadline = 36000, .since = 600min - 129min});
  document.slice({.workload = "sax",
                  .accelerator = "tpu-v5-lite-podslice",
                  .topology = "4x8",
                  .hosts = 8,
                  .pool = "v5e-4x8-a",
                  .since = 840min});
  document.slice({.workload = "big", .namespace_name = "ml", .slice = "big-0", .gang = 2, .since = 9min});
  document.slice({.workload = "big", .namespace_name = "ml", .slice = "big-1", .gang = 2, .since = 9min});
  document.slice(
      {.workload = "third", .kind = "RayCluster", .api_version = "ray.io/v1", .slice = "tpu-0", .since = 8min});
  document.slice(
      {.workload = "sweep", .namespace_name = "nlp", .kind = "Job", .api_version = "batch/v1", .since = 7min});
  document.slice({.workload = "serve",
                  .namespace_name = "nlp",
                  .kind = "StatefulSet",
                  .api_version = "apps/v1",
                  .accelerator = "tpu-v5-lite-podslice",
                  .topology = "4x4",
                  .since = 180min});
  return document;
}

std::map<std::string, std::function<FleetDocument()>> make_cases() {
  std::map<std::string, std::function<FleetDocument()>> cases;
  cases["busy"] = busy;
  cases["empty"] = [] { return FleetDocument(); };
  cases["idle"] = [] {
    FleetDocument document;
    add_pools(document, "abc");
    return document;
  };
  cases["failure"] = [] {
    FleetDocument document;
    add_pools(document, "ab");
    document.slice({.workload = "train", .pool = "v6e-4x4-a", .failed = "OOMKilled"});
    document.slice({.workload = "pulls", .pool = "v6e-4x4-b", .ready = 1, .stuck = "ImagePullBackOff", .since = 40min});
    return document;
  };
  cases["history"] = [] {
    FleetDocument document;
    add_pools(document, "ab");
    document.slice({.workload = "train", .pool = "v6e-4x4-a", .since = 600min});
    for (const char* time : {"2026-01-01T03:40:00Z", "2026-01-01T05:58:00Z"}) {
      document.history({{"time", time},
                        {"namespace", "default"},
                        {"kind", "JobSet"},
                        {"name", "train"},
                        {"slice", "train-0"},
                        {"what", "TornDown"},
                        {"code", "HostFailed"},
                        {"why", "host 2: main exited 137 (OOMKilled)"},
                        {"node", "v6e-4x4-a-2"},
                        {"pool", "v6e-4x4-a"},
                        {"lostHostSeconds", 5280},
                        {"backAfterSeconds", 8},
                        {"backOn", "v6e-4x4-a"}});
    }
    return document;
  };
  cases["large"] = [] {
    FleetDocument document;
    for (int i = 0; i < 60; ++i)
      document.pool({.name = fmt::format("v6e-2x4-{:02}", i), .topology = "2x4", .hosts = 2});
    document.pool({.name = "v6e-8x16", .topology = "8x16", .hosts = 32, .not_ready = {3, 4}});
    return document;
  };
  cases["maintenance"] = [] {
    FleetDocument document;
    document.pool({.name = "v6e-4x4-a", .maintenance = true}).pool({.name = "v6e-4x4-b", .missing = {0}, .spot = true});
    document.slice({.workload = "train", .pool = "v6e-4x4-a"});
    return document;
  };
  cases["multislice"] = [] {
    FleetDocument document;
    add_pools(document, "abc");
    document.slice({.workload = "train", .pool = "v6e-4x4-a"});
    for (const char* slice : {"big-0", "big-1", "big-2"}) {
      document.slice({.workload = "big", .slice = slice, .gang = 3, .since = 35min});
    }
    document.slice({.workload = "small", .since = 3min});
    return document;
  };
  cases["no-rights"] = [] {
    FleetDocument document;
    document.slice({.workload = "next", .waiting = "2 node pools match, none is free: v6e-4x4-a runs default/train"});
    document.set("missing", Json::array({Json{{"resource", "nodes"}}}));
    return document;
  };
  cases["preemption"] = [] {
    FleetDocument document;
    add_pools(document, "a");
    document.option("maxPreemptionsPerHour", 5);
    document.set("preemptions",
                 {{"metadata", {{"name", "tpu-slice-preemptions"}, {"namespace", "tpu-slice-system"}, {"uid", "u"}}}});
    document.slice({.workload = "low", .pool = "v6e-4x4-a"}).slice({.workload = "high", .priority = 10});
    return document;
  };
  cases["repairs"] = [] {
    FleetDocument document;
    document.pool({.name = "v6e-4x4-a", .not_ready = {2}}).pool({.name = "v6e-4x4-b", .cordoned = {0, 1}});
    document.slice({.workload = "next", .since = 60min});
    return document;
  };
  cases["scale-up"] = [] {
    FleetDocument document;
    document.option("scaleUp", "scout").pool({.name = "v6e-4x4-a"}).slice({.workload = "train", .pool = "v6e-4x4-a"});
    document.slice({.workload = "next", .since = 60min});
    return document;
  };
  return cases;
}

const std::map<std::string, std::function<FleetDocument()>>& cases() {
  static const auto kCases = make_cases();
  return kCases;
}

std::string section(const std::string& command, const std::string& text) {
  return fmt::format("$ kubectl tpu {}\n{}\n", command, text);
}

std::string rows_text(const Rows& rows) {
  return to_text(rows.table) + (rows.more > 0 ? more_text(rows.more) + "\n" : "");
}

std::string answers_of(const Snapshot& snapshot) {
  const Fleet fleet = build_fleet(snapshot);
  std::string out = section("status", rows_text(status_table(status_of(fleet), fleet.time)) +
                                          to_text(attention_table(fleet.attention).table, false));
  out += section("pools -o wide", rows_text(pools_table(fleet.pools, fleet.time, {.wide = true})));
  out += section("slices -A", rows_text(slices_table(fleet.slices, fleet.time)));
  std::set<WorkloadName> known;
  for (const FleetSlice& slice : fleet.slices) {
    if (!known.insert(slice.workload).second) continue;
    const std::string name = fmt::format("{}/{}", slice.workload.kind, slice.workload.name);
    const auto explained = explain_workload(snapshot, *read_reference(name), slice.workload.namespace_name);
    out += section("explain " + name, explanation_text(*explained, fleet.time));
  }
  for (const Pool& pool : fleet.pools) {
    if (pool.problem.empty()) continue;
    out += section("explain pool/" + pool.name, explanation_text(*explain_pool(snapshot, pool.name), fleet.time));
  }
  if (!fleet.pools.empty() && snapshot.is_complete()) {
    const auto drain = read_change("drain", "pool/" + fleet.pools.front().name, snapshot, "");
    out += section("what-if drain pool/" + fleet.pools.front().name,
                   what_if_text(what_if(snapshot, {*drain}), fleet.time));
  }
  if (!snapshot.history.empty()) {
    out += section("history", history_text(history_of(snapshot.history, fleet, {}), fleet.time));
  }
  return out;
}

void expect_file(const std::string& now, const std::filesystem::path& file) {
  const char* mode = std::getenv("TPUSLICE_GOLDEN");  // NOLINT(concurrency-mt-unsafe): single-threaded
  if (mode != nullptr && std::string_view(mode) == "update") {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << now;
    return;
  }
  EXPECT_EQ(now, read_file(file.string()).value_or("")) << "`make golden` writes " << file;
}

class FleetGolden : public ::testing::TestWithParam<std::string> {};

TEST_P(FleetGolden, AnswersAreAsWritten) {
  const auto snapshot = read_snapshot(cases().at(GetParam())().json());
  ASSERT_TRUE(snapshot.ok()) << snapshot.error().message();
  const std::filesystem::path folder = std::filesystem::path("tests/golden/fleet") / GetParam();
  expect_file(answers_of(*snapshot), folder / "answers.txt");
  expect_file(write_fleet(build_fleet(*snapshot), {.nodes = false}).dump(2) + "\n", folder / "fleet.json");
}

std::vector<std::string> names_of_cases() {
  std::vector<std::string> names;
  for (const auto& [name, make] : cases()) names.push_back(name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Fleets, FleetGolden, ::testing::ValuesIn(names_of_cases()), [](const auto& test) {
  std::string name = test.param;
  std::erase(name, '-');
  return name;
});

}  // namespace
}  // namespace tpuslice::fleet
