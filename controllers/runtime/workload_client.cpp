#include "controllers/runtime/workload_client.h"

#include <algorithm>
#include <chrono>

#include "api/base/backoff.h"
#include "api/base/base64.h"
#include "api/http/client/network_transport.h"
#include "controllers/runtime/backoff.h"

namespace tpuslice::runtime {
namespace {

/// Bytes of a response: status of a job, or of all applications of a cluster.
constexpr std::size_t kMaxResponse = 1U << 20U;
constexpr Duration kMaxIdle = std::chrono::minutes(1);

/// The host of "10.0.1.7:8265" and "[fd00::1]:8265".
std::string_view host_of(std::string_view address) { return address.substr(0, address.rfind(':')); }

bool is_local(std::string_view host) {
  return host.starts_with("127.") || host.starts_with("169.254.") || host.starts_with("0.") || host == "localhost" ||
         host.starts_with("[::1]") || host.starts_with("[fe80:");
}

http::Request to_http(const plan::WorkloadRequest& request) {
  http::Request out{request.method, request.target, {}, request.body};
  out.headers.emplace_back("Host", request.host.empty() ? request.address : request.host);
  out.headers.emplace_back("Accept", "application/json");
  if (!request.body.empty()) out.headers.emplace_back("Content-Type", "application/json");
  return out;
}

bool is_news(const plan::WorkloadAnswer* before, const plan::WorkloadAnswer& after) {
  return before == nullptr || before->request != after.request || before->status != after.status ||
         before->content != after.content || before->error.empty() != after.error.empty();
}

std::string_view result_of(const plan::WorkloadAnswer& answer) {
  if (answer.status == 0) return "no_answer";
  if (answer.ok()) return "success";
  return answer.status < 500 ? "refused" : "server_error";
}

}  // namespace

SendToWorkload send_over_network(std::string override_address) {
  return [override_address = std::move(override_address)](const std::string& address, const http::Request& request,
                                                          Duration deadline,
                                                          const std::stop_token& stop) -> Result<http::Response> {
    if (override_address.empty() && is_local(host_of(address))) {
      return Error::invalid_argument("{}: not the address of a pod", address);
    }
    http::TransportOptions options;
    options.server = "http://" + (override_address.empty() ? address : override_address);
    options.max_response = kMaxResponse;
    options.gzip = false;
    ASSIGN_OR_RETURN(const auto transport, http::make_network_transport(std::move(options)));
    return transport->call(request, deadline, stop);
  };
}

WorkloadClient::WorkloadClient(SendToWorkload send, client::Reader& reader, const Clock& clock, Metrics& metrics,
                               WorkloadClientOptions options)
    : send_(std::move(send)), reader_(reader), clock_(clock), metrics_(metrics), options_(options) {}

void WorkloadClient::on_answer(const std::string& controller, std::function<void(const ObjectKey&)> listener) {
  listeners_[controller] = std::move(listener);
}

void WorkloadClient::set(const WorkloadOwner& owner, const std::vector<plan::WorkloadRequest>& requests) {
  const MutexLock lock(mutex_);
  const auto found = owners_.find(owner);
  if (requests.empty() && found == owners_.end()) return;
  Slots before = found == owners_.end() ? Slots() : std::move(found->second);
  Slots after;
  const Instant now = clock_.now();
  for (const plan::WorkloadRequest& request : requests) {
    if (after.size() == options_.max_requests) break;
    Slot slot;
    if (const auto known = before.find(request.name); known != before.end()) {
      slot = std::move(known->second);
      before.erase(known);
    }
    const SlotId id{owner, request.name};
    if (slot.request == nullptr || *slot.request != request) {
      slot.request = std::make_shared<const plan::WorkloadRequest>(request);
      slot.failures = 0;
      schedule_locked(id, slot, now);
    }
    after.insert_or_assign(request.name, std::move(slot));
  }
  for (auto& [name, slot] : before) unschedule_locked({owner, name}, slot);
  if (after.empty()) {
    owners_.erase(owner);
  } else {
    owners_[owner] = std::move(after);
  }
  changed_.notify_all();
}

plan::WorkloadAnswers WorkloadClient::answers(const WorkloadOwner& owner) const {
  const MutexLock lock(mutex_);
  const auto found = owners_.find(owner);
  if (found == owners_.end()) return {};
  std::vector<std::shared_ptr<const plan::WorkloadAnswer>> out;
  for (const auto& [name, slot] : found->second) {
    if (slot.answer != nullptr) out.push_back(slot.answer);
  }
  return plan::WorkloadAnswers(std::move(out));
}

bool WorkloadClient::step(Instant now, const std::stop_token& stop) {
  std::optional<SlotId> id;
  {
    const MutexLock lock(mutex_);
    id = take_locked(now);
  }
  if (!id) return false;
  send(*id, stop);
  return true;
}

Instant WorkloadClient::next_due() const {
  const MutexLock lock(mutex_);
  return schedule_.empty() ? kNever : schedule_.begin()->first;
}

void WorkloadClient::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    if (step(clock_.now(), stop)) continue;
    const MutexLock lock(mutex_);
    const Instant now = clock_.now();
    const Instant first = schedule_.empty() ? now + kMaxIdle : schedule_.begin()->first;
    if (first <= now) continue;
    changed_.wait_for(mutex_, stop, std::min(kMaxIdle, first - now), [&]() TPUSLICE_REQUIRES(mutex_) {
      return !schedule_.empty() && schedule_.begin()->first < first;
    });
  }
}

