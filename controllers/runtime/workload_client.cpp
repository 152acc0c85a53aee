#include "controllers/runtime/workload_client.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <span>
#include <utility>

#include "api/base/backoff.h"
#include "api/base/base64.h"
#include "api/http/client/network_transport.h"
#include "controllers/runtime/event_query.h"

namespace tpuslice::runtime {
namespace {

/// Bytes of a response: status of a job, or of all applications of a cluster.
constexpr std::size_t kMaxResponse = 1U << 20U;

/// The host of "10.0.1.7:8265" and "[fd00::1]:8265".
std::string_view host_of(std::string_view address) { return address.substr(0, address.rfind(':')); }

/// Multicast and broadcast count as local.
bool is_local_ipv4(const std::array<unsigned char, 4>& bytes) {
  return bytes[0] == 127 || bytes[0] == 0 || (bytes[0] == 169 && bytes[1] == 254) || bytes[0] >= 224;
}

/// Prefixes of IPv6 addresses that end with an IPv4 address: compatible (also :: and ::1), mapped, NAT64.
constexpr std::array<std::array<unsigned char, 12>, 3> kOfIpv4 = {
    {{}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, {0, 0x64, 0xff, 0x9b}}};

bool is_local_ipv6(const std::array<unsigned char, 16>& bytes) {
  const bool of_ipv4 = std::ranges::any_of(
      kOfIpv4, [&](const auto& prefix) { return std::equal(prefix.begin(), prefix.end(), bytes.begin()); });
  if (of_ipv4) return is_local_ipv4({bytes[12], bytes[13], bytes[14], bytes[15]});
  return bytes[0] == 0xff || (bytes[0] == 0xfe && (bytes[1] & 0xc0U) == 0x80);
}

/// An IP address, and neither loopback, unspecified, link-local nor multicast.
bool is_pod_address(std::string_view host) {
  std::array<unsigned char, 4> ipv4{};
  if (inet_pton(AF_INET, std::string(host).c_str(), ipv4.data()) == 1) return !is_local_ipv4(ipv4);
  if (!host.starts_with('[') || !host.ends_with(']')) return false;
  std::array<unsigned char, 16> ipv6{};
  const std::string inside(host.substr(1, host.size() - 2));
  return inet_pton(AF_INET6, inside.c_str(), ipv6.data()) == 1 && !is_local_ipv6(ipv6);
}

/// Names of objects have no slash.
ObjectKey slot_key(const WorkloadOwner& owner, const std::string& request) {
  return {owner.key.namespace_name, owner.controller + "/" + owner.key.name + "/" + request};
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

/// The values of result_of().
constexpr std::array<std::string_view, 4> kResults = {"no_answer", "success", "refused", "server_error"};

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
    if (override_address.empty() && !is_pod_address(host_of(address))) {
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
                               WorkloadClientOptions options, Logger log)
    : send_(std::move(send)),
      reader_(reader),
      clock_(clock),
      metrics_(metrics),
      options_(std::move(options)),
      barrier_("workload request", metrics, clock, std::move(log)),
      queue_({.name = "workload_requests"}, clock, metrics) {}

void WorkloadClient::on_answer(const std::string& controller, std::function<void(const ObjectKey&)> listener) {
  listeners_[controller] = std::move(listener);
  for (const std::string_view result : kResults) requests(controller, result);  // Zero from the start.
}

void WorkloadClient::set(const WorkloadOwner& owner, const std::vector<plan::WorkloadRequest>& requests) {
  const MutexLock lock(mutex_);
  const auto known = owners_.find(owner);
  if (requests.empty() && known == owners_.end()) return;
  const std::size_t count = std::min(requests.size(), options_.max_requests);
  std::vector<std::string> names;
  for (const plan::WorkloadRequest& request : std::span(requests).first(count)) {
    names.push_back(request.name);
    const ObjectKey key = slot_key(owner, request.name);
    Slot& slot = slots_[key];
    if (slot.request != nullptr && *slot.request == request) continue;
    slot.owner = owner;
    slot.request = std::make_shared<const plan::WorkloadRequest>(request);
    slot.due = clock_.now();
    slot.failures = 0;
    queue_.add(key);
  }
  if (known != owners_.end()) {
    for (const std::string& name : known->second) {
      if (std::ranges::find(names, name) == names.end()) erase_locked(slot_key(owner, name));
    }
  }
  if (names.empty()) {
    owners_.erase(owner);
  } else {
    owners_[owner] = std::move(names);
  }
}

plan::WorkloadAnswers WorkloadClient::answers(const WorkloadOwner& owner) const {
  const MutexLock lock(mutex_);
  const auto known = owners_.find(owner);
  if (known == owners_.end()) return {};
  std::vector<std::shared_ptr<const plan::WorkloadAnswer>> out;
  for (const std::string& name : known->second) {
    const Slot& slot = slots_.at(slot_key(owner, name));
    if (slot.answer != nullptr) out.push_back(slot.answer);
  }
  return plan::WorkloadAnswers(std::move(out));
}

void WorkloadClient::forget(const std::string& controller) {
  const MutexLock lock(mutex_);
  const auto begin = owners_.lower_bound(WorkloadOwner{controller, {}});
  auto end = begin;
  for (; end != owners_.end() && end->first.controller == controller; ++end) {
    for (const std::string& name : end->second) erase_locked(slot_key(end->first, name));
  }
  owners_.erase(begin, end);
}

bool WorkloadClient::step(Instant now, const std::stop_token& stop) {
  const std::optional<ObjectKey> slot = queue_.pop(now);
  if (!slot) return false;
  send(*slot, stop);
  queue_.done(*slot);
  return true;
}

void WorkloadClient::run(const std::stop_token& stop) {
  while (const std::optional<ObjectKey> slot = queue_.wait_pop(stop)) {
    send(*slot, stop);
    queue_.done(*slot);
  }
}

std::optional<WorkloadClient::Job> WorkloadClient::take(const ObjectKey& slot) {
  const MutexLock lock(mutex_);
  const auto found = slots_.find(slot);
  const Instant now = clock_.now();
  if (found == slots_.end() || !found->second.due || *found->second.due > now) {
    if (found != slots_.end() && found->second.due) queue_.add_after(slot, *found->second.due - now);
    wake_next_locked(slot.namespace_name);  // This slot may have been woken, but sends nothing.
    return std::nullopt;
  }
  Slot& state = found->second;
  if (!may_send_locked(slot.namespace_name)) {
    if (!state.ticket) {
      state.ticket = next_ticket_++;
      waiting_[slot.namespace_name].emplace(*state.ticket, slot);
    }
    return std::nullopt;
  }
  stop_waiting_locked(slot, state);
  ++in_flight_[slot.namespace_name];
  state.due.reset();
  return Job{state.owner, state.request};
}

void WorkloadClient::send(const ObjectKey& slot, const std::stop_token& stop) {
  const std::optional<Job> job = take(slot);
  if (!job) return;
  std::optional<plan::WorkloadAnswer> answer = ask(*job, stop);
  bool news = false;
  {
    const MutexLock lock(mutex_);
    if (answer && !stop.stop_requested()) news = store_locked(slot, *std::move(answer));
    release_namespace_locked(slot.namespace_name);
  }
  const auto listener = listeners_.find(job->owner.controller);
  if (news && listener != listeners_.end()) listener->second(job->owner.key);
}

void WorkloadClient::release_namespace_locked(const std::string& name) {
  const auto count = in_flight_.find(name);
  if (--count->second == 0) in_flight_.erase(count);
  wake_next_locked(name);
}

bool WorkloadClient::may_send_locked(const std::string& namespace_name) const {
  const auto count = in_flight_.find(namespace_name);
  return count == in_flight_.end() || count->second < options_.per_namespace;
}

void WorkloadClient::wake_next_locked(const std::string& namespace_name) {
  const auto waiting = waiting_.find(namespace_name);
  if (waiting == waiting_.end() || !may_send_locked(namespace_name)) return;
  const ObjectKey next = waiting->second.begin()->second;
  stop_waiting_locked(next, slots_.at(next));
  queue_.add(next);
}

void WorkloadClient::stop_waiting_locked(const ObjectKey& slot, Slot& state) {
  if (!state.ticket) return;
  const auto waiting = waiting_.find(slot.namespace_name);
  waiting->second.erase(*state.ticket);
  if (waiting->second.empty()) waiting_.erase(waiting);
  state.ticket.reset();
}

void WorkloadClient::erase_locked(const ObjectKey& slot) {
  const auto found = slots_.find(slot);
  if (found == slots_.end()) return;
  stop_waiting_locked(slot, found->second);
  slots_.erase(found);
}

std::optional<plan::WorkloadAnswer> WorkloadClient::ask(const Job& job, const std::stop_token& stop) const {
  http::Request message = to_http(*job.request);
  const bool fenced = job.request->method != "GET" && options_.may_send != nullptr;
  if (fenced) {
    message.may_send = [this, controller = job.owner.controller] { return options_.may_send(controller); };
  }
  plan::WorkloadAnswer out{*job.request};
  const Status exchanged = barrier_.run([&] { return exchange(job, message, out, stop); });
  if (!exchanged) {
    // It was not sent, or it was cancelled for another reason.
    if (fenced && exchanged.error().code() == ErrorCode::kCancelled && !message.may_send()) return std::nullopt;
    out.error = exchanged.error().message();
  }
  out.received = clock_.wall();
  requests(job.owner.controller, result_of(out)).increment();
  return out;
}

Status WorkloadClient::exchange(const Job& job, http::Request& message, plan::WorkloadAnswer& out,
                                const std::stop_token& stop) const {
  const plan::WorkloadRequest& request = *job.request;
  if (request.events) {
    ASSIGN_OR_RETURN(out.content, newest_event(reader_, job.owner.key.namespace_name, *request.events, stop));
    out.status = 200;
    return {};
  }
  if (send_ == nullptr) return Error::internal("request {}: no server in pods can be reached", request.name);
  if (request.token) {
    ASSIGN_OR_RETURN(const std::string found, token(job.owner.key.namespace_name, *request.token, stop));
    message.headers.emplace_back("Authorization", "Bearer " + found);
  }
  // Reading the Secret may have taken long.
  if (message.may_send && !message.may_send()) return Error::of(ErrorCode::kCancelled, "this replica does not lead");
  ASSIGN_OR_RETURN(const http::Response response, send_(request.address, message, options_.timeout, stop));
  if (request.read != nullptr) out.content = request.read(response.status, response.body);
  out.status = response.status;
  return {};
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

bool WorkloadClient::store_locked(const ObjectKey& key, plan::WorkloadAnswer answer) {
  const auto found = slots_.find(key);
  if (found == slots_.end() || *found->second.request != answer.request) return false;  // Replaced meanwhile.
  Slot& slot = found->second;
  const bool failed = answer.status == 0 || answer.status >= 500;
  slot.failures = failed ? slot.failures + 1 : 0;
  const Duration interval = answer.request.interval;
  if (interval > Duration::zero()) {
    const Duration wait =
        std::max(interval, exponential_backoff(slot.failures, interval, std::max(interval, options_.max_interval)));
    slot.due = clock_.now() + wait;
    queue_.add_after(key, wait);
  }
  const bool news = is_news(slot.answer.get(), answer);
  slot.answer = std::make_shared<const plan::WorkloadAnswer>(std::move(answer));
  return news;
}

Counter& WorkloadClient::requests(const std::string& controller, std::string_view result) const {
  return metrics_.counter("tpuslice_workload_requests_total",
                          "Requests to servers in the pods of workloads, and for events about children, by result",
                          {{"controller", controller}, {"result", std::string(result)}});
}

}  // namespace tpuslice::runtime
