// Each flag of placement and of the slice controllers sets the option that it names.
#include "cmd/tpu-slice-operator/slice_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tpuslice {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

OperatorOptions options_of(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "tpu-slice-operator");
  const auto parsed = parse_command_line(static_cast<int>(arguments.size()), arguments.data());
  EXPECT_TRUE(parsed.ok());
  return parsed->options;
}

placement::PlacementOptions placement_of(std::vector<const char*> arguments) {
  return placement_options(options_of(std::move(arguments)), "tpu-system");
}

TEST(SliceSettings, OfPlacement) {
  EXPECT_THAT(placement_of({"--topology-key=example.com/a", "--topology-keys=example.com/b"}).topology_keys,
              ElementsAre("example.com/a", "example.com/b"));
  EXPECT_TRUE(placement_of({"--show-other-namespaces"}).show_other_namespaces);
  EXPECT_THAT(placement_of({"--capacity-order=spot,reservation,on-demand"}).capacity_order, ElementsAre(1, 2, 0));
  const auto reserves = placement_of({"--reservation-timeout=7", "--reservation-percent=9"}).reservation;
  EXPECT_EQ(reserves.timeout, 7s);
  EXPECT_EQ(reserves.percent, 9);
  EXPECT_EQ(placement_of({"--hold-timeout=7"}).hold_timeout, 7s);
  const char* const gate = "--feature-gates=SlicePreemption=true";
  EXPECT_EQ(placement_of({gate, "--max-preemptions-per-hour=3"}).max_preemptions_per_hour, 3);
}

TEST(SliceSettings, OfScaleUp) {
  using placement::ScaleUp;
  EXPECT_EQ(placement_of({"--scale-up=off"}).scale_up.mode, ScaleUp::kOff);
  EXPECT_EQ(placement_of({"--scale-up=auto"}).scale_up.mode, ScaleUp::kAuto);
  EXPECT_EQ(placement_of({"--scale-up=scout"}).scale_up.mode, ScaleUp::kScout);
  const auto options =
      placement_of({"--scout-image=example", "--max-scale-ups=7", "--scale-up-timeout=61", "--show-hints"});
  EXPECT_EQ(options.scale_up.image, "example");
  EXPECT_EQ(options.scale_up.max_scale_ups, 7);
  EXPECT_EQ(options.scale_up.timeout, 61s);
  EXPECT_EQ(options.scale_up.namespace_name, "tpu-system");
  EXPECT_TRUE(options.scale_up.show_hints);
  EXPECT_FALSE(placement_of({}).scale_up.show_hints);
}

TEST(SliceSettings, OfTheSliceControllers) {
  const slice::Options options =
      slice_options(options_of({"--node-not-ready-timeout=7", "--disruption-nodes=8", "--disruption-percent=9",
                                "--teardown-interval=10", "--scheduling-timeout=11", "--start-timeout=12"}));
  EXPECT_EQ(options.node_timeout, 7s);
  EXPECT_EQ(options.disrupted_nodes, 8);
  EXPECT_EQ(options.disrupted_percent, 9);
  EXPECT_EQ(options.teardown_interval, 10s);
  EXPECT_EQ(options.scheduling_timeout, 11s);
  EXPECT_EQ(options.start_timeout, 12s);
}

}  // namespace
}  // namespace tpuslice
