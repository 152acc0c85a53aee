#include "tests/e2e/generated_attacks/case_sender.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "api/base/pause.h"
#include "tests/support/eventually.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;

constexpr ResourceType kQuotas{"", "v1", "ResourceQuota", "resourcequotas"};
constexpr int kSenders = 8;
constexpr int kDeletedAtOnce = 50;
constexpr Duration kDeadline = 20s;
/// How long a client that does not read keeps its connection.
constexpr Duration kHold = 700ms;
/// After that the connections of reviews are closed.
constexpr Duration kReviewLimit = 10s;
constexpr const char* kMetadataList =
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

std::string namespace_of(int number) { return fmt::format("attack-{}", number); }

/// Calls `work` with 0 to `count` - 1, at most kSenders at a time.
void in_parallel(int count, const std::function<void(int)>& work) {
  std::atomic<int> next = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < std::min(count, kSenders); ++i) {
    threads.emplace_back([&] {
      for (int number = next++; number < count; number = next++) work(number);
    });
  }
}

/// The path of deploy/webhook for a kind.
std::string webhook_path(const ResourceType& type) {
  if (type.kind == "Pod") return "/mutate-v1-pod";
  std::string path = fmt::format("/validate-{}-{}-{}", type.group, type.version, type.kind);
  std::ranges::replace(path, '.', '-');
  std::ranges::transform(path, path.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return path;
}

std::string review_text(const SeedObject& seed, const std::string& object, bool update) {
  const ResourceType& type = seed.type;
  return fmt::format(
      R"({{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{{"uid":"u","kind":{{"group":"{}","version":"{}","kind":"{}"}},"operation":"{}","namespace":"attack-0","object":{}{}}}}})",
      type.group, type.version, type.kind, update ? "UPDATE" : "CREATE", object,
      update ? ",\"oldObject\":" + seed.json.dump() : "");
}

http::Request request_of(const std::string& method, std::string target, std::string body,
                         const std::string& content_type = "application/json") {
  http::Request request{method, std::move(target), {{"Accept", "application/json"}}, std::move(body)};
  request.headers.emplace_back("Content-Type", content_type);
  return request;
}

Json quota() {
  return {{"apiVersion", "v1"},
          {"kind", "ResourceQuota"},
          {"metadata", {{"name", "attack"}}},
          {"spec", {{"hard", {{"pods", "100"}, {"count/jobs.batch", "1000"}, {"count/statefulsets.apps", "1000"}}}}}};
}

}  // namespace

