// WatchMachineTest: a watch machine of pods on a scripted API server.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "controllers/runtime/watch/watch_machine.h"
#include "tests/support/feed.h"

namespace tpuslice::runtime {

using tpuslice::testing::Feed;
using tpuslice::testing::FeedStream;

inline Json pod_json(const std::string& name, int version, const std::string& uid = "") {
  return {{"metadata",
           {{"name", name},
            {"namespace", "default"},
            {"uid", uid.empty() ? "uid-" + name : uid},
            {"resourceVersion", std::to_string(version)}}}};
}

inline Json event(const std::string& type, Json object) { return {{"type", type}, {"object", std::move(object)}}; }

inline Json bookmark(int version, bool end = false) {
  Json object = {{"kind", "Pod"}, {"metadata", {{"resourceVersion", std::to_string(version)}}}};
  if (end) object["metadata"]["annotations"] = {{"k8s.io/initial-events-end", "true"}};
  return event("BOOKMARK", std::move(object));
}

inline Json expired_event() {
  return event("ERROR", {{"kind", "Status"},
                         {"status", "Failure"},
                         {"message", "too old resource version"},
                         {"reason", "Expired"},
                         {"code", 410}});
}

inline client::ListPage page(const std::vector<Json>& items, int version, std::string next = "") {
  client::ListPage out;
  for (const Json& item : items) out.items.push_back(item.dump());
  out.resource_version = std::to_string(version);
  out.continue_token = std::move(next);
  return out;
}

/// Returns the scripted replies in order and records the requests; Unavailable without a reply.
class ScriptedReader final : public client::Reader {
 public:
  Result<Object> get(const ResourceType&, const ObjectKey&, std::stop_token) override {
    return Error::unsupported("get is not used by watches");
  }
  Result<client::ListPage> list(const ResourceType&, const client::ListOptions& options, std::stop_token) override {
    lists.push_back(options);
    if (during_request) during_request();
    if (pages.empty()) return Error::unavailable("no page");
    Result<client::ListPage> next = std::move(pages.front());
    pages.pop_front();
    return next;
  }
  Result<std::unique_ptr<client::WatchStream>> watch(const ResourceType&, const client::WatchOptions& options,
                                                     std::stop_token) override {
    watches.push_back(options);
    if (during_request) during_request();
    if (streams.empty()) return Error::unavailable("no stream");
    auto next = std::move(streams.front());
    streams.pop_front();
    if (const auto* error = std::get_if<Error>(&next)) return *error;
    return std::make_unique<client::WatchStream>(
        std::make_unique<FeedStream>(std::get<std::shared_ptr<Feed>>(std::move(next))));
  }

  std::shared_ptr<Feed> expect_stream() {
    auto feed = std::make_shared<Feed>();
    streams.emplace_back(feed);
    return feed;
  }

  std::deque<Result<client::ListPage>> pages;
  std::deque<std::variant<Error, std::shared_ptr<Feed>>> streams;
  std::vector<client::ListOptions> lists;
  std::vector<client::WatchOptions> watches;
  std::function<void()> during_request;
};

class WatchMachineTest : public ::testing::Test {
 protected:
  void make(WatchMachineOptions options) { make(options, reader_); }
  void make(WatchMachineOptions options, client::Reader& reader) {
    LogOptions log;
    log.clock = &clock_;
    log.format = LogFormat::kText;
    log.sink = [this](std::string_view line) { lines_.emplace_back(line); };
    store_.shield_with(barrier_);
    machine_ = std::make_unique<WatchMachine>(
        kPods, WatchScope{.label_selector = "app=x"}, std::make_unique<StoreSink<PodView>>(store_, annotations_),
        options, WatchMachine::Dependencies{reader, clock_, random_, metrics_, Logger(log), &dead_streams_});
    machine_->on_quarantine([this](const QuarantinedObject& object) {
      if (!leads_) return false;
      quarantined_.push_back(object.key.to_string());
      return true;
    });
  }
  void make_listing() {
    WatchMachineOptions options;
    options.watch_list = false;
    make(options);
  }
  /// Steps until nothing is due. Returns when the next step is due.
  Instant settle() {
    for (int i = 0; i < 200; ++i) {
      const Instant due = machine_->step(clock_.now(), Duration::zero(), {});
      if (due > clock_.now()) return due;
    }
    ADD_FAILURE() << "step() is always due";
    return clock_.now();
  }
  /// Lists `a` at revision 10, then watches the returned stream.
  std::shared_ptr<Feed> watching() {
    make_listing();
    reader_.pages.emplace_back(page({pod_json("a", 5)}, 10));
    auto feed = reader_.expect_stream();
    settle();
    EXPECT_TRUE(machine_->synced());
    return feed;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& pod : store_.list()) out.push_back(pod->key.name);
    return out;
  }
  int lines(std::string_view part) const {
    return static_cast<int>(
        std::ranges::count_if(lines_, [&](const auto& line) { return line.find(part) != line.npos; }));
  }
  double quarantined_metric() { return watch_metrics(metrics_, {"pods", "app=x", ""}).quarantined.value(); }
  double expired_metric() { return watch_metrics(metrics_, {"pods", "app=x", ""}).expired.value(); }

  FakeClock clock_;
  Random random_{1};
  Metrics metrics_;
  ScriptedReader reader_;
  const KeptKeys annotations_;
  PodStore store_{kPods};
  const ExceptionBarrier barrier_{"store", metrics_, clock_, Logger()};
  DeadStreams dead_streams_;
  std::unique_ptr<WatchMachine> machine_;
  bool leads_ = true;
  std::vector<std::string> quarantined_;  ///< Reported objects.
  std::vector<std::string> lines_;        ///< Of the log.
};

}  // namespace tpuslice::runtime
