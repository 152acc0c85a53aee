// Services from bytes.
#include "api/types/view_reader.h"

namespace tpuslice {
namespace view {
namespace {

/// Absent members have the API server's defaults.
ServicePort read_port(Value value) {
  ServicePort port;
  port.protocol = "TCP";
  each_member(value, [&](std::string_view key, Value member) {
    if (key == "name") port.name = shared_text_of(member);
    if (key == "protocol") port.protocol = shared_text_of(member);
    if (key == "port") port.port = int32_of(member, key);
    if (key != "targetPort") return;
    const bool is_name = member.type() == simdjson::ondemand::json_type::string;
    port.target = is_name ? shared_text_of(member) : SharedString(std::to_string(int32_of(member, key)));
  });
  if (port.target.empty()) port.target = std::to_string(port.port);
  return port;
}

void read_service_spec(Value value, ServiceView& service) {
  each_member(value, [&](std::string_view key, Value member) {
    if (key == "ports") {
      each_item(member, [&](Value port) {
        if (service.ports.size() <= kMaxServicePorts) service.ports.push_back(read_port(port));
      });
    }
    if (key == "selector") service.selector = strings_of(member);
    if (key == "clusterIP") service.headless = text_of(member) == "None";
    if (key == "publishNotReadyAddresses") service.publishes_not_ready = flag_of(member);
  });
}

}  // namespace
}  // namespace view

Result<ServiceView> ServiceView::decode(std::string_view json, const KeptKeys* /*keep*/) {
  ServiceView service;
  view::Metadata metadata;
  RETURN_IF_ERROR(view::decode("service", json, [&](std::string_view member, view::Value value) {
    if (member == "metadata") metadata = view::read_metadata(value);
    if (member == "spec") view::read_service_spec(value, service);
  }));
  if (!service.headless) service.ports = {};
  RETURN_IF_ERROR(view::take_metadata("service", std::move(metadata), service));
  return service;
}

}  // namespace tpuslice
