#include "tests/support/plan_world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tpuslice::plan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Key;

constexpr ResourceType kWidgets{"example.dev", "v1", "Widget", "widgets"};

Json an_object(const std::string& name, const std::string& owner = "uid-of-train") {
  return {{"metadata",
           {{"name", name},
            {"namespace", "default"},
            {"ownerReferences", {{{"kind", "Widget"}, {"name", "x"}, {"uid", owner}, {"controller", true}}}}}}};
}

/// Its planner creates the services "a" and "b", then "c"; a controller of others makes each of them ready.
class World final : public PlanWorld {
 public:
  World()
      : PlanWorld(kWidgets, {{"metadata", {{"name", "train"}, {"namespace", "default"}, {"uid", "uid-of-train"}}}},
                  Timestamp()) {}

  [[nodiscard]] Plan plan() const override {
    Plan out;
    const auto create = [&](const std::vector<std::string>& names) {
      Stage stage;
      for (const std::string& name : names) {
        if (!objects(kServices).contains(name)) {
          stage.actions.push_back(Action::create(kServices, Object(an_object(name))));
        }
      }
      if (!stage.actions.empty()) out.stages.push_back(std::move(stage));
    };
    create({"a", "b"});
    create({"c"});
    if (last_failure()) out.reason = last_failure()->message;
    return out;
  }
  void advance() override {
    pass(std::chrono::seconds(1));
    for (auto& [name, service] : objects(kServices)) service["ready"] = true;
  }

  std::vector<std::string> applied_;  ///< Names, and "<name> was <spec>" of patches.
  int carried_out_ = 0;               ///< Plans; minus those that were not complete.

 private:
  void applied(const Action& action, const Json& before) override {
    applied_.push_back(before.is_null() ? action.key.name
                                        : action.key.name + " was " + before.value("spec", Json()).dump());
  }
  void carried_out(const Plan& /*plan*/, bool complete) override { carried_out_ += complete ? 1 : -1; }
};

class PlanWorldTest : public ::testing::Test {
 protected:
  static Action create(const std::string& name) { return Action::create(kServices, Object(an_object(name))); }
  static Action patch(const std::string& name, Json body, Preconditions preconditions) {
    return Action::patch(kServices, {"default", name}, std::move(body), std::move(preconditions));
  }
  static Action remove(const ResourceType& type, const std::string& name, const std::string& uid) {
    return Action::remove(type, {"default", name}, {.uid = uid});
  }
  /// The code of the error; nullopt if it succeeded.
  std::optional<ErrorCode> code(const Action& action) {
    const Status status = world_.apply(action);
    return status ? std::nullopt : std::optional(status.error().code());
  }
  [[nodiscard]] std::string member(const std::string& service, const char* name) const {
    return string_at(world_.objects(kServices).at(service), {"metadata", name});
  }
  void refuse(const std::string& name) {
    world_.refuse([name](const Action& action) -> std::optional<Error> {
      if (action.key.name != name) return std::nullopt;
      return Error::of(ErrorCode::kForbidden, "exceeded quota");
    });
  }

  World world_;
};

TEST_F(PlanWorldTest, CreatesAnObjectOnce) {
  EXPECT_EQ(code(create("a")), std::nullopt);
  EXPECT_EQ(member("a", "uid"), "uid-1");
  EXPECT_EQ(code(create("a")), ErrorCode::kAlreadyExists);
  EXPECT_EQ(world_.writes(), 2U);
}

TEST_F(PlanWorldTest, PatchesTheObjectThatThePreconditionsName) {
  world_.add(kServices, an_object("a"));
  EXPECT_EQ(code(patch("b", {{"spec", 1}}, {.uid = "uid-1"})), ErrorCode::kNotFound);
  EXPECT_EQ(code(patch("a", {{"spec", 1}}, {})), ErrorCode::kConflict);
  EXPECT_EQ(code(patch("a", {{"spec", 1}}, {.uid = "uid-2"})), ErrorCode::kConflict);
  EXPECT_EQ(code(patch("a", {{"spec", 1}}, {.uid = "uid-1", .resource_version = "1"})), std::nullopt);
  EXPECT_EQ(code(patch("a", {{"spec", 2}}, {.uid = "uid-1", .resource_version = "1"})), ErrorCode::kConflict);
  EXPECT_EQ(world_.objects(kServices).at("a")["spec"], 1);
}