Result<std::unique_ptr<CaseSender>> CaseSender::start(AttackPlane& plane, const SeedObjects& seeds) {
  for (int i = 0; i < kAttackedNamespaces; ++i) {
    const Json name = {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", namespace_of(i)}}}};
    const auto created = plane.plane().client().create(kNamespaces, Object(name));
    if (!created) return created.error();
    Json limits = quota();
    limits["metadata"]["namespace"] = namespace_of(i);
    const auto limited = plane.plane().client().create(kQuotas, Object(std::move(limits)));
    if (!limited) return limited.error();
  }
  return std::unique_ptr<CaseSender>(new CaseSender(plane, seeds));
}

Status CaseSender::send(const AttackCase& attack, int position) {
  ASSIGN_OR_RETURN(const SeedObject* const seed, seeds_.find(attack.object));
  if (attack.send == Send::kReview || attack.send == Send::kUpdateReview) {
    review(attack, *seed);
    return {};
  }
  if (attack.send != Send::kDryRun) used_ = true;
  std::vector<Target> targets;
  for (int i = 0; i < std::clamp(attack.namespaces, 1, kAttackedNamespaces); ++i) {
    for (int copy = 0; copy < attack.copies; ++copy) {
      targets.push_back({seed, &attack, namespace_of(i), fmt::format("a{}-{}", position, copy)});
    }
  }
  in_parallel(static_cast<int>(targets.size()), [&](int number) { write(targets[static_cast<std::size_t>(number)]); });
  return {};
}

void CaseSender::write(const Target& target) {
  const ResourceType& type = target.seed->type;
  const Send send = target.attack->send;
  Json object = target.seed->json;
  object["metadata"]["name"] = target.name;
  // The garbage collector would delete it, as its owner does not exist.
  if (send != Send::kDryRun) object["metadata"].erase("ownerReferences");
  if (send != Send::kDryRun && send != Send::kCreate) return write_again(target, std::move(object));
  const std::string path = type.path(target.namespace_name);
  call(request_of("POST", send == Send::kDryRun ? path + "?dryRun=All" : path,
                  mutated(std::move(object), target.attack->mutations)));
}

void CaseSender::write_again(const Target& target, Json object) {
  const ResourceType& type = target.seed->type;
  const Send send = target.attack->send;
  const http::Response created = call(request_of("POST", type.path(target.namespace_name), object.dump()));
  if (created.status != 201) return;
  const std::string path = type.path(target.namespace_name, target.name, send == Send::kStatus ? "status" : "");
  if (send == Send::kUpdate) {
    const Json live = Json::parse(created.body, nullptr, false);
    object["metadata"]["resourceVersion"] = string_at(live, {"metadata", "resourceVersion"});
    call(request_of("PUT", path, mutated(std::move(object), target.attack->mutations)));
    return;
  }
  call(request_of("PATCH", path, mutated(std::move(object), target.attack->mutations), "application/merge-patch+json"));
}

http::Response CaseSender::call(http::Request request) {
  auto response = plane_.transport().call(request, kDeadline, {});
  count(response ? std::to_string(response->status) : "no answer");
  return response ? std::move(*response) : http::Response{};
}

void CaseSender::count(const std::string& answer) {
  const MutexLock lock(mutex_);
  ++answers_[answer];
}

std::map<std::string, int> CaseSender::take_answers() {
  const MutexLock lock(mutex_);
  return std::exchange(answers_, {});
}

void CaseSender::review(const AttackCase& attack, const SeedObject& seed) {
  Json object = seed.json;
  object["metadata"]["namespace"] = "attack-0";
  const std::string body =
      review_text(seed, mutated(std::move(object), attack.mutations), attack.send == Send::kUpdateReview);
  const std::string path = webhook_path(seed.type);
  std::atomic<int> finished = 0;
  std::vector<std::jthread> clients;
  for (int i = 0; i < attack.copies; ++i) {
    clients.emplace_back([&, i] {
      review_from(fmt::format("127.0.0.{}", 2 + i % std::max(1, attack.namespaces)), attack, path, body);
      ++finished;
    });
  }
  static_cast<void>(eventually([&] { return finished == attack.copies; }, kReviewLimit));
  const MutexLock lock(mutex_);
  for (http::BlockingConnection* const connection : open_) connection->shut_down();
}

void CaseSender::review_from(const std::string& address, const AttackCase& attack, const std::string& path,
                             const std::string& body) {
  const auto connected = plane_.connect_to_webhook(address);
  if (!connected) return count("webhook refused connection");
  http::BlockingConnection& connection = **connected;
  {
    const MutexLock lock(mutex_);
    open_.push_back(&connection);
  }
  if (attack.reading == Reading::kWhole) {
    count(connection.post(path, body) ? "webhook 200" : "webhook refused");
  } else {
    const std::string request = fmt::format(
        "POST {} HTTP/1.1\r\nHost: webhook\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}", path,
        body.size(), body);
    const std::size_t sent = attack.reading == Reading::kHalf ? request.size() / 2 : request.size();
    const bool written = connection.send_bytes(std::string_view(request).substr(0, sent)).ok();
    count(written ? "webhook not read" : "webhook closed");
    const RealClock clock;
    const Instant until = clock.now() + kHold;
    if (attack.reading == Reading::kNothing || attack.reading == Reading::kHalf) tpuslice::pause(kHold, {});
    while (written && attack.reading == Reading::kSlowly && clock.now() < until) {
      if (connection.receive_bytes(512).empty()) break;
      tpuslice::pause(20ms, {});
    }
  }
  const MutexLock lock(mutex_);
  std::erase(open_, &connection);
}

std::vector<ObjectKey> CaseSender::stored(const ResourceType& type) {
  std::vector<ObjectKey> keys;
  for (int i = 0; i < kAttackedNamespaces; ++i) {
    const auto list = plane_.plane().client().raw({"GET", type.path(namespace_of(i)), {{"Accept", kMetadataList}}});
    if (!list) continue;
    const Json json = Json::parse(list->body, nullptr, false);
    for (const Json& item : array_at(json, {"items"})) {
      const std::string name = string_at(item, {"metadata", "name"});
      if (type.kind != "ServiceAccount" || name != "default") keys.push_back({namespace_of(i), name});
    }
  }
  return keys;
}

void CaseSender::delete_all(const ResourceType& type, const std::string& namespace_name) {
  // In pages: the API server deletes hundreds of long objects for longer than a request may take, and reads all of them
  // again for the next request.
  const std::string options = Json{{"gracePeriodSeconds", 0}, {"propagationPolicy", "Background"}}.dump();
  std::string page = fmt::format("?limit={}", kDeletedAtOnce);
  if (type.kind == "ServiceAccount") page += "&fieldSelector=metadata.name!%3Ddefault";
  for (std::string next = page; !next.empty();) {
    const auto deleted = plane_.plane().client().raw(request_of("DELETE", type.path(namespace_name) + next, options));
    const Json list = deleted ? Json::parse(deleted->body, nullptr, false) : Json();
    const std::string token = string_at(list, {"metadata", "continue"});
    next = token.empty() ? "" : page + "&continue=" + token;
  }
}

std::size_t CaseSender::clean_up() {
  if (!std::exchange(used_, false)) return 0;
  client::Client& admin = plane_.plane().client();
  std::size_t left = 0;
  const auto all_deleted = [&] {
    left = 0;
    for (const ResourceType& type : attacked_types()) {
      const std::vector<ObjectKey> keys = stored(type);
      left += keys.size();
      for (int i = 0; i < kAttackedNamespaces && !keys.empty(); ++i) delete_all(type, namespace_of(i));
      for (const ObjectKey& key : keys.size() > 50 ? std::vector<ObjectKey>() : keys) {
        const Json patch = {{"metadata", {{"finalizers", nullptr}}}};
        static_cast<void>(
            admin.patch(type, key, client::PatchType::kMerge, patch, {.answer = client::Answer::kMetadataOnly}));
      }
    }
    return left == 0;
  };
  static_cast<void>(eventually(all_deleted, 60s));
  return left;
}

}  // namespace tpuslice::testing
