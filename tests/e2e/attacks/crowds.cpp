// Attacks on the ports of the operator by many clients from many addresses, all of the loopback network.
#include <functional>
#include <thread>

#include <fmt/format.h>

#include "api/base/pause.h"
#include "tests/e2e/attacks/attack_objects.h"
#include "tests/e2e/attacks/attacks.h"
#include "tests/support/crowd.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;

constexpr Duration kTime = 3s;
constexpr int kWindow = 4096;
/// Bytes of a body that takes all that one address may have.
constexpr std::size_t kLargeBody = 7U << 20U;

/// A review whose response has about a megabyte: the host names of a slice of 3,072 hosts.
std::string long_review() {
  Json pod = tpu_pod("long", 1, "tpu7x", "12x16x16");
  const std::string name(60, 'a');
  pod["metadata"]["labels"] = {{"batch.kubernetes.io/job-name", name},
                               {"batch.kubernetes.io/job-completion-index", "0"}};
  pod["metadata"]["annotations"] = {{"batch.kubernetes.io/job-completion-index", "0"}};
  pod["metadata"]["ownerReferences"] =
      Json::array({{{"apiVersion", "batch/v1"}, {"kind", "Job"}, {"name", name}, {"uid", "u"}, {"controller", true}}});
  pod["spec"]["subdomain"] = name;
  return review_of(pod.dump());
}

std::string post(std::size_t length, const std::string& body) {
  return fmt::format("POST /mutate-v1-pod HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n{}", length, body);
}

std::string short_review() { return review_of(tpu_pod("short", 1, "tpu-v6e-slice", "1x1").dump()); }

/// TLS connections to the webhook, each of which sends `bytes`; a thread for each address.
class TlsCrowd {
 public:
  TlsCrowd(AttackPlane& plane, int addresses, int count, const std::string& bytes) {
    clients_.resize(static_cast<std::size_t>(addresses));
    for (int address = 0; address < addresses; ++address) {
      threads_.emplace_back(
          [&plane, &bytes, address, count, addresses, clients = &clients_[static_cast<std::size_t>(address)]] {
            for (int i = address; i < count; i += addresses) {
              auto client = plane.connect_to_webhook(fmt::format("127.1.0.{}", address + 1), kWindow);
              if (client && (*client)->send_bytes(bytes).ok()) clients->push_back(std::move(*client));
            }
          });
    }
    threads_.clear();
  }

  void drop(std::size_t bytes) {
    for (const auto& clients : clients_) {
      for (const auto& each : clients) each->drop(bytes);
    }
  }
  void send(const std::string& bytes) {
    for (const auto& clients : clients_) {
      for (const auto& each : clients) static_cast<void>(each->send_bytes(bytes));
    }
  }

 private:
  std::vector<std::vector<std::unique_ptr<http::BlockingConnection>>> clients_;
  std::vector<std::jthread> threads_;
};

/// For a while, another client connects and sends a review, and `meanwhile` is called. Returns how it went.
std::string serve_others(AttackPlane& plane, const std::function<void()>& meanwhile) {
  const RealClock clock;
  const std::string review = short_review();
  Duration slowest{};
  int answered = 0;
  for (const Instant begin = clock.now(); clock.now() < begin + kTime;) {
    const Instant sent = clock.now();
    auto client = plane.connect_to_webhook();
    if (!client) return "not connected: " + client.error().message();
    if (const Status posted = (*client)->post("/mutate-v1-pod", review); !posted) {
      return "not answered: " + posted.error().message();
    }
    slowest = std::max(slowest, clock.now() - sent);
    ++answered;
    meanwhile();
    tpuslice::pause(20ms, {});
  }
  const double milliseconds = std::chrono::duration<double, std::milli>(slowest).count();
  return fmt::format("{}, {} new clients, the slowest in {:.0f} ms",
                     slowest < 1s ? "answered within a second" : "answered late", answered, milliseconds);
}

/// TCP connections to some ports, that are opened again and again by a thread until the end.
class Reconnecting {
 public:
  Reconnecting(std::vector<int> ports, int addresses, int count, std::string bytes)
      : thread_([ports = std::move(ports), addresses, count, bytes = std::move(bytes)](const std::stop_token& stop) {
          Crowd crowd;
          for (int i = 0; !stop.stop_requested(); ++i) {
            if (i % count == 0) crowd.close();
            for (const int port : ports) crowd.connect(port, 1 + i % addresses, bytes);
          }
        }) {}

 private:
  std::jthread thread_;
};

/// Whether the probes are answered as well.
std::string serve_others_and_probes(AttackPlane& plane) {
  int failed = 0;
  const std::string served = serve_others(plane, [&] { failed += plane.op().ready() ? 0 : 1; });
  return failed == 0 ? served : fmt::format("{} probes failed, {}", failed, served);
}

}  // namespace

std::vector<Attack> attacks_of_crowds() {
  const std::string served = "answered within a second";
  return {
      {"FourHundredTwentyUnreadRepliesOfSixAddresses",
       [](AttackPlane& plane) {
         const std::string review = long_review();
         TlsCrowd crowd(plane, 6, 420, post(review.size(), review));
         return serve_others(plane, [] {});
       },
       served},
      {"RepliesOfSixAddressesThatAreAskedForAgainAndAgainAndNotRead",
       [](AttackPlane& plane) {
         const std::string review = long_review();
         std::jthread again([&](const std::stop_token& stop) {
           while (!stop.stop_requested()) TlsCrowd(plane, 6, 60, post(review.size(), review));
         });
         return serve_others(plane, [] {});
       },
       served},
      {"ThousandSlowReadersOfEightAddresses",
       [](AttackPlane& plane) {
         const std::string review = long_review();
         TlsCrowd crowd(plane, 8, 1000, post(review.size(), review));
         return serve_others(plane, [&] { crowd.drop(256); });
       },
       served},
      {"BodiesOfSevenMebibytesOfSixteenAddressesThatAreSentSlowly",
       [](AttackPlane& plane) {
         TlsCrowd crowd(plane, 16, 480, post(kLargeBody, "{"));
         return serve_others(plane, [&] { crowd.send(" "); });
       },
       served},
      {"ThreeThousandConnectionsOfThreeAddresses",
       [](AttackPlane& plane) {
         Crowd crowd;
         crowd.connect(plane.ports().front(), 3, 3000, "P");
         return serve_others(plane, [] {});
       },
       served},
      {"ConnectionsOfThreeAddressesAgainAndAgainToEachPort",
       [](AttackPlane& plane) {
         const Reconnecting crowd(plane.ports(), 3, 1000, "P");
         return serve_others_and_probes(plane);
       },
       served},
      {"ConnectionsOfTwoThousandAddressesAgainAndAgain",  // The API server and the new clients are trusted by address.
       [](AttackPlane& plane) {
         const Reconnecting crowd({plane.ports().front()}, 2000, 2000, "P");
         return serve_others(plane, [] {});
       },
       served},
  };
}

}  // namespace tpuslice::testing
