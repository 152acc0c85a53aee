#include "controllers/runtime/executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <set>

#include "tests/unit/controllers/runtime/event_sinks.h"
#include "tests/unit/controllers/runtime/widgets.h"

namespace tpuslice::runtime {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

/// Records the size and limit of every batch.
class CountingParallel final : public Parallel {
 public:
  void run(std::size_t count, std::size_t limit, const std::function<void(std::size_t)>& task) override {
    batches.push_back(count);
    limits.push_back(limit);
    InlineParallel().run(count, limit, task);
  }
  std::vector<std::size_t> batches;
  std::vector<std::size_t> limits;
};

class ExecutorTest : public ::testing::Test {
 protected:
  ExecutorTest() : owner_(api_.put(kWidgets, widget("w"))) { api_.clear_calls(); }

  ExecutionReport apply(const plan::Plan& plan) { return executor_.apply(plan, target(), {}); }
  Target target() const {
    return {{kWidgets.api_version(), "Widget", owner_.key(), owner_.uid(), owner_.resource_version()},
            kWidgets,
            [status = plan::status_of(owner_)] { return status; }};
  }
  plan::Action create(const std::string& name) {
    plan::Action action = plan::Action::create(kPods, pod(name, &owner_));
    action.failure_reason = "FailedCreatePod";
    return action;
  }
  void fail_on(const std::string& call, Error error) {
    api_.fault = [call, error](const FakeApi::Call& actual) {
      return actual.text() == call ? std::optional<Error>(error) : std::nullopt;
    };
  }