TEST_F(PlanWorldTest, KeepsTheVersionOfAnObjectThatAPatchDoesNotChange) {
  world_.add(kServices, an_object("a"));
  EXPECT_EQ(code(patch("a", Json::object(), {.uid = "uid-1"})), std::nullopt);
  EXPECT_EQ(member("a", "resourceVersion"), "1");
}

TEST_F(PlanWorldTest, PatchesAndDeletesTheReconciledObject) {
  const ObjectKey key{"default", "train"};
  const Preconditions uid{.uid = "uid-of-train"};
  EXPECT_EQ(code(Action::patch(kWidgets, key, {{"metadata", {{"finalizers", {"a"}}}}}, uid)), std::nullopt);
  EXPECT_EQ(code(Action::remove(kWidgets, key, uid)), std::nullopt);
  EXPECT_FALSE(world_.gone());
  EXPECT_EQ(code(Action::patch(kWidgets, key, {{"metadata", {{"finalizers", nullptr}}}}, uid)), std::nullopt);
  EXPECT_TRUE(world_.gone());
  EXPECT_EQ(code(Action::patch(kWidgets, key, {{"spec", 1}}, uid)), ErrorCode::kNotFound);
}

TEST_F(PlanWorldTest, DeletedPodsAndObjectsWithDependentsAreTerminating) {
  world_.add(kServices, an_object("a"));
  world_.add(kServices, an_object("b"));
  world_.add(kPods, an_object("c"));
  Action foreground = remove(kServices, "b", "uid-2");
  foreground.propagation = Propagation::kForeground;
  for (const Action& action : {remove(kServices, "a", "uid-1"), foreground, remove(kPods, "c", "uid-3")}) {
    EXPECT_EQ(code(action), std::nullopt);
  }
  EXPECT_THAT(world_.objects(kServices), ElementsAre(Key("b")));
  EXPECT_EQ(member("b", "deletionTimestamp"), "1970-01-01T00:00:00Z");
  EXPECT_THAT(world_.objects(kPods), ElementsAre(Key("c")));
  EXPECT_EQ(code(remove(kServices, "b", "uid-2")), std::nullopt) << "in the background, despite its dependents";
  EXPECT_TRUE(world_.objects(kServices).empty());
}

TEST_F(PlanWorldTest, CarriesOutStagesInOrderThenTheStatus) {
  Plan plan;
  plan.stages = {{.actions = {create("a"), create("b")}}, {.actions = {remove(kServices, "a", "uid-1")}}};
  plan.status = StatusPatch{{{"ready", 1}}};
  World cut = world_;
  EXPECT_FALSE(cut.carry_out(plan, 2));
  EXPECT_THAT(cut.objects(kServices), ElementsAre(Key("a"), Key("b")));
  cut = world_;
  EXPECT_FALSE(cut.carry_out(plan, 3)) << "the status is the fourth write";
  EXPECT_THAT(cut.objects(kServices), ElementsAre(Key("b")));
  EXPECT_EQ(cut.object().json().count("status"), 0U);
  EXPECT_TRUE(world_.carry_out(plan, 4));
  EXPECT_THAT(world_.objects(kServices), ElementsAre(Key("b")));
  EXPECT_EQ(world_.object().json()["status"]["ready"], 1);
  EXPECT_EQ(world_.last_failure(), std::nullopt);
}

