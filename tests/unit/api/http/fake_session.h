// FakeSession: a Session without a socket, for tests of the limits of servers.
#pragma once

#include "api/http/server/session_registry.h"

namespace tpuslice::http::testing {

class FakeSession final : public Session {
 public:
  explicit FakeSession(Instant now) { activity_.enter(Activity::Phase::kIdle, now); }

  void enter(Activity::Phase phase, Instant now) { activity_.enter(phase, now); }
  void start() override {}
  void resume() override { ++resumed; }
  void drain() override {}
  void abort() override { aborted = true; }

  int resumed = 0;
  bool aborted = false;
};

}  // namespace tpuslice::http::testing