  FakeApi api_;
  EventTexts events_;
  CountingParallel parallel_;
  FakeClock clock_;
  Metrics metrics_;
  const ExceptionBarrier barrier_{"executor", metrics_, clock_, Logger()};
  Executor executor_{api_, api_, parallel_, events_, barrier_};
  Object owner_;
};

plan::Plan plan_of(std::vector<plan::Stage> stages) {
  plan::Plan plan;
  plan.reason = "a test";
  plan.stages = std::move(stages);
  return plan;
}

TEST_F(ExecutorTest, RunsStagesInOrderAndStatusLast) {
  const Object old = api_.put(kPods, pod("old", &owner_));
  plan::Plan plan = plan_of({{{plan::Action::remove(kPods, old.key(), {.uid = old.uid()})}}, {{create("new")}}});
  plan.status = plan::StatusPatch{{{"ready", 1}}};
  const ExecutionReport report = apply(plan);
  EXPECT_TRUE(report.ok());
  EXPECT_THAT(api_.writes(), ElementsAre("delete default/old", "create default/new", "status default/w"));
  EXPECT_THAT(report.writes, SizeIs(3));
  EXPECT_TRUE(report.writes[0].deleted);
  EXPECT_EQ(report.writes[1].uid, api_.find(kPods, {"default", "new"})->uid());
  EXPECT_GT(report.writes[1].revision, 0U);
}

TEST_F(ExecutorTest, StartsCreatesSlowlyAndWithinTheLimit) {
  plan::Stage stage;
  for (int i = 0; i < 20; ++i) stage.actions.push_back(create("p" + std::to_string(i)));
  apply(plan_of({stage}));
  EXPECT_THAT(parallel_.batches, ElementsAre(1, 4, 15));
  EXPECT_THAT(parallel_.limits, ::testing::Each(16));
  EXPECT_THAT(api_.all(kPods), SizeIs(20));
}

TEST_F(ExecutorTest, SlowStartEndsAtTheLimit) {
  plan::Stage stage;
  for (int i = 0; i < 100; ++i) stage.actions.push_back(create("p" + std::to_string(i)));
  apply(plan_of({stage}));
  EXPECT_THAT(parallel_.batches, ElementsAre(1, 4, 95));
}

TEST_F(ExecutorTest, SendsFewerLargeBodiesAtATime) {
  plan::Stage stage;
  for (int i = 0; i < 5; ++i) {
    Json large = pod("p" + std::to_string(i), &owner_).json();
    large["metadata"]["annotations"]["data"] = std::string(200U << 10U, 'x');
    stage.actions.push_back(plan::Action::create(kPods, Object(std::move(large))));
  }
  apply(plan_of({stage}));
  EXPECT_THAT(parallel_.limits, ElementsAre(16, 10)) << "bodies have at most 2 MiB together";
}

TEST_F(ExecutorTest, BuildsABodyWhenItIsSent) {
  int builds = 0;
  const plan::Action later = plan::Action::create(kPods, {"default", "later"}, [&]() -> Result<Json> {
    ++builds;
    return pod("later", &owner_).json();
  });
  const plan::Plan plan = plan_of({{{later}}});
  EXPECT_EQ(builds, 0);
  EXPECT_TRUE(apply(plan).ok());
  EXPECT_EQ(builds, 1);
  EXPECT_TRUE(api_.find(kPods, {"default", "later"}));
  EXPECT_EQ(apply(plan).stages[0][0].outcome, Outcome::kAdopted);
  EXPECT_EQ(builds, 3) << "once more to compare it with the object that exists: it is not kept while it is sent";
}

TEST_F(ExecutorTest, ReportsABodyThatCannotBeBuilt) {
  plan::Action action = plan::Action::create(kPods, {"default", "a"},
                                             []() -> Result<Json> { return Error::invalid_argument("no container"); });
  action.failure_reason = "FailedCreatePod";
  const ExecutionReport report = apply(plan_of({{{action}}}));
  ASSERT_TRUE(report.failure);
  EXPECT_EQ(report.failure->message, "no container");
  EXPECT_THAT(api_.writes(), IsEmpty());
}

TEST_F(ExecutorTest, ReportsABodyThatThrows) {
  const ExecutionReport report = apply(plan_of({{{plan::Action::create(kPods, {"default", "a"}, []() -> Result<Json> {
    Json text = "text";
    text.push_back(1);
    return text;
  })}}}));
  ASSERT_TRUE(report.error.has_value());
  EXPECT_EQ(report.error->code(), ErrorCode::kDefect);
  EXPECT_THAT(report.error->message(), StartsWith("pods default/a: executor: exception: "));
  EXPECT_EQ(metrics_.counter("tpuslice_exceptions_total", "", {{"where", "executor"}}).value(), 1);
}

TEST_F(ExecutorTest, StopsAStageWhenItsFirstCreateFails) {
  api_.fault = [](const FakeApi::Call& call) -> std::optional<Error> {
    if (call.verb != "create") return std::nullopt;
    return Error::of(ErrorCode::kForbidden, "exceeded quota");
  };
  plan::Stage stage;
  for (int i = 0; i < 20; ++i) stage.actions.push_back(create("p" + std::to_string(i)));
  plan::Plan plan = plan_of({stage, {{create("later")}}});
  plan.status = plan::StatusPatch{{{"ready", 20}}};
  const ExecutionReport report = apply(plan);
  EXPECT_THAT(api_.writes(), ElementsAre("create default/p0"));
  ASSERT_TRUE(report.failure);
  EXPECT_EQ(report.failure->reason, "FailedCreatePod");
  EXPECT_THAT(report.failure->message, HasSubstr("exceeded quota"));
  EXPECT_EQ(report.stages[0][0].outcome, Outcome::kFailed);
  EXPECT_EQ(report.stages[0][1].outcome, Outcome::kSkipped);
  EXPECT_EQ(report.stages[1][0].outcome, Outcome::kSkipped);
  EXPECT_FALSE(report.status_written);
}

TEST_F(ExecutorTest, NamesTheServiceAccountThatAPodLacks) {
  fail_on("create default/a", Error::of(ErrorCode::kForbidden,
                                        "error looking up service account default/mine: serviceaccount \"mine\" not "
                                        "found"));
  const ExecutionReport report = apply(plan_of({{{create("a")}}}));
  ASSERT_TRUE(report.failure);
  EXPECT_EQ(report.failure->missing_service_account, "mine");
}

TEST_F(ExecutorTest, SaysThatTheNamespaceIsBeingDeleted) {
  fail_on("create default/a",
          Error::of(ErrorCode::kForbidden, "pods default/a is forbidden").with_reason("NamespaceTerminating"));
  EXPECT_TRUE(apply(plan_of({{{create("a")}}})).failure->namespace_terminating);
  fail_on("create default/a", Error::of(ErrorCode::kForbidden, "because it is being terminated"));
  EXPECT_FALSE(apply(plan_of({{{create("a")}}})).failure->namespace_terminating);
}

TEST_F(ExecutorTest, ReportsTheWritesBeforeAFailure) {
  fail_on("create default/c", Error::unavailable("connection reset"));
  const ExecutionReport report = apply(plan_of({{{create("a"), create("b"), create("c"), create("d")}}}));
  EXPECT_FALSE(report.ok());
  EXPECT_EQ(report.error->code(), ErrorCode::kUnavailable);
  EXPECT_THAT(report.writes, SizeIs(2));
}

TEST_F(ExecutorTest, AddsMissingLabelsToAnAdoptedObject) {
  Object old = pod("a", &owner_);
  old.mutable_json()["metadata"]["labels"] = {{"app", "old"}, {"team", "x"}};
  api_.put(kPods, old);
  Object wanted = pod("a", &owner_);
  wanted.mutable_json()["metadata"]["labels"] = {{"app", "new"}};
  plan::Plan plan;
  plan.stages.push_back({{plan::Action::create(kPods, wanted)}});
  const ExecutionReport report = apply(plan);
  EXPECT_EQ(report.stages[0][0].outcome, Outcome::kAdopted);
  EXPECT_EQ(api_.get(kPods, wanted.key(), {})->json()["metadata"]["labels"], Json({{"app", "new"}, {"team", "x"}}));
}

TEST_F(ExecutorTest, AdoptsAnObjectThatAnEarlierAttemptCreated) {
  api_.put(kPods, pod("a", &owner_));
  const ExecutionReport report = apply(plan_of({{{create("a")}}}));
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.stages[0][0].outcome, Outcome::kAdopted);
  EXPECT_THAT(report.writes, SizeIs(1));
}