TEST_F(PlanWorldTest, ARefusedActionHoldsBackTheRestOfThePlan) {
  Plan plan;
  plan.stages = {{.actions = {create("a"), create("b")}}, {.actions = {create("c")}}};
  plan.stages[0].actions[0].failure_reason = "FailedService";
  plan.status = StatusPatch{{{"ready", 1}}};
  refuse("a");
  World independent = world_;
  World going_on = world_;
  EXPECT_FALSE(world_.carry_out(plan));
  EXPECT_TRUE(world_.objects(kServices).empty());
  ASSERT_TRUE(world_.last_failure().has_value());
  EXPECT_EQ(world_.last_failure()->reason, "FailedService");
  EXPECT_THAT(world_.last_failure()->message, HasSubstr("exceeded quota"));

  plan.stages[0].independent = true;
  EXPECT_FALSE(independent.carry_out(plan));
  EXPECT_THAT(independent.objects(kServices), ElementsAre(Key("b")));

  plan.stages[0].continue_on_failure = true;
  EXPECT_FALSE(going_on.carry_out(plan));
  EXPECT_THAT(going_on.objects(kServices), ElementsAre(Key("b"), Key("c")));
  EXPECT_EQ(going_on.object().json().count("status"), 0U);

  plan.stages[0].actions[0].best_effort = true;
  EXPECT_TRUE(going_on.carry_out(plan));
}

TEST_F(PlanWorldTest, AnExecutorTakesOwnObjectsAsCreatedAndOtherUidsAsDeleted) {
  world_.add(kServices, an_object("a"));
  world_.add(kServices, an_object("b", "uid-of-another"));
  Plan plan;
  plan.stages = {{.actions = {create("a"), remove(kServices, "c", "uid-7"), remove(kServices, "b", "uid-7")}}};
  EXPECT_TRUE(world_.carry_out(plan));
  EXPECT_THAT(world_.objects(kServices), ElementsAre(Key("a"), Key("b")));

  plan.stages = {{.actions = {create("b"), create("c")}}};
  EXPECT_FALSE(world_.carry_out(plan));
  EXPECT_THAT(world_.objects(kServices), ElementsAre(Key("a"), Key("b"), Key("c"))) << "a taken name affects no others";
}

TEST_F(PlanWorldTest, APlanThatSucceedsForgetsTheFailureUnlessItKeepsIt) {
  refuse("a");
  world_.pass(std::chrono::seconds(7));
  world_.step();
  ASSERT_TRUE(world_.last_failure().has_value());
  EXPECT_EQ(world_.last_failure()->time, Timestamp(std::chrono::seconds(7)));
  Plan plan;
  plan.keeps_failure = true;
  EXPECT_TRUE(world_.carry_out(plan));
  EXPECT_TRUE(world_.last_failure().has_value());
  plan.keeps_failure = false;
  EXPECT_TRUE(world_.carry_out(plan));
  EXPECT_FALSE(world_.last_failure().has_value());
}

TEST_F(PlanWorldTest, CallsTheHooksOfWritesAndOfPlans) {
  Plan plan;
  plan.stages = {{.actions = {create("a"), patch("a", {{"spec", 1}}, {.uid = "uid-1"}),
                              patch("a", {{"spec", 2}}, {.uid = "uid-1"}), remove(kServices, "a", "uid-1")}}};
  EXPECT_TRUE(world_.carry_out(plan));
  EXPECT_THAT(world_.applied_, ElementsAre("a", "a was null", "a was 1", "a was 2"));
  EXPECT_EQ(world_.carried_out_, 1);
  EXPECT_FALSE(world_.carry_out(plan, 1));
  EXPECT_EQ(world_.carried_out_, 0);
}

TEST_F(PlanWorldTest, SettlesOnceAPlanWritesNothingAndNothingHappens) {
  EXPECT_EQ(world_.settle(), 2) << "a plan that creates all, and an empty one";
  EXPECT_THAT(world_.objects(kServices), ElementsAre(Key("a"), Key("b"), Key("c")));
  world_.add(kServices, an_object("d"));
  EXPECT_EQ(world_.settle(), 2) << "the first does nothing, but the service becomes ready";
  EXPECT_EQ(world_.settle(), 1);
}

}  // namespace
}  // namespace tpuslice::plan
