#include "controllers/raycluster/pods/slice_text.h"

#include <string_view>

#include <fmt/format.h>

#include "api/base/strings.h"
#include "api/types/json_text.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "tpu/labels.h"

namespace tpuslice::raycluster {
namespace {

/// Begins and ends a mark. Printed, it cannot be part of a name or number.
constexpr std::string_view kMark = "\x01";
constexpr std::string_view kPrintedMark = R"(\u0001)";
constexpr std::string_view kWorkerId = "TPU_WORKER_ID";

/// The position of the variable; nothing without it.
std::optional<std::size_t> find_worker_id(const Json& container) {
  const Json& env = array_at(container, {"env"});
  for (std::size_t at = 0; at < env.size(); ++at) {
    if (string_at(env[at], {"name"}) == kWorkerId) return at;
  }
  return std::nullopt;
}

}  // namespace

Json SliceText::mark(Field field, int process) {
  return fmt::format("{0}{1}{2}{0}", kMark, static_cast<char>(field), process);
}

/// Replaces the worker ids by marks; returns their number.
int SliceText::mark_worker_ids(Json& pod, const Json& common) {
  int processes = 0;
  Json& containers = pod["spec"]["containers"];
  for (std::size_t i = 0; i < containers.size(); ++i) {
    const std::optional<std::size_t> id = find_worker_id(containers[i]);
    if (!id || find_worker_id(common["spec"]["containers"][i])) continue;
    containers[i]["env"][*id]["value"] = mark(Field::kWorkerId, processes++);
  }
  return processes;
}

std::optional<SliceText> SliceText::make(Json pod, const Json& common) {
  if (print_json(pod).find(kPrintedMark) != std::string::npos) return std::nullopt;
  SliceText out;
  out.processes_ = mark_worker_ids(pod, common);
  Json& metadata = pod["metadata"];
  metadata["name"] = mark(Field::kPodName);
  metadata["labels"][std::string(kRayHostIndex)] = mark(Field::kIndex);
  const auto has_index = [](const Json& json) {
    return find_path(json, {"metadata", "annotations", tpu::kSliceHost}) != nullptr;
  };
  if (has_index(pod) && !has_index(common)) {
    metadata["annotations"][std::string(tpu::kSliceHost)] = mark(Field::kIndex);
  }
  const bool own_hostname = find_path(common, {"spec", "hostname"}) == nullptr;
  if (own_hostname && pod["spec"].contains("hostname")) pod["spec"]["hostname"] = mark(Field::kHostname);

  const std::string text = print_json(pod);
  out.size_ = text.size();
  std::string_view rest = text;
  while (true) {
    const std::size_t begin = rest.find(kPrintedMark);
    if (begin == std::string_view::npos) break;
    const std::string_view inside = rest.substr(begin + kPrintedMark.size());
    const std::size_t end = inside.find(kPrintedMark);
    const std::string_view process = inside.substr(1, end - 1);
    out.pieces_.push_back({std::string(rest.substr(0, begin)), static_cast<Field>(inside.front()),
                           parse_integer<int>(process).value_or(0)});
    rest = inside.substr(end + kPrintedMark.size());
  }
  out.pieces_.push_back({std::string(rest)});
  return out;
}

std::string SliceText::of(const SliceHost& host) const {
  std::string out;
  out.reserve(size_ + host.pod_name.size() + host.hostname.size());
  for (const Piece& piece : pieces_) {
    out += piece.text;
    switch (piece.next) {
      case Field::kPodName:
        out += host.pod_name;
        break;
      case Field::kHostname:
        out += host.hostname;
        break;
      case Field::kIndex:
        out += std::to_string(host.index);
        break;
      case Field::kWorkerId:
        out += std::to_string(host.index * processes_ + piece.process);
        break;
      case Field::kEnd:
        break;
    }
  }
  return out;
}

}  // namespace tpuslice::raycluster