plan::Action create_secret() {
  plan::Action action = plan::Action::create(
      kSecrets,
      Object({{"apiVersion", "v1"}, {"kind", "Secret"}, {"metadata", {{"name", "a"}, {"namespace", "default"}}}}));
  action.random_token = "token";
  return action;
}

TEST_F(ExecutorTest, GivesEachSecretATokenOfItsOwn) {
  std::set<std::string> tokens;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(apply(plan_of({{{create_secret()}}})).ok());
    const Object created = *api_.find(kSecrets, {"default", "a"});
    tokens.insert(created.json()["stringData"]["token"].get<std::string>());
    ASSERT_TRUE(api_.remove(kSecrets, created.key(), {}, {}).ok());
  }
  EXPECT_THAT(tokens, SizeIs(3));
}

TEST_F(ExecutorTest, UsesAnExistingSecretWithoutReadingIt) {
  Object other({{"apiVersion", "v1"}, {"kind", "Secret"}, {"metadata", {{"name", "a"}, {"namespace", "default"}}}});
  other.mutable_json()["stringData"]["token"] = "old";
  api_.put(kSecrets, other);
  const ExecutionReport report = apply(plan_of({{{create_secret()}}}));
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.stages[0][0].outcome, Outcome::kAdopted);
  EXPECT_THAT(report.writes, IsEmpty());
  for (const FakeApi::Call& call : api_.calls()) EXPECT_EQ(call.verb, "create");
  EXPECT_EQ(api_.find(kSecrets, {"default", "a"})->json()["stringData"]["token"], "old");
}

