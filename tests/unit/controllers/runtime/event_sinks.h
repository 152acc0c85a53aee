// Event sinks of these tests.
#pragma once

#include <string>
#include <vector>

#include "controllers/runtime/event_recorder.h"

namespace tpuslice::runtime {

class NoEvents final : public EventSink {
 public:
  void record(const plan::ObjectReference&, const plan::EventIntent&) override {}
};

/// Keeps "<name> <reason>: <message>" of each event.
class EventTexts final : public EventSink {
 public:
  void record(const plan::ObjectReference& regarding, const plan::EventIntent& event) override {
    seen.push_back(regarding.key.name + " " + event.reason + ": " + event.message);
  }
  std::vector<std::string> seen;
};

}  // namespace tpuslice::runtime
