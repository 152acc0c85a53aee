// What the library of fleets says of a snapshot is what the placement controller does next with the same objects.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/placement/placement_reconciler.h"
#include "fleet/answers/explain.h"
#include "fleet/changes.h"
#include "fleet/model.h"
#include "fleet/snapshot.h"
#include "tests/laws/fleet_generator.h"
#include "tpu/chips.h"
#include "tpu/labels.h"

namespace tpuslice::laws {
namespace {

/// What is done about a slice.
struct Decision {
  std::string pool;  ///< It is placed there; else it waits:
  std::string code;
  std::string reason;
  friend bool operator==(const Decision&, const Decision&) = default;
  friend void PrintTo(const Decision& decision, std::ostream* out) {
    *out << (decision.pool.empty() ? "waits: " + decision.code + ": " + decision.reason : "to " + decision.pool);
  }
};
using Decisions = std::map<std::string, Decision>;  ///< By namespace and slice key.

/// The operator's stores, and its placement controller.
class Operator {
 public:
  explicit Operator(const FleetGenerator& world)
      : stores_({&pods_}),
        reconciler_(stores_, nodes_, slice::Indexes(stores_), std::make_shared<slice::Workloads>(), {},
                    {.status = &status_}, world.options(),
                    world.options().max_preemptions_per_hour > 0 ? &preemptions_ : nullptr) {
    for (const Json& node : world.nodes()) nodes_.put(*NodeView::decode(node.dump(), &fleet::kept_keys()));
    for (const Json& pod : world.pods()) pods_.put(*PodView::decode(pod.dump(), &fleet::kept_keys()));
    preemptions_.replace({}, 1);
    if (!world.preemptions().is_null()) {
      preemptions_.put(*placement::PreemptionRecords::decode(world.preemptions().dump()));
    }
    if (!world.has_autoscaler()) return;
    const Json status = {{"metadata",
                          {{"name", placement::kAutoscalerConfigMap},
                           {"namespace", placement::kAutoscalerNamespace},
                           {"uid", "uid-of-status"},
                           {"resourceVersion", "1"}}}};
    status_.put(*placement::MetadataView::decode(status.dump()));
  }

  [[nodiscard]] Decisions plan() {
    Decisions out;
    for (const char* accelerator : {"tpu-v6e-slice", "tpu-v5-lite-podslice"}) {
      const auto plan = reconciler_.plan({{"", accelerator}, FleetGenerator::now(), std::nullopt});
      EXPECT_TRUE(plan.ok());
      for (const plan::Action& action : actions_of(*plan)) add(action, out);
    }
    return out;
  }

 private:
  void add(const plan::Action& action, Decisions& out) {
    if (action.type != kPods || action.kind != plan::ActionKind::kPatch) return;
    const auto pod = pods_.get(action.key);
    const Json body = *action.body.make();
    if (pod == nullptr) return;
    Decision decision{string_at(body, {"metadata", "annotations", tpu::kPlacedIn}),
                      string_at(body, {"metadata", "annotations", tpu::kWaitingReason}),
                      string_at(body, {"metadata", "annotations", tpu::kWaiting})};
    if (decision.pool.empty() && decision.code.empty()) return;  // A preempted pod.
    out.emplace(slice::slice_key(*pod).to_string(), std::move(decision));
  }

