#include "controllers/runtime/watch/watch_sink.h"

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "tests/support/error_matchers.h"
#include "tests/unit/controllers/runtime/widgets.h"
#include "tpu/chips.h"

namespace tpuslice::runtime {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::size_t kSinkBudget = 1U << 20U;
/// A third of what one namespace may have for new objects.
constexpr std::size_t kPart = kSinkBudget * 2 / 9 - 1000;

std::string sized_object(const std::string& namespace_name, const std::string& name, std::size_t size,
                         int version = 1) {
  const std::string head =
      fmt::format(R"({{"metadata":{{"name":"{}","namespace":"{}","uid":"{}","resourceVersion":"{}")", name,
                  namespace_name, name, version);
  return fmt::format(R"({}}},"data":"{}"}})", head, std::string(size - head.size() - 12, 'x'));
}

class Sink : public ::testing::Test {
 protected:
  /// "a/1", "a/2 (minimal)"
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& view : store_.list()) out.push_back(view->key.to_string() + (view->minimal ? " (minimal)" : ""));
    return out;
  }
  void list(const std::vector<std::string>& objects) {
    sink_.begin();
    for (const std::string& each : objects) {
      if (!sink_.stage(each)) ++refused_;
    }
    sink_.commit(1);
  }
  [[nodiscard]] std::size_t counted() const {
    std::size_t bytes = 0;
    for (const auto& view : store_.list()) bytes += view->footprint.bytes;
    return bytes;
  }

  const KeptKeys annotations_;
  MemoryBudget budget_{kSinkBudget};
  Metrics metrics_;
  ObjectStore store_{kWidgets};
  StoreSink<ObjectView> sink_{store_, annotations_, &budget_, store_metrics(metrics_, {"widgets", "", ""})};
  int refused_ = 0;
};