std::optional<WorkloadClient::SlotId> WorkloadClient::take_locked(Instant now) {
  while (!schedule_.empty() && schedule_.begin()->first <= now) {
    const SlotId id = schedule_.begin()->second;
    Slot& slot = *find_locked(id);
    unschedule_locked(id, slot);
    const std::string& name = id.first.key.namespace_name;
    int& in_flight = in_flight_[name];
    if (in_flight >= options_.per_namespace) {
      slot.waiting = true;
      waiting_[name].push_back(id);
      continue;
    }
    ++in_flight;
    slot.in_flight = true;
    return id;
  }
  return std::nullopt;
}

void WorkloadClient::schedule_locked(const SlotId& id, Slot& slot, Instant due) {
  unschedule_locked(id, slot);
  slot.waiting = false;
  if (slot.in_flight) return;  // When its answer is there.
  slot.due = due;
  schedule_.emplace(due, id);
}

void WorkloadClient::unschedule_locked(const SlotId& id, Slot& slot) {
  if (slot.due) schedule_.erase({*slot.due, id});
  slot.due.reset();
}

void WorkloadClient::release_namespace_locked(const std::string& name, Instant now) {
  const auto count = in_flight_.find(name);
  if (--count->second == 0) in_flight_.erase(count);
  const auto queue = waiting_.find(name);
  if (queue == waiting_.end()) return;
  while (!queue->second.empty()) {
    const SlotId next = std::move(queue->second.front());
    queue->second.pop_front();
    Slot* slot = find_locked(next);
    if (slot == nullptr || !slot->waiting) continue;
    schedule_locked(next, *slot, now);
    break;
  }
  if (queue->second.empty()) waiting_.erase(queue);
}

WorkloadClient::Slot* WorkloadClient::find_locked(const SlotId& id) {
  const auto owner = owners_.find(id.first);
  if (owner == owners_.end()) return nullptr;
  const auto slot = owner->second.find(id.second);
  return slot == owner->second.end() ? nullptr : &slot->second;
}

void WorkloadClient::send(const SlotId& id, const std::stop_token& stop) {
  std::shared_ptr<const plan::WorkloadRequest> request;
  {
    const MutexLock lock(mutex_);
    if (const Slot* slot = find_locked(id)) request = slot->request;
  }
  bool news = false;
  std::optional<plan::WorkloadAnswer> answer;
  if (request != nullptr) answer = ask(id.first, *request, stop);
  {
    const MutexLock lock(mutex_);
    const Instant now = clock_.now();
    if (answer && !stop.stop_requested()) news = store_locked(id, *std::move(answer), now);
    release_namespace_locked(id.first.key.namespace_name, now);
  }
  changed_.notify_one();
  if (!news) return;
  const auto listener = listeners_.find(id.first.controller);
  if (listener != listeners_.end()) listener->second(id.first.key);
}

plan::WorkloadAnswer WorkloadClient::ask(const WorkloadOwner& owner, const plan::WorkloadRequest& request,
                                         const std::stop_token& stop) const {
  plan::WorkloadAnswer out{request};
  http::Request message = to_http(request);
  Status problem;
  if (request.token) {
    Result<std::string> found = token(owner.key.namespace_name, *request.token, stop);
    if (found) {
      message.headers.emplace_back("Authorization", "Bearer " + *found);
    } else {
      problem = found.error();
    }
  }
  if (problem.ok()) {
    const Result<http::Response> response = send_(request.address, message, options_.timeout, stop);
    if (response) {
      out.status = response->status;
      if (request.read != nullptr) out.content = request.read(response->status, response->body);
    } else {
      problem = response.error();
    }
  }
  if (!problem.ok()) out.error = problem.error().message();
  out.received = clock_.wall();
  count(owner, out);
  return out;
}

Result<std::string> WorkloadClient::token(const std::string& namespace_name, const plan::TokenSource& source,
                                          const std::stop_token& stop) const {
  ASSIGN_OR_RETURN(const Object secret, reader_.get(kSecrets, {namespace_name, source.secret}, stop));
  const auto text = decode_base64(string_at(secret.json(), {"data", source.key}));
  if (!text || text->empty()) {
    return Error::not_found("secret {}/{} has no data with key {}", namespace_name, source.secret, source.key);
  }
  return *text;
}

bool WorkloadClient::store_locked(const SlotId& id, plan::WorkloadAnswer answer, Instant now) {
  Slot* slot = find_locked(id);
  if (slot == nullptr) return false;
  slot->in_flight = false;
  if (*slot->request != answer.request) {
    // Replaced meanwhile.
    schedule_locked(id, *slot, now);
    return false;
  }
  const bool failed = answer.status == 0 || answer.status >= 500;
  slot->failures = failed ? slot->failures + 1 : 0;
  if (answer.request.interval > Duration::zero()) {
    const Duration longer = exponential_backoff(slot->failures, answer.request.interval, options_.max_interval);
    schedule_locked(id, *slot, now + std::max(answer.request.interval, longer));
  }
  const bool news = is_news(slot->answer.get(), answer);
  slot->answer = std::make_shared<const plan::WorkloadAnswer>(std::move(answer));
  return news;
}

void WorkloadClient::count(const WorkloadOwner& owner, const plan::WorkloadAnswer& answer) const {
  metrics_
      .counter("tpuslice_workload_requests_total", "Requests to servers in the pods of workloads, by result",
               {{"controller", owner.controller}, {"result", std::string(result_of(answer))}})
      .increment();
}

}  // namespace tpuslice::runtime