TEST_F(ExecutorTest, NamesTheOwnerOfAnExistingObject) {
  Object other = api_.put(kWidgets, widget("other"));
  api_.put(kPods, pod("a", &other));
  const ExecutionReport report = apply(plan_of({{{create("a")}}}));
  ASSERT_TRUE(report.error);
  EXPECT_EQ(report.error->code(), ErrorCode::kAlreadyExists);
  EXPECT_EQ(report.error->message(), "pods default/a already exists and is controlled by Widget other (uid " +
                                         other.uid() + "), not by Widget w: delete or rename one of them");
}

TEST_F(ExecutorTest, UsesAnExistingObjectOfAnotherOwnerIfAllowed) {
  const Object other = api_.put(kWidgets, widget("other"));
  for (const Object* owner : {&other, static_cast<const Object*>(nullptr)}) {
    const std::string name = owner == nullptr ? "without-owner" : "owned";
    const Object existing = api_.put(kPods, pod(name, owner));
    plan::Action action = create(name);
    action.use_existing = true;
    const ExecutionReport report = apply(plan_of({{{action}}, {{create("after-" + name)}}}));
    EXPECT_TRUE(report.ok()) << name;
    EXPECT_EQ(report.stages[0][0].outcome, Outcome::kAdopted) << name;
    EXPECT_THAT(report.writes, SizeIs(1)) << name << ": that of the next stage";
    EXPECT_EQ(api_.find(kPods, {"default", name})->json(), existing.json()) << name;
  }
}

TEST_F(ExecutorTest, ReturnsConflictWhileAPredecessorIsTerminating) {
  Object terminating = pod("a", &owner_);
  terminating.mutable_json()["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  api_.put(kPods, terminating);
  const ExecutionReport report = apply(plan_of({{{create("a")}}}));
  ASSERT_TRUE(report.error);
  EXPECT_EQ(report.error->code(), ErrorCode::kConflict);
  EXPECT_FALSE(report.failure);
}

TEST_F(ExecutorTest, ADeleteOfAnAbsentOrReplacedObjectSucceeds) {
  api_.put(kPods, pod("replaced", &owner_));
  const ExecutionReport report =
      apply(plan_of({{{plan::Action::remove(kPods, {"default", "absent"}, {.uid = "u1"}),
                       plan::Action::remove(kPods, {"default", "replaced"}, {.uid = "another"})}}}));
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.stages[0][0].outcome, Outcome::kNotFound);
  EXPECT_EQ(report.stages[0][1].outcome, Outcome::kNotFound);
  EXPECT_TRUE(api_.find(kPods, {"default", "replaced"})) << "the uid precondition protects the new object";
}

TEST_F(ExecutorTest, APatchOfAnAbsentOrReplacedObjectIsAConflict) {
  api_.put(kPods, pod("a", &owner_));
  for (const char* name : {"a", "absent"}) {
    const ExecutionReport report =
        apply(plan_of({{{plan::Action::patch(kPods, {"default", name}, {{"x", 1}}, {.uid = "another"})}}}));
    ASSERT_TRUE(report.error) << name;
    EXPECT_EQ(report.error->code(), ErrorCode::kConflict) << name;
    EXPECT_FALSE(report.failure) << name;
  }
  fail_on("patch default/a",
          Error::of(ErrorCode::kInvalid, "pod is invalid: field is immutable").with_fields({"metadata.uid"}));
  EXPECT_EQ(
      apply(plan_of({{{plan::Action::patch(kPods, {"default", "a"}, {{"x", 1}}, {.uid = "another"})}}})).error->code(),
      ErrorCode::kConflict);
}

TEST_F(ExecutorTest, DeletesInTheBackgroundByDefault) {
  plan::Stage stage;
  for (const char* name : {"a", "b", "c"}) {
    const Object child = api_.put(kPods, pod(name, &owner_));
    stage.actions.push_back(plan::Action::remove(kPods, child.key(), {.uid = child.uid()}));
  }
  stage.actions[1].propagation = plan::Propagation::kForeground;
  stage.actions[2].propagation = plan::Propagation::kBackground;
  EXPECT_TRUE(apply(plan_of({stage})).ok());
  std::vector<std::string> policies;
  for (const FakeApi::Call& call : api_.calls()) policies.push_back(call.body);
  EXPECT_THAT(policies, ElementsAre("Background", "Foreground", "Background"));
}