TEST_F(Sink, KeepsMinimalViewsOfObjectsThatTheirNamespaceHasNoRoomFor) {
  list({sized_object("a", "1", kPart), sized_object("a", "2", kPart), sized_object("a", "3", kPart),
        sized_object("a", "4", kPart), sized_object("b", "1", 50'000)});
  EXPECT_THAT(names(), ElementsAre("a/1", "a/2", "a/3", "a/4 (minimal)", "b/1"));
  EXPECT_EQ(refused_, 1);
  const auto minimal = store_.get({"a", "4"});
  EXPECT_THAT(minimal->text, IsEmpty());
  EXPECT_EQ(minimal->uid, "4");
  EXPECT_EQ(minimal->resource_version, "1");
  EXPECT_EQ(minimal->object().name(), "4");
  const Status put = sink_.put(sized_object("a", "5", kPart));
  ASSERT_THAT(put,
              IsError(ErrorCode::kInvalidArgument,
                      AllOf(HasSubstr("Widget a/5 takes 22"), HasSubstr("but the objects of namespace a have 68"),
                            HasSubstr("of the budget of 1024 KiB, so only its name and owner are kept; delete some"),
                            HasSubstr("--memory-budget"))));
  EXPECT_EQ(put.error().reason(), kOverMemoryBudget);
  EXPECT_TRUE(sink_.put(sized_object("b", "2", 50'000)).ok());
}

TEST_F(Sink, CountsWhatTheStoreHasAndNothingElse) {
  list({sized_object("a", "1", kPart), sized_object("a", "2", kPart), sized_object("a", "3", 2 * kPart)});
  EXPECT_EQ(budget_.used(), counted());
  EXPECT_TRUE(sink_.put(sized_object("a", "1", 1000, 2)).ok());
  EXPECT_TRUE(sink_.put(sized_object("b", "1", 1000, 2)).ok());
  EXPECT_EQ(budget_.used(), counted());
  EXPECT_THAT(sink_.put(sized_object("a", "1", 3 * kPart, 3)), IsError(ErrorCode::kInvalidArgument));
  EXPECT_EQ(budget_.used(), counted());
  list({sized_object("a", "2", kPart, 7), sized_object("b", "1", 1000, 2), sized_object("c", "1", 1000)});
  EXPECT_EQ(budget_.used(), counted());
  sink_.begin();
  ASSERT_TRUE(sink_.stage(sized_object("c", "2", 1000)).ok());
  ASSERT_TRUE(sink_.stage(sized_object("c", "2", 2000, 2)).ok());
  ASSERT_TRUE(sink_.stage(sized_object("c", "1", 1000)).ok());
  EXPECT_GT(budget_.used(), counted()) << "what is staged";
  sink_.unstage({"c", "2"});
  EXPECT_EQ(budget_.used(), counted());
  ASSERT_TRUE(sink_.stage(sized_object("c", "2", 1000)).ok());
  sink_.begin();  // The list broke off.
  EXPECT_EQ(budget_.used(), counted());
  sink_.erase({"a", "2"}, 9);
  sink_.erase({"a", "never"}, 9);
  EXPECT_EQ(budget_.used(), counted());
  EXPECT_THAT(metrics_.scrape(), HasSubstr(fmt::format("resource=\"widgets\"}} {}\n", counted())));
  list({});
  EXPECT_EQ(budget_.used(), 0U);
}

TEST_F(Sink, AStagedObjectIsNewerThanTheStoredOne) {
  list({sized_object("a", "1", 1000)});
  sink_.begin();
  ASSERT_TRUE(sink_.stage(sized_object("a", "1", 1200, 2)).ok());
  ASSERT_THAT(sink_.stage(R"({"metadata":{"name":"1","namespace":"a"}})"), IsError(ErrorCode::kInvalidArgument))
      << "it has no uid";
  sink_.commit(2);
  EXPECT_EQ(store_.get({"a", "1"})->text.size(), 1200);
}

TEST_F(Sink, KeepsWhatTheStoreHasOfAnObjectWithoutUid) {
  list({sized_object("a", "1", 1000)});
  EXPECT_THAT(sink_.put(R"({"metadata":{"name":"1","namespace":"a"}})"), IsError(ErrorCode::kInvalidArgument));
  list({R"({"metadata":{"name":"1","namespace":"a"}})"});
  EXPECT_THAT(names(), ElementsAre("a/1"));
}

TEST_F(Sink, KeepsAMinimalViewOfAnObjectThatCannotBeDecoded) {
  const std::string too_deep = fmt::format(R"({{"metadata":{{"name":"1","namespace":"a","uid":"u"}},"spec":{}{}}})",
                                           std::string(200, '['), std::string(200, ']'));
  const Status put = sink_.put(too_deep);
  ASSERT_THAT(put, IsError(ErrorCode::kInvalidArgument));
  EXPECT_NE(put.error().reason(), kOverMemoryBudget);
  EXPECT_THAT(names(), ElementsAre("a/1 (minimal)"));
  EXPECT_FALSE(sink_.fits_again()) << "a relist would not help";
  EXPECT_THAT(metrics_.scrape(),
              HasSubstr("tpuslice_store_minimal_objects{label_selector=\"\",resource=\"widgets\"} 1\n"));
  EXPECT_TRUE(sink_.put(sized_object("a", "1", 1000, 2)).ok());
  EXPECT_THAT(names(), ElementsAre("a/1"));
  EXPECT_THAT(metrics_.scrape(),
              HasSubstr("tpuslice_store_minimal_objects{label_selector=\"\",resource=\"widgets\"} 0\n"));
}

TEST_F(Sink, StagesMetadataOfAnObjectThatCannotBeRead) {
  list({sized_object("a", "1", 1000)});
  sink_.begin();
  EXPECT_TRUE(sink_
                  .stage_metadata(R"({"kind":"PartialObjectMetadata","metadata":
      {"name":"1","namespace":"a","uid":"1","resourceVersion":"1"}})")
                  .ok());
  EXPECT_THAT(sink_.stage_metadata(R"({"metadata":{}})"), IsError(ErrorCode::kInvalidArgument));
  sink_.commit(2);
  EXPECT_THAT(names(), ElementsAre("a/1 (minimal)")) << "of the same version, too";
}

TEST_F(Sink, LetsKnownObjectsGrowBeyondTheRoomForNewOnes) {
  list({sized_object("a", "1", kPart), sized_object("a", "2", kPart), sized_object("a", "3", kPart)});
  EXPECT_THAT(sink_.put(sized_object("a", "4", 40'000)), IsError(ErrorCode::kInvalidArgument));
  EXPECT_TRUE(sink_.put(sized_object("a", "1", kPart + 40'000, 2)).ok());
  EXPECT_THAT(sink_.put(sized_object("a", "2", kPart + 40'000, 2)), IsError(ErrorCode::kInvalidArgument));
  EXPECT_THAT(names(), ElementsAre("a/1", "a/2 (minimal)", "a/3", "a/4 (minimal)"));
  EXPECT_EQ(store_.get({"a", "2"})->resource_version, "2") << "nothing of an old version is kept";
}

TEST_F(Sink, SaysWhenThereIsRoomAgain) {
  list({sized_object("a", "1", 2 * kPart), sized_object("a", "2", kPart)});
  EXPECT_FALSE(sink_.fits_again()) << "nothing was refused";
  EXPECT_THAT(sink_.put(sized_object("a", "3", kPart)), IsError(ErrorCode::kInvalidArgument));
  EXPECT_FALSE(sink_.fits_again());
  sink_.erase({"b", "1"}, 2);
  EXPECT_FALSE(sink_.fits_again()) << "of another namespace";
  sink_.erase({"a", "1"}, 3);
  EXPECT_TRUE(sink_.fits_again());
  list({sized_object("a", "2", kPart), sized_object("a", "3", kPart)});
  EXPECT_THAT(names(), ElementsAre("a/2", "a/3")) << "read again, though its version is the same";
  EXPECT_FALSE(sink_.fits_again());
}

TEST_F(Sink, DoesNotRelistForAnObjectThatWouldBeRefusedAgain) {
  list({sized_object("a", "1", 2 * kPart), sized_object("a", "2", kPart)});
  EXPECT_THAT(sink_.put(sized_object("a", "1", 4 * kPart, 2)), IsError(ErrorCode::kInvalidArgument));
  EXPECT_THAT(names(), ElementsAre("a/1 (minimal)", "a/2"));
  EXPECT_FALSE(sink_.fits_again()) << "it does not fit in place of its own minimal view";
}

TEST_F(Sink, StagesUnchangedObjectsWithoutRoom) {
  list({sized_object("a", "1", kPart), sized_object("a", "2", kPart), sized_object("a", "3", kPart)});
  const auto before = store_.get({"a", "1"});
  list({sized_object("a", "1", kPart), sized_object("a", "2", kPart), sized_object("a", "3", kPart)});
  EXPECT_EQ(store_.get({"a", "1"}), before);
  EXPECT_EQ(refused_, 0);
}

/// Regression: each object counted twice, so that they became minimal beyond a third of the budget.
TEST_F(Sink, StagesChangedObjectsInThePlaceOfStoredOnes) {
  const auto objects = [](int version) {
    return std::vector<std::string>{sized_object("a", "1", kPart, version), sized_object("a", "2", kPart, version),
                                    sized_object("a", "3", kPart, version)};
  };
  list(objects(1));
  const std::size_t used = budget_.used();
  list(objects(2));
  EXPECT_THAT(names(), ElementsAre("a/1", "a/2", "a/3"));
  EXPECT_EQ(store_.get({"a", "1"})->resource_version, "2");
  EXPECT_EQ(refused_, 0);
  EXPECT_EQ(budget_.used(), used);
  EXPECT_EQ(budget_.used(), counted());
}

TEST_F(Sink, CountsTheLargerVersionWhileAListIsRead) {
  list({sized_object("a", "1", 2000), sized_object("a", "2", 1000)});
  const std::size_t used = counted();
  sink_.begin();
  ASSERT_TRUE(sink_.stage(sized_object("a", "1", 1000, 2)).ok());
  EXPECT_EQ(budget_.used(), used) << "the list may break off";
  ASSERT_TRUE(sink_.stage(sized_object("a", "2", 2000, 2)).ok());
  EXPECT_GT(budget_.used(), used);
  sink_.unstage({"a", "2"});
  EXPECT_EQ(budget_.used(), used);
  sink_.begin();
  EXPECT_EQ(budget_.used(), used);
  ASSERT_TRUE(sink_.stage(sized_object("a", "1", 1000, 2)).ok());
  ASSERT_TRUE(sink_.stage(sized_object("a", "2", 2000, 2)).ok());
  sink_.commit(2);
  EXPECT_EQ(budget_.used(), counted());
}

/// An object of a kind whose decoding has a defect.
struct FragileView {
  ObjectKey key;
  std::string uid;
  std::string resource_version;
  std::optional<Timestamp> deletion;
  std::optional<ControllerRef> controller;
  bool minimal = false;

  static Result<FragileView> decode(std::string_view json, const KeptKeys* keep) {
    if (json.find("fragile") != std::string_view::npos) throw std::runtime_error("a defect");
    return decode_minimal(json, keep);
  }
  static Result<FragileView> decode_minimal(std::string_view json, const KeptKeys* keep) {
    ASSIGN_OR_RETURN(const ObjectView view, ObjectView::decode_minimal(json, keep));
    return FragileView{view.key, view.uid, view.resource_version, view.deletion, view.controller, true};
  }
  friend bool operator==(const FragileView&, const FragileView&) = default;
};

/// Regression: such an exception was in no metric.
TEST(AnExceptionOfDecoding, IsCountedAndCostsTheWholeViewOfOneObject) {
  FakeClock clock;
  Metrics metrics;
  std::vector<std::string> lines;
  LogOptions log;
  log.sink = [&](std::string_view line) { lines.emplace_back(line); };
  const ExceptionBarrier barrier("store", metrics, clock, Logger(log));
  Store<FragileView> store(kWidgets);
  store.shield_with(barrier);
  const KeptKeys annotations;
  StoreSink<FragileView> sink(store, annotations);
  const Status put = sink.put(sized_object("a", "fragile", 1000));
  EXPECT_THAT(put, IsError(ErrorCode::kInvalidArgument, HasSubstr("a defect")));
  sink.begin();
  EXPECT_THAT(sink.stage(sized_object("a", "fragile", 1000)), IsError(ErrorCode::kInvalidArgument));
  EXPECT_TRUE(sink.stage(sized_object("a", "other", 1000)).ok());
  sink.commit(1);
  EXPECT_EQ(store.size(), 2U);
  EXPECT_EQ(metrics.counter("tpuslice_exceptions_total", "", {{"where", "store"}}).value(), 2);
  EXPECT_THAT(lines, ElementsAre(HasSubstr("a defect")));
}

// What two namespaces can store.

/// Keys and values of labels or annotations.
std::string many_texts(std::string_view prefix, int count, std::size_t length) {
  std::string out;
  for (int i = 0; i < count; ++i) {
    out += fmt::format(R"({}"{}text-{}":"{}")", i == 0 ? "" : ",", prefix, i, std::string(length, 'v'));
  }
  return out;
}

std::string suspended_job(const std::string& namespace_name, int number) {
  return fmt::format(
      R"({{"metadata":{{"name":"suspended-{0}","namespace":"{1}","uid":"uid-{1}-{0}","labels":{{{2}}},"annotations":{{{3}}}}},
      "spec":{{"suspend":true,"template":{{"spec":{{"nodeSelector":{{"a":"{4}"}}}}}}}}}})",
      number, namespace_name, many_texts(fmt::format("kept.dev/{}-", number), 100, 63),
      many_texts("kept.dev/", 4, 4000), std::string(1000, 'n'));
}

TEST(ManyStores, ShareOneBudgetFairlyByNamespace) {
  constexpr std::size_t kBytes = 8U << 20U;
  const KeptKeys annotations{"kept.dev/"};
  MemoryBudget budget(kBytes);
  ObjectStore widgets{kWidgets};
  ObjectStore roles{kRoles};
  JobStore jobs{kJobs};
  ServiceStore services{kServices};
  StoreSink<ObjectView> of_widgets(widgets, annotations, &budget);
  StoreSink<ObjectView> of_roles(roles, annotations, &budget);
  StoreSink<JobView> of_jobs(jobs, annotations, &budget);
  StoreSink<ServiceView> of_services(services, annotations, &budget);
  for (WatchSink* sink : std::initializer_list<WatchSink*>{&of_widgets, &of_roles, &of_jobs, &of_services})
    sink->begin();
  for (int i = 0; i < 60; ++i) {
    for (const std::string space : {"attacker-1", "attacker-2"}) {
      (void)of_widgets.stage(sized_object(space, fmt::format("w{}", i), 300'000));
      (void)of_roles.stage(sized_object(space, fmt::format("r{}", i), 100'000));
      (void)of_jobs.stage(suspended_job(space, i));
      (void)of_services.stage(
          fmt::format(R"({{"metadata":{{"name":"s{}","namespace":"{}","uid":"u{}"}},"spec":{{"selector":{{{}}}}}}})", i,
                      space, i, many_texts(fmt::format("s{}-", i), 200, 63)));
    }
  }
  EXPECT_LT(budget.used(), kBytes);
  EXPECT_GT(budget.used(), kBytes / 2);
  EXPECT_EQ(jobs.size(), 0U) << "nothing is visible before the lists are complete";
  EXPECT_TRUE(of_widgets.stage(sized_object("victim", "jobset", 20'000)).ok()) << "as after a restart";
  EXPECT_TRUE(of_jobs.stage(suspended_job("victim", 1)).ok());
  for (WatchSink* sink : std::initializer_list<WatchSink*>{&of_widgets, &of_roles, &of_jobs, &of_services}) {
    sink->commit(1);
  }
  EXPECT_EQ(jobs.size(), 121U) << "all exist, most as minimal views";
  EXPECT_LT(budget.used(), kBytes);
  EXPECT_TRUE(of_jobs.put(suspended_job("victim", 2)).ok());
}

TEST(ManyStores, AreBoundedWhateverTheNumberOfObjects) {
  const KeptKeys annotations;
  MemoryBudget budget(kSinkBudget);
  JobStore jobs{kJobs};
  StoreSink<JobView> sink(jobs, annotations, &budget);
  Status last;
  for (int i = 0; i < 5000; ++i) {
    last = sink.put(fmt::format(R"({{"metadata":{{"name":"j{}","namespace":"a","uid":"u{}"}}}})", i, i));
  }
  EXPECT_LT(budget.used(), kSinkBudget);
  EXPECT_LT(jobs.size(), 5000U);
  EXPECT_THAT(last, IsError(ErrorCode::kInvalidArgument, HasSubstr("nothing of it is kept")));
  EXPECT_TRUE(sink.put(R"({"metadata":{"name":"j","namespace":"b","uid":"u"}})").ok());
}

// Pods.

std::string tpu_pod_json(const std::string& name, const std::string& phase, const std::string& labels) {
  return fmt::format(
      R"({{"metadata":{{"name":"{}","namespace":"a","uid":"u","labels":{{"tpuslice.dev/slice":"train"{}}}}},
      "spec":{{"nodeName":"node-1","containers":[{{"resources":{{"limits":{{"google.com/tpu":"4"}}}}}}]}},
      "status":{{"phase":"{}"}}}})",
      name, labels.empty() ? "" : "," + labels, phase);
}

TEST(PodsInStores, AreWholeWithMoreLabelsThanAnyoneReads) {
  const KeptKeys annotations{"tpuslice.dev/", "google.com/tpu"};
  PodStore store(kPods);
  StoreSink<PodView> sink(store, annotations);
  ASSERT_TRUE(sink.put(tpu_pod_json("train-0", "Running", many_texts("example.com/", 513, 10))).ok());
  const auto pod = store.get({"a", "train-0"});
  EXPECT_FALSE(pod->minimal);
  EXPECT_EQ(pod->node_name, "node-1");
  EXPECT_EQ(pod->labels.size(), 1U) << "labels that nothing reads are not kept";
  ASSERT_TRUE(sink.put(tpu_pod_json("train-0", "Succeeded", many_texts("example.com/", 2000, 10))).ok());
  EXPECT_TRUE(store.get({"a", "train-0"})->finished()) << "it is not frozen as it was last seen";
}

TEST(PodsInStores, ThatUseANodeAreKeptWithoutRoom) {
  const KeptKeys annotations{"tpuslice.dev/", "google.com/tpu"};
  MemoryBudget budget(1000);
  PodStore store(kPods);
  StoreSink<PodView> sink(store, annotations, &budget);
  EXPECT_THAT(sink.put(tpu_pod_json("train-0", "Running", {})), IsError(ErrorCode::kInvalidArgument));
  const auto pod = store.get({"a", "train-0"});
  ASSERT_NE(pod, nullptr);
  EXPECT_TRUE(pod->minimal);
  EXPECT_EQ(tpu::chips_of(*pod), 4);
  EXPECT_THAT(sink.put(tpu_pod_json("train-1", "Succeeded", {})), IsError(ErrorCode::kInvalidArgument));
  EXPECT_EQ(store.get({"a", "train-1"}), nullptr) << "it uses no node";
}

// Nodes.

std::string node_json(const std::string& chips) {
  return fmt::format(R"({{"metadata":{{"name":"n","uid":"u","labels":{{"pool":"a"}}}},
      "status":{{"allocatable":{{"google.com/tpu":"{}"}},"conditions":[{{"type":"Ready","status":"True"}}]}}}})",
                     chips);
}

TEST(NodesInStores, AreNotShownAsTheyWereOnceTheyCannotBeRead) {
  const KeptKeys annotations{"tpuslice.dev/", "google.com/tpu"};
  MemoryBudget budget(1);
  NodeStore store(kNodes);
  StoreSink<NodeView> sink(store, annotations, &budget);
  ASSERT_TRUE(sink.put(node_json("4")).ok()) << "whatever the budget";
  EXPECT_THAT(sink.put(node_json("many")), IsError(ErrorCode::kInvalidArgument));
  auto node = store.get({"", "n"});
  EXPECT_TRUE(node->minimal);
  EXPECT_FALSE(node->ready);
  EXPECT_EQ(node->labels.size(), 1U);
  ASSERT_TRUE(sink.put(node_json("4")).ok());
  sink.begin();
  EXPECT_THAT(sink.stage(node_json("many")), IsError(ErrorCode::kInvalidArgument));
  sink.commit(2);
  node = store.get({"", "n"});
  ASSERT_NE(node, nullptr);
  EXPECT_TRUE(node->minimal);
}

TEST(PodsInStores, KeepTheirNodeWhenOnlyTheirMetadataCanBeRead) {
  const KeptKeys annotations{"tpuslice.dev/", "google.com/tpu"};
  PodStore store(kPods);
  StoreSink<PodView> sink(store, annotations);
  ASSERT_TRUE(sink.put(tpu_pod_json("train-0", "Running", {})).ok());
  sink.begin();
  ASSERT_TRUE(sink.stage_metadata(R"({"metadata":{"name":"train-0","namespace":"a","uid":"u"}})").ok());
  sink.commit(2);
  const auto pod = store.get({"a", "train-0"});
  EXPECT_TRUE(pod->minimal);
  EXPECT_EQ(pod->node_name, "node-1");
  EXPECT_EQ(tpu::chips_of(*pod), 4);
}

/// The sinks of two namespaces of one store.
class TwoSinks : public Sink {
 protected:
  void list(StoreSink<ObjectView>& sink, const std::vector<std::string>& objects) {
    sink.begin();
    for (const std::string& each : objects) EXPECT_TRUE(sink.stage(each).ok());
    sink.commit(++revision_);
  }
  [[nodiscard]] std::vector<std::string> keys() const {
    std::vector<std::string> out;
    for (const auto& view : both_.list()) out.push_back(view->key.to_string());
    return out;
  }
  [[nodiscard]] std::size_t bytes(const std::string& name, const std::string& space) const {
    const auto view = both_.get({space, name});
    return view == nullptr ? 0 : view->footprint.bytes;
  }

  ObjectStore both_{kWidgets, {"a", "b"}};
  StoreSink<ObjectView> a_{both_, annotations_, &budget_, store_metrics(metrics_, {"widgets", "", "a"}), "a"};
  StoreSink<ObjectView> b_{both_, annotations_, &budget_, store_metrics(metrics_, {"widgets", "", "b"}), "b"};
  std::uint64_t revision_ = 0;
};

TEST_F(TwoSinks, ARelistOfOneNamespaceKeepsTheObjectsOfTheOtherAndTheirBytes) {
  list(a_, {sized_object("a", "1", 500), sized_object("a", "2", 600)});
  list(b_, {sized_object("b", "1", 700)});
  EXPECT_THAT(keys(), ElementsAre("a/1", "a/2", "b/1"));
  EXPECT_EQ(budget_.used("b"), bytes("1", "b"));
  list(a_, {sized_object("a", "2", 600)});
  EXPECT_THAT(keys(), ElementsAre("a/2", "b/1"));
  EXPECT_EQ(budget_.used("a"), bytes("2", "a"));
  EXPECT_EQ(budget_.used("b"), bytes("1", "b"));
  list(b_, {});
  EXPECT_THAT(keys(), ElementsAre("a/2"));
  EXPECT_EQ(budget_.used(), bytes("2", "a"));
  EXPECT_EQ(store_metrics(metrics_, {"widgets", "", "a"}).bytes.value(), static_cast<double>(bytes("2", "a")));
  EXPECT_EQ(store_metrics(metrics_, {"widgets", "", "b"}).bytes.value(), 0);
}

TEST_F(TwoSinks, AListThatBreaksOffChangesNothing) {
  list(a_, {sized_object("a", "1", 500)});
  list(b_, {sized_object("b", "1", 700)});
  a_.begin();
  ASSERT_TRUE(a_.stage(sized_object("a", "2", 600)).ok());
  list(b_, {sized_object("b", "1", 700)});
  a_.begin();
  EXPECT_THAT(keys(), ElementsAre("a/1", "b/1"));
  EXPECT_EQ(budget_.used(), bytes("1", "a") + bytes("1", "b"));
}

}  // namespace
}  // namespace tpuslice::runtime
