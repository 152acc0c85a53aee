// What the API server refuses of one plan does not hold back what other groups need.
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "controllers/leaderworkerset/labels.h"
#include "controllers/runtime/executor.h"
#include "tests/support/fake_api.h"
#include "tests/unit/controllers/leaderworkerset/world.h"

namespace tpuslice::leaderworkerset {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsSupersetOf;
using ::testing::Not;

/// Notes writes as "patch StatefulSet serve", "patch template of StatefulSet serve"; refuses some.
class RefusingWriter final : public client::Writer {
 public:
  explicit RefusingWriter(std::string refused) : refused_(std::move(refused)) {}

  Result<Object> create(const ResourceType& type, const Object& object, const client::CreateOptions& /*options*/,
                        std::stop_token /*stop*/) override {
    return note("create", type, object.key().name, object);
  }
  Result<Object> patch(const ResourceType& type, const ObjectKey& key, client::PatchType /*patch_type*/,
                       const Json& body, const client::PatchOptions& /*options*/, std::stop_token /*stop*/) override {
    const bool of_template = find_path(body, {"spec", "template"}) != nullptr;
    return note(of_template ? "patch template of" : "patch", type, key.name, Object(Json::object()));
  }
  Result<Object> update_status(const ResourceType& /*type*/, const ObjectKey& /*key*/, const Json& /*status*/,
                               client::PatchOptions /*options*/, std::stop_token /*stop*/) override {
    return Object(Json::object());
  }
  Result<Object> replace(const ResourceType& type, const Object& object, const client::CreateOptions& /*options*/,
                         std::stop_token /*stop*/) override {
    return note("replace", type, object.key().name, object);
  }
  Status remove(const ResourceType& type, const ObjectKey& key, const client::DeleteOptions& /*options*/,
                std::stop_token /*stop*/) override {
    const auto noted = note("delete", type, key.name, Object(Json::object()));
    return noted ? Status() : Status(noted.error());
  }

  std::vector<std::string> writes;

 private:
  Result<Object> note(const char* verb, const ResourceType& type, const std::string& name, const Object& object) {
    writes.push_back(fmt::format("{} {} {}", verb, type.kind, name));
    if (writes.back().starts_with(refused_)) return Error::of(ErrorCode::kForbidden, "denied by a policy");
    return object;
  }

  const std::string refused_;
};

class NoEvents final : public runtime::EventSink {
 public:
  void record(const plan::ObjectReference& /*regarding*/, const plan::EventIntent& /*event*/) override {}
};

/// The writes of the world's next plan, in order, if those that start with `refused` are refused.
std::vector<std::string> writes_with(World& world, const std::string& refused) {
  const plan::Plan plan = world.plan();
  testing::FakeApi reader;
  RefusingWriter writer(refused);
  NoEvents events;
  runtime::InlineParallel parallel;
  const runtime::Executor executor(reader, writer, parallel, events);
  const runtime::ExecutionReport report =
      executor.apply(plan,
                     {{kLeaderWorkerSets.api_version(), "LeaderWorkerSet", {"default", "serve"}, "uid-of-serve", {}},
                      kLeaderWorkerSets,
                      {}},
                     {});
  EXPECT_FALSE(report.ok()) << "the failure is reported, and planned again";
  return writer.writes;
}

void fail_group(World& world, int group) {
  world.change_pod(fmt::format("serve-{}-1", group), [](PodView& pod) { pod.restarted = true; });
}

const std::vector<std::string> kRestartOfGroup = {"patch StatefulSet serve", "delete StatefulSet serve-0",
                                                  "delete Pod serve-0", "delete Pod serve-0-1"};

TEST(RefusedRollout, DoesNotHoldBackARestart) {
  World serve = stable_world();
  serve.add_update("denied");
  fail_group(serve, 0);
  std::vector<std::string> expected = kRestartOfGroup;
  expected.emplace_back("patch template of StatefulSet serve");
  EXPECT_EQ(writes_with(serve, "patch template"), expected) << "the restart is recorded before it is done";
}

TEST(RefusedRevision, DoesNotHoldBackARestartButTheRollout) {
  World serve = stable_world();
  serve.change_set("/spec/leaderWorkerTemplate/workerTemplate/spec/containers/0/image", "another");
  fail_group(serve, 0);
  const std::vector<std::string> writes = writes_with(serve, "create ControllerRevision");
  EXPECT_THAT(writes, IsSupersetOf(kRestartOfGroup));
  EXPECT_THAT(writes, Not(Contains("patch template of StatefulSet serve"))) << "it would refer to the revision";
}

TEST(RefusedService, DoesNotHoldBackARestart) {
  World serve = stable_world();
  serve.seen().services.clear();
  fail_group(serve, 0);
  EXPECT_THAT(writes_with(serve, "create Service"), IsSupersetOf(kRestartOfGroup));
}

TEST(RefusedRecord, DoesNotHoldBackTheRestart) {
  World serve = stable_world();
  fail_group(serve, 0);
  EXPECT_EQ(writes_with(serve, "patch StatefulSet"), kRestartOfGroup);
}

TEST(RefusedDeletion, OfOnePodDoesNotHoldBackOtherGroups) {
  World serve(a_set("serve").replicas(3).size(2));
  static_cast<void>(serve.plan());
  serve.record_members();
  fail_group(serve, 0);
  fail_group(serve, 1);
  serve.drop_stateful_set("serve-2");
  EXPECT_THAT(writes_with(serve, "delete Pod serve-0"),
              ElementsAre("patch StatefulSet serve", "delete StatefulSet serve-0", "delete StatefulSet serve-1",
                          "delete Pod serve-0", "delete Pod serve-0-1", "delete Pod serve-1", "delete Pod serve-1-1",
                          "create StatefulSet serve-2"));
}

TEST(RefusedDeletion, OfOneWorkerSetDoesNotHoldBackPods) {
  World serve = stable_world();
  fail_group(serve, 0);
  EXPECT_EQ(writes_with(serve, "delete StatefulSet serve-0"), kRestartOfGroup);
}

}  // namespace
}  // namespace tpuslice::leaderworkerset