TEST_F(ExecutorTest, PatchesTheStatusOfAnotherObject) {
  const Object child = api_.put(kPods, pod("a", &owner_));
  plan::Action status = plan::Action::patch(kPods, child.key(), {{"status", {{"message", "m"}}}}, {.uid = child.uid()});
  status.subresource = "status";
  const ExecutionReport report = apply(plan_of({{{status}}}));
  EXPECT_TRUE(report.ok());
  EXPECT_THAT(api_.writes(), ElementsAre("status default/a"));
  const Object patched = *api_.find(kPods, child.key());
  EXPECT_EQ(patched.json()["status"]["message"], "m");
  EXPECT_FALSE(report.status_written) << "status_written is about the reconciled object";

  // The ledger waits for it as for any other patch.
  ASSERT_THAT(report.writes, SizeIs(1));
  EXPECT_EQ(report.writes[0].uid, child.uid());
  EXPECT_EQ(std::to_string(report.writes[0].revision), patched.resource_version());
  PodStore pods(kPods);
  pods.replace({PodView::from_json(child.json()).value()}, revision_of(child.resource_version()));
  WriteLedger ledger;
  ledger.add_store(pods);
  ledger.record(owner_.key(), report.writes, {});
  EXPECT_FALSE(ledger.satisfied(owner_.key(), {}));
  pods.put(PodView::from_json(patched.json()).value());
  EXPECT_TRUE(ledger.satisfied(owner_.key(), {}));
}

TEST_F(ExecutorTest, ErrorsNameTheSubresource) {
  const Object child = api_.put(kPods, pod("a", &owner_));
  plan::Action status = plan::Action::patch(kPods, child.key(), {{"status", {{"message", "m"}}}}, {.uid = "another"});
  status.subresource = "status";
  const ExecutionReport report = apply(plan_of({{{status}}}));
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error->code(), ErrorCode::kConflict);
  EXPECT_THAT(report.error->message(), HasSubstr("pods/status default/a has changed"));
}

TEST_F(ExecutorTest, WritesTheStatusOnlyIfItDiffers) {
  owner_.mutable_json()["status"] = {{"ready", 1}, {"old", 1}, {"same", {{"a", 1}}}};
  owner_ = api_.put(kWidgets, owner_);
  plan::Plan plan;
  plan.status = plan::StatusPatch{owner_.json()["status"]};
  EXPECT_FALSE(apply(plan).status_written);
  EXPECT_THAT(api_.writes(), IsEmpty());

  plan.status = plan::StatusPatch{{{"ready", 2}, {"same", {{"a", 1}}}}};
  EXPECT_TRUE(apply(plan).status_written);
  EXPECT_EQ(api_.calls().back().body, Json({{"status", {{"ready", 2}, {"old", nullptr}}}}));
  EXPECT_EQ(api_.find(kWidgets, owner_.key())->json()["status"], plan.status->status);
}

TEST_F(ExecutorTest, DoesNotWriteTheStatusOfARecreatedObject) {
  const Target old = target();
  ASSERT_TRUE(api_.remove(kWidgets, owner_.key(), {}, {}).ok());
  api_.put(kWidgets, widget("w"));
  plan::Plan plan;
  plan.status = plan::StatusPatch{{{"ready", 2}}};
  const ExecutionReport report = executor_.apply(plan, old, {});
  ASSERT_TRUE(report.error);
  EXPECT_EQ(report.error->code(), ErrorCode::kConflict);
}

