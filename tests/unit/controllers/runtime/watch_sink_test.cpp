#include "controllers/runtime/watch_sink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "tests/unit/controllers/runtime/widgets.h"

namespace tpuslice::runtime {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::size_t kBytes = 4000;

std::string object(const std::string& namespace_name, const std::string& name, std::size_t size, int version = 1) {
  const std::string head =
      fmt::format(R"({{"metadata":{{"name":"{}","namespace":"{}","uid":"{}","resourceVersion":"{}")", name,
                  namespace_name, name, version);
  return fmt::format(R"({}}},"data":"{}"}})", head, std::string(size - head.size() - 12, 'x'));
}

class Sink : public ::testing::Test {
 protected:
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& view : store_.list()) out.push_back(view->key.to_string());
    return out;
  }
  void list(const std::vector<std::string>& objects) {
    sink_.begin();
    for (const std::string& each : objects) {
      if (!sink_.stage(each)) ++refused_;
    }
    sink_.commit(1);
  }

  const AnnotationPrefixes annotations_;
  ObjectStore store_{kWidgets};
  StoreSink<ObjectView> sink_{store_, annotations_, kBytes};
  int refused_ = 0;
};

TEST_F(Sink, RefusesObjectsThatTheirNamespaceHasNoRoomFor) {
  list({object("a", "1", 1000), object("a", "2", 1000), object("a", "3", 1000), object("a", "4", 1000),
        object("b", "1", 1000)});
  EXPECT_THAT(names(), ElementsAre("a/1", "a/2", "a/3", "b/1"));
  EXPECT_EQ(refused_, 1);
  const Status put = sink_.put(object("a", "5", 500));
  ASSERT_FALSE(put.ok());
  EXPECT_EQ(put.error().message(),
            "it has 500 bytes, and of the widgets.example.com of namespace a the operator reads at most 4000 bytes "
            "together; delete some, or use another namespace");
  EXPECT_TRUE(sink_.put(object("b", "2", 1000)).ok());
}

TEST_F(Sink, AStagedObjectIsNewerThanTheStoredOne) {
  list({object("a", "1", 1000)});
  sink_.begin();
  ASSERT_TRUE(sink_.stage(object("a", "1", 1200, 2)).ok());
  ASSERT_FALSE(sink_.stage(object("a", "1", 9000, 3)).ok());
  sink_.stage_known({"a", "1"});
  sink_.commit(2);
  EXPECT_EQ(store_.get({"a", "1"})->text.size(), 1200);
}

std::string stateful_set(const std::string& name, std::size_t bytes) {
  return fmt::format(R"({{"metadata":{{"name":"{}","namespace":"a","uid":"{}"}},"spec":{{"template":{{"a":"{}"}}}}}})",
                     name, name, std::string(bytes, 'x'));
}

TEST(CompactViews, CountForWhatTheyHaveBeyondUsualTexts) {
  const AnnotationPrefixes annotations;
  Store<StatefulSetView> store{kStatefulSets};
  StoreSink<StatefulSetView> sink{store, annotations, 2U << 20U};
  sink.begin();
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(sink.stage(stateful_set(fmt::format("usual-{}", i), 10'000)).ok());
  int large = 0;
  for (int i = 0; i < 10; ++i) large += sink.stage(stateful_set(fmt::format("large-{}", i), 500'000)).ok() ? 1 : 0;
  EXPECT_EQ(large, 3) << "of 2 MiB, a quarter is for the growth of known objects";
}

TEST_F(Sink, LetsKnownObjectsGrowBeyondTheRoomForNewOnes) {
  list({object("a", "1", 1500), object("a", "2", 1500)});
  EXPECT_TRUE(sink_.put(object("a", "1", 2400)).ok());
  EXPECT_FALSE(sink_.put(object("a", "2", 1700)).ok());
  EXPECT_EQ(store_.get({"a", "2"})->text.size(), 1500U) << "the last version is kept";
  EXPECT_TRUE(sink_.put(object("a", "1", 1000)).ok());
  EXPECT_TRUE(sink_.put(object("a", "2", 1700)).ok());
}

TEST_F(Sink, SaysWhenThereIsRoomAgain) {
  list({object("a", "1", 1500), object("a", "2", 1500)});
  EXPECT_FALSE(sink_.has_room_again()) << "nothing was refused";
  EXPECT_FALSE(sink_.put(object("a", "3", 1000)).ok());
  EXPECT_FALSE(sink_.has_room_again());
  sink_.erase({"b", "1"}, 2);
  EXPECT_FALSE(sink_.has_room_again()) << "of another namespace";
  sink_.erase({"a", "1"}, 3);
  EXPECT_TRUE(sink_.has_room_again());
  list({object("a", "2", 1500), object("a", "3", 1000)});
  EXPECT_THAT(names(), ElementsAre("a/2", "a/3"));
  EXPECT_FALSE(sink_.has_room_again());
}

TEST_F(Sink, KeepsTheRoomOfKnownObjectsDuringAList) {
  list({object("b", "known", 2500)});
  list({object("b", "first", 1000), object("b", "known", 2500)});
  EXPECT_THAT(names(), ElementsAre("b/known"));
}

TEST_F(Sink, FindsRoomAfterAListWithoutKnownObjects) {
  list({object("a", "1", 2500)});
  list({object("a", "2", 1000)});
  EXPECT_THAT(names(), IsEmpty());
  EXPECT_TRUE(sink_.has_room_again()) << "the known object was deleted";
}

TEST(CompactViews, HaveRoom) {
  const AnnotationPrefixes annotations;
  PodStore store(kPods);
  StoreSink<PodView> sink(store, annotations, 10);
  EXPECT_TRUE(sink.put(object("a", "pod", 200)).ok());
}

}  // namespace
}  // namespace tpuslice::runtime
