// Services from bytes.
#include "api/types/view_reader.h"

namespace tpuslice {
namespace view {
namespace {

void read_service_spec(Value value, ServiceView& service) {
  each_member(value, [&](std::string_view key, Value member) {
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
  RETURN_IF_ERROR(view::take_metadata("service", std::move(metadata), service));
  return service;
}

}  // namespace tpuslice