  runtime::PodStore pods_{kPods};
  runtime::NodeStore nodes_{kNodes};
  placement::PreemptionStore preemptions_{kConfigMaps};
  placement::ConfigMapStore status_{kConfigMaps};
  const runtime::PodStores stores_;
  const placement::PlacementReconciler reconciler_;
};

/// The snapshot after it was written and read again.
fleet::Snapshot snapshot_of(const FleetGenerator& world) {
  Json document = {{"schema", fleet::kSnapshotSchema},
                   {"time", format_rfc3339(FleetGenerator::now())},
                   {"autoscaler", world.has_autoscaler()},
                   {"nodes", world.nodes()},
                   {"pods", world.pods()}};
  if (!world.preemptions().is_null()) document["preemptions"] = world.preemptions();
  fleet::Snapshot options;
  options.options = world.options();
  document["options"] = fleet::write_options(options);
  const Json trimmed = fleet::trimmed_snapshot(document);
  EXPECT_EQ(trimmed.dump().find("SECRET"), std::string::npos);
  return *fleet::read_snapshot(trimmed);
}

Decisions decisions_of(const fleet::Fleet& fleet) {
  Decisions out;
  for (const fleet::FleetSlice& slice : fleet.slices) {
    if (slice.state != fleet::SliceState::kWaiting) continue;
    const ObjectKey key{slice.workload.namespace_name, slice.key};
    out.emplace(key.to_string(),
                slice.code.empty() ? Decision{slice.pool, "", ""} : Decision{"", slice.code, slice.reason});
  }
  return out;
}

/// TPUSLICE_FLEETS, or a few hundred.
int fleets() {
  const char* chosen = std::getenv("TPUSLICE_FLEETS");  // NOLINT(concurrency-mt-unsafe): before any thread
  return chosen == nullptr ? chosen_worlds(300) : std::max(1, std::atoi(chosen));
}

template <typename Check>
void for_many_fleets(Check check) {
  for (int i = 0; i < fleets(); ++i) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(i);
    SCOPED_TRACE(fmt::format("TPUSLICE_SEED={}", seed));
    check(FleetGenerator(seed));
    if (testing::Test::HasFailure()) return;
  }
}

TEST(FleetLaws, VerdictsAreThoseOfThePlacementController) {
  std::size_t placed = 0;
  std::map<std::string, int> codes;
  for_many_fleets([&](const FleetGenerator& world) {
    const Decisions done = Operator(world).plan();
    const Decisions said = decisions_of(fleet::build_fleet(snapshot_of(world)));
    for (const auto& [slice, decision] : done) {
      const auto found = said.find(slice);
      EXPECT_EQ(found == said.end() ? Decision() : found->second, decision) << slice;
    }
    EXPECT_EQ(said.size(), done.size());
    for (const auto& [slice, decision] : done) {
      if (!decision.pool.empty()) ++placed;
      ++codes[decision.code];
    }
  });
  if (fleets() < 100) return;
  EXPECT_GT(placed, 50U);
  for (const char* code :
       {"NodesInUse", "NodesNotUsable", "QueuedBehind", "GangIncomplete", "HostsMissing", "OtherGate"}) {
    EXPECT_GT(codes[code], 0) << code;
  }
}

TEST(FleetLaws, ExplanationsAgreeWithTheFleet) {
  for_many_fleets([&](const FleetGenerator& world) {
    const fleet::Snapshot snapshot = snapshot_of(world);
    const fleet::Fleet fleet = fleet::build_fleet(snapshot);
    std::set<fleet::WorkloadName> workloads;
    for (const fleet::FleetSlice& slice : fleet.slices) workloads.insert(slice.workload);
    for (const fleet::WorkloadName& workload : workloads) {
      const auto explained = fleet::explain_workload(snapshot, {"job", workload.name}, workload.namespace_name);
      ASSERT_TRUE(explained.ok()) << explained.error().message();
      const fleet::FleetSlice& first = explained->slices.front();
      EXPECT_EQ(explained->answer == fleet::Answer::kNever,
                std::ranges::any_of(explained->slices, &fleet::FleetSlice::never));
      if (explained->waiting == 0) continue;
      std::set<std::string> free;
      for (const fleet::ExplainedDomain& domain : explained->domains) {
        if (domain.free) free.insert(domain.name);
        EXPECT_TRUE(domain.free || !domain.why_not.empty()) << domain.name;
      }
      const bool alone = first.gang_slices == 1 && first.position > 0;
      if (alone) {
        EXPECT_THAT(free, testing::IsEmpty()) << first.key << ": " << first.reason;
      }
    }
  });
}

// Otherwise what-if would compare states that the operator never reaches.
TEST(FleetLaws, ASettledFleetHasNothingMoreToPlace) {
  for_many_fleets([&](const FleetGenerator& world) {
    const fleet::Snapshot settled = fleet::settled(snapshot_of(world));
    for (const fleet::FleetSlice& slice : fleet::build_fleet(settled).slices) {
      if (slice.state != fleet::SliceState::kWaiting) continue;
      EXPECT_NE(slice.code, "") << slice.key << " to " << slice.pool;
    }
  });
}

}  // namespace
}  // namespace tpuslice::laws
