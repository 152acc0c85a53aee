#include "controllers/history/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/controllers/history/interruptions.h"

namespace tpuslice::history {
namespace {

using namespace std::chrono_literals;
using slice::after;

Record written(Record record, std::int64_t sequence) {
  record.sequence = sequence;
  return record;
}

TEST(HistoryRecord, IsWrittenAsOneLineOfJson) {
  Record record = written(record_of(an_interruption()), 7);
  record.recovery = Recovery{after(8s), "b"};
  EXPECT_EQ(to_json(record), Json::parse(R"({
    "seq": 7, "time": "2026-01-01T00:00:00Z", "namespace": "ml", "kind": "RayJob", "name": "train",
    "uid": "uid-of-train", "slice": "v6e-0", "sliceKey": "train-v6e-0-x1", "placement": "members-0",
    "what": "TornDown", "code": "PodLost",
    "why": "pod train-2 failed on node a-2: container ray-worker: OOMKilled, exit code 137", "host": 2,
    "container": "ray-worker", "exitCode": 137, "node": "a-2", "pool": "a", "accelerator": "tpu-v6e-slice",
    "lostHostSeconds": 5280, "backAfterSeconds": 8, "backOn": "b"})"));
  EXPECT_EQ(parse_record(to_json(record).dump()), record);
}

TEST(HistoryRecord, LeavesOutWhatIsNotKnown) {
  plan::Interruption bare;
  bare.time = after(0s);
  bare.slice = {"ml", "s"};
  const Record record = written(record_of(bare), 0);
  EXPECT_EQ(to_json(record),
            Json::parse(R"({"seq": 0, "time": "2026-01-01T00:00:00Z", "namespace": "ml", "sliceKey": "s"})"));
  EXPECT_EQ(parse_record(to_json(record).dump()), record);
}

TEST(HistoryRecord, IsBoundedWhateverUsersAndServersWrite) {
  plan::Interruption longest = an_interruption();
  const std::string name(253, 'n');
  for (std::string* const text :
       {&longest.workload.kind, &longest.workload.key.name, &longest.workload.uid, &longest.slice.namespace_name,
        &longest.slice.name, &longest.slice_name, &longest.placement, &longest.container, &longest.node, &longest.pool,
        &longest.accelerator}) {
    *text = name;
  }
  for (const char* piece : {"x", "\"", "\n", "\x01", "\u00e9"}) {
    SCOPED_TRACE(piece);
    longest.why.clear();
    while (longest.why.size() < 5000) longest.why += piece;
    Record record = written(record_of(longest), std::int64_t{1} << 52);
    record.recovery = Recovery{record.time + 8760h, std::string(63, 'p')};
    EXPECT_LE(to_json(record).dump().size(), kMaxRecordBytes);
    EXPECT_TRUE(parse_record(to_json(record).dump()));
  }
}

TEST(HistoryRecord, IsNotReadFromOtherText) {
  const std::string good = to_json(written(record_of(an_interruption()), 7)).dump();
  ASSERT_TRUE(parse_record(good));
  const auto without = [&](const char* member) {
    Json json = Json::parse(good);
    json.erase(member);
    return json.dump();
  };
  for (const char* member : {"seq", "time", "sliceKey"}) EXPECT_FALSE(parse_record(without(member))) << member;
  for (const char* text :
       {"", "x", "[]", "null", R"({"seq": "7"})", R"({"seq": -1, "time": "2026-01-01T00:00:00Z"})"}) {
    EXPECT_FALSE(parse_record(text)) << text;
  }
  Json huge = Json::parse(good);
  huge["seq"] = std::numeric_limits<std::int64_t>::max();
  EXPECT_FALSE(parse_record(huge.dump()));
  EXPECT_FALSE(parse_record(good + std::string(kMaxRecordBytes, ' ')));
}

TEST(HistoryRecord, IsTheSameForOnePlacement) {
  const Record first = record_of(an_interruption(1, 0s));
  EXPECT_TRUE(first.is_same(record_of(an_interruption(1, 1h)))) << "another leader deletes what is left";
  EXPECT_FALSE(first.is_same(record_of(an_interruption(2, 0s))));
  plan::Interruption other = an_interruption(1);
  other.workload.uid = "another";
  EXPECT_FALSE(first.is_same(record_of(other)));
}

TEST(HistoryRecord, OfAPlacementWithoutMembersIsTheSameWithinAMinute) {
  const auto open = [](Duration when) {
    plan::Interruption out = an_interruption(0, when);
    out.placement.clear();
    return record_of(out);
  };
  EXPECT_TRUE(open(0s).is_same(open(59s)));
  EXPECT_FALSE(open(0s).is_same(open(60s)));
}

}  // namespace
}  // namespace tpuslice::history
