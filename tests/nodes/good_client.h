// GoodClient: a client that creates pods and JobSets, one after the other, while the operator has faults.
//
//   GoodClient client(cluster.client());
//   const Instant begun = client.now();
//   cluster.node("cpu-0").kill();
//   EXPECT_TRUE(eventually([&] { return client.first_run_since(begun).has_value(); }));
//   EXPECT_EQ(client.answers_since(begun).wrong, 0);
#pragma once

#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "api/base/clock.h"
#include "api/base/mutex.h"
#include "api/client/client.h"

namespace tpuslice::testing {

/// One thread creates pods of a RayCluster by a dry run, five a second. Another creates a JobSet of two hosts, deletes
/// it when all its pods run, and creates the next when they are gone. All in the namespace default. Thread-safe.
class GoodClient {
 public:
  /// Answers to requests for pods.
  struct Answers {
    int admitted = 0;                ///< With label and environment of a slice.
    int refused = 0;                 ///< With any error, also that of a server that does not run.
    int wrong = 0;                   ///< Admitted without label or environment; pods of JobSets count, too.
    Duration outage{};               ///< The longest time without an admitted pod.
    Duration until_last_refusal{};   ///< Zero without one.
    std::string first_refusal = {};  ///< Its message.
    std::string first_wrong = {};    ///< The pod, and what it lacks.
  };

  /// `client` outlives it.
  explicit GoodClient(client::Client& client);
  GoodClient(const GoodClient&) = delete;
  GoodClient& operator=(const GoodClient&) = delete;

  [[nodiscard]] Instant now() const { return clock_.now(); }
  [[nodiscard]] Answers answers_since(Instant since) const TPUSLICE_EXCLUDES(mutex_);
  /// Time from `since` until a JobSet ran whole that was created after it; nothing if none has yet.
  [[nodiscard]] std::optional<Duration> first_run_since(Instant since) const TPUSLICE_EXCLUDES(mutex_);

 private:
  enum class Kind { kAdmitted, kRefused, kWrong };
  struct Answer {
    Instant at;
    Kind kind = Kind::kAdmitted;
    std::string message = {};
  };
  struct Run {
    Instant created;
    Instant whole;
  };

  void create_pods(const std::stop_token& stop);
  void create_jobsets(const std::stop_token& stop);
  [[nodiscard]] bool create_jobset(const std::string& name);
  /// Whether both pods of a JobSet run. Notes pods that are wrong.
  [[nodiscard]] bool is_whole(const std::string& name);
  /// Whether no pod of the deleted JobSet is left.
  [[nodiscard]] bool is_gone(const std::string& name);
  void note(Kind kind, std::string message = {}) TPUSLICE_EXCLUDES(mutex_);

  client::Client& client_;
  const RealClock clock_;
  std::set<std::string> wrong_pods_;  ///< Uids of those that are noted; of the thread of JobSets.
  mutable Mutex mutex_;
  std::vector<Answer> answers_ TPUSLICE_GUARDED_BY(mutex_);
  std::vector<Run> runs_ TPUSLICE_GUARDED_BY(mutex_);
  std::jthread pods_;
  std::jthread jobsets_;
};

}  // namespace tpuslice::testing