/// Regression: a condition that another controller had added meanwhile was removed.
TEST_F(ExecutorTest, DoesNotReplaceAListOfTheStatusThatAnotherHasChanged) {
  const Target seen = target();
  Object theirs = owner_;
  theirs.mutable_json()["status"]["conditions"] = {{{"type", "example.com/Theirs"}}};
  theirs = api_.put(kWidgets, theirs);
  plan::Plan plan;
  plan.status = plan::StatusPatch{{{"nested", {{"conditions", {{{"type", "Ours"}}}}}}}};
  const ExecutionReport report = executor_.apply(plan, seen, {});
  ASSERT_TRUE(report.error);
  EXPECT_EQ(report.error->code(), ErrorCode::kConflict);
  EXPECT_EQ(*api_.find(kWidgets, owner_.key()), theirs);

  plan.status = plan::StatusPatch{{{"ready", 2}}};
  EXPECT_TRUE(executor_.apply(plan, seen, {}).status_written) << "nothing of others is replaced";
}

TEST_F(ExecutorTest, WritesTheStatusAfterItsOwnPatchOfTheObject) {
  plan::Plan plan = plan_of({{{plan::Action::patch(kWidgets, owner_.key(), {{"metadata", {{"finalizers", {"a"}}}}},
                                                   {owner_.uid(), owner_.resource_version()})}}});
  plan.status = plan::StatusPatch{{{"conditions", {{{"type", "Ours"}}}}}};
  EXPECT_TRUE(apply(plan).status_written);
}

TEST_F(ExecutorTest, ContinuesWithIndependentActionsAfterAFailure) {
  fail_on("create default/b", Error::of(ErrorCode::kForbidden, "exceeded quota"));
  plan::Plan plan = plan_of({{{create("a"), create("b"), create("c")}, true}, {{create("later")}}});
  const ExecutionReport report = apply(plan);
  EXPECT_FALSE(report.ok());
  EXPECT_THAT(api_.writes(), ElementsAre("create default/a", "create default/b", "create default/c"));
  EXPECT_EQ(report.stages[0][1].outcome, Outcome::kFailed);
  EXPECT_EQ(report.stages[0][2].outcome, Outcome::kDone);
  EXPECT_EQ(report.stages[1][0].outcome, Outcome::kSkipped) << "the next stage depends on all of this one";
}

TEST_F(ExecutorTest, EmitsAnEventAboutItsRegardingObject) {
  plan::Plan plan = plan_of({});
  plan::EventIntent event{plan::EventType::kNormal, "Created", "", "message"};
  event.regarding = plan::ObjectReference{"v1", "Pod", {"default", "other"}, "u", {}};
  plan.events.push_back(event);
  apply(plan);
  EXPECT_THAT(events_.seen, ElementsAre("other Created: message"));
}

TEST_F(ExecutorTest, SendsNothingAfterStop) {
  std::stop_source stop;
  api_.on_write = [&](const FakeApi::Call& call, const std::stop_token&) {
    if (call.key.name == "b") stop.request_stop();
  };
  const ExecutionReport report =
      executor_.apply(plan_of({{{create("a"), create("b"), create("c")}}}), target(), stop.get_token());
  ASSERT_TRUE(report.error);
  EXPECT_EQ(report.error->code(), ErrorCode::kCancelled);
  EXPECT_FALSE(report.failure);
  EXPECT_THAT(api_.writes(), ElementsAre("create default/a", "create default/b"));
}

TEST(ThreadPool, RunsEachTaskOnceWithinTheLimitForManyCallers) {
  ThreadPool pool(4);
  std::vector<std::jthread> callers;
  std::atomic<int> ran = 0;
  std::atomic<int> over_limit = 0;
  for (int c = 0; c < 3; ++c) {
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        std::atomic<int> running = 0;
        pool.run(20, 3, [&](std::size_t) {
          if (++running > 3) ++over_limit;
          ++ran;
          --running;
        });
      }
    });
  }
  callers.clear();
  EXPECT_EQ(ran, 3 * 50 * 20);
  EXPECT_EQ(over_limit, 0);
}

}  // namespace
}  // namespace tpuslice::runtime
