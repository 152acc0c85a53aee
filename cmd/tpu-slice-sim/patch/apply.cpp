#include "cmd/tpu-slice-sim/patch/apply.h"

#include <algorithm>

#include <fmt/format.h>

#include "cmd/tpu-slice-sim/patch/managed_fields.h"
#include "cmd/tpu-slice-sim/resources/api_errors.h"
#include "cmd/tpu-slice-sim/schema/builtin.h"
#include "cmd/tpu-slice-sim/schema/structural.h"

namespace tpuslice::sim {
namespace {

constexpr std::string_view kApply = "Apply";

Status check_config(const Resource& resource, const Json& config, const PatchContext& context) {
  if (context.field_manager.empty()) {
    return Error::of(
               ErrorCode::kInvalid,
               "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply patch")
        .with_reason("Invalid");
  }
  if (!config.is_object()) return bad_request("error decoding apply patch: it must be an object");
  const std::string version = string_at(config, {"apiVersion"});
  const std::string kind = string_at(config, {"kind"});
  if (version != resource.api_version() || kind != resource.kind) {
    const std::string_view slash = version.find('/') == std::string::npos ? "/" : "";
    return bad_request(fmt::format("invalid object type: {}{}, Kind={}", slash, version, kind));
  }
  if (const Json* fields = find_path(config, {"metadata", "managedFields"}); fields != nullptr && !fields->empty()) {
    return bad_request("metadata.managedFields must be nil");
  }
  return {};
}

Json merge_values(const SchemaCursor& schema, const Json& live, const Json& config);

Json merge_lists(const SchemaCursor& schema, const Json& live, const Json& config) {
  Json merged = live;
  std::map<std::string, std::size_t> positions;
  for (std::size_t i = 0; i < live.size(); ++i) positions.emplace(schema.element_of(live[i]), i);
  for (const Json& item : config) {
    const auto found = positions.find(schema.element_of(item));
    if (found == positions.end()) {
      merged.push_back(item);
    } else {
      merged[found->second] = merge_values(schema.item(), live[found->second], item);
    }
  }
  return merged;
}

/// `config` merged over the live object.
Json merge_values(const SchemaCursor& schema, const Json& live, const Json& config) {
  const Shape shape = schema.shape(config);
  if (shape == Shape::kLeaf || schema.shape(live) != shape) return config;
  if (shape != Shape::kMap) return merge_lists(schema, live, config);
  Json merged = live;
  for (const auto& [name, value] : config.items()) {
    const auto found = live.find(name);
    merged[name] = found == live.end() ? value : merge_values(schema.member(name), *found, value);
  }
  return merged;
}

/// Removes the fields of `dropped` that no other manager owns.
class Remover {
 public:
  /// Returns false if `value` is empty afterwards.
  bool run(const SchemaCursor& schema, Json& value, const FieldSet& dropped, const FieldSet* others) {
    if (dropped.member && (others == nullptr || others->empty())) return false;
    const Shape shape = schema.shape(value);
    if (shape == Shape::kLeaf || dropped.children.empty()) return true;
    const std::size_t before = value.size();
    if (shape == Shape::kMap) {
      members(schema, value, dropped, others);
    } else {
      items(schema, value, dropped, others);
    }
    const bool emptied = value.empty() && before > 0;
    return !emptied || (others != nullptr && others->member);
  }

 private:
  void members(const SchemaCursor& schema, Json& object, const FieldSet& dropped, const FieldSet* others) {
    for (const auto& [element, child] : dropped.children) {
      const std::string name = element.substr(2);
      const auto found = object.find(name);
      if (found == object.end()) continue;
      const FieldSet* shared = others == nullptr ? nullptr : others->child(element);
      if (!run(schema.member(name), *found, child, shared)) object.erase(name);
    }
  }

  void items(const SchemaCursor& schema, Json& list, const FieldSet& dropped, const FieldSet* others) {
    Json kept = Json::array();
    for (Json& item : list) {
      const std::string element = schema.element_of(item);
      const FieldSet* child = dropped.child(element);
      const FieldSet* shared = others == nullptr ? nullptr : others->child(element);
      if (child == nullptr || run(schema.item(), item, *child, shared)) kept.push_back(std::move(item));
    }
    list = std::move(kept);
  }
};

struct FieldConflict {
  std::string manager;
  std::string path;
};

std::string print_manager(const ManagedEntry& entry) {
  std::string text = fmt::format("\"{}\"", entry.manager);
  if (!entry.subresource.empty()) text += fmt::format(" with subresource \"{}\"", entry.subresource);
  if (entry.operation == "Update") text += " using " + entry.api_version;
  return text;
}

Error conflict_error(std::vector<FieldConflict> conflicts) {
  std::stable_sort(conflicts.begin(), conflicts.end(),
                   [](const FieldConflict& a, const FieldConflict& b) { return a.manager < b.manager; });
  std::string text;
  if (conflicts.size() == 1) {
    text = fmt::format("Apply failed with 1 conflict: conflict with {}: {}", conflicts[0].manager, conflicts[0].path);
  } else {
    text = fmt::format("Apply failed with {} conflicts: ", conflicts.size());
    std::string last;
    for (const FieldConflict& each : conflicts) {
      if (each.manager != last) text += fmt::format("{}conflicts with {}:", last.empty() ? "" : "\n", each.manager);
      text += "\n- " + each.path;
      last = each.manager;
    }
  }
  return Error(ErrorCode::kConflict, std::move(text)).with_reason("Conflict");
}

/// One apply, step by step.
class Apply {
 public:
  Apply(const Resource& resource, const Json& current, const PatchContext& context)
      : resource_(resource), context_(context), schema_(SchemaCursor::root(resource)) {
    if (current.is_object()) live_ = current;
    entries_ = read_managed_fields(live_);
    if (entries_.empty() && current.is_object()) entries_.push_back(first_owner());
  }

  Result<Json> run(const Json& config) {
    RETURN_IF_ERROR(check_declared(config));
    const FieldSet wanted = owned_part(resource_, fields_of(schema_, config), context_.subresource);
    ManagedEntry mine = take_mine();
    Json merged = merge_values(schema_, live_, config);
    prune(merged, set_difference(mine.fields, wanted), wanted);
    RETURN_IF_ERROR(settle_conflicts(merged));
    mine.fields = wanted;
    mine.api_version = resource_.api_version();
    // A change of ownership alone does not set the time.
    if (merged != live_) mine.time = format_rfc3339(context_.now);
    entries_.push_back(std::move(mine));
    write_managed_fields(merged, std::move(entries_));
    return merged;
  }

 private:
  /// Errors: an unknown field of a built-in kind.
  [[nodiscard]] Status check_declared(const Json& config) const {
    if (resource_.custom) return {};
    Json rest = config;
    const std::vector<std::string> unknown = tpuslice::sim::prune(builtin_schema(resource_), rest);
    if (unknown.empty()) return {};
    const bool grouped = resource_.api_version().find('/') != std::string::npos;
    return unreasoned(500,
                      fmt::format("failed to create typed patch object ({}/{}; {}{}, Kind={}): .{}: field not declared "
                                  "in schema",
                                  string_at(config, {"metadata", "namespace"}), string_at(config, {"metadata", "name"}),
                                  grouped ? "" : "/", resource_.api_version(), resource_.kind, unknown.front()));
  }

  /// The fields of an object without managedFields belong to the manager "before-first-apply".
  [[nodiscard]] ManagedEntry first_owner() const {
    Comparison all = compare_fields(schema_, Json::object(), live_);
    return {"before-first-apply",         "Update",
            resource_.api_version(),      "",
            format_rfc3339(context_.now), owned_part(resource_, std::move(all.changed), "")};
  }

  ManagedEntry take_mine() {
    const auto found = std::find_if(entries_.begin(), entries_.end(), [this](const ManagedEntry& entry) {
      return entry.is(context_.field_manager, kApply, context_.subresource);
    });
    if (found == entries_.end()) {
      return {context_.field_manager, std::string(kApply), resource_.api_version(), context_.subresource, "", {}};
    }
    ManagedEntry mine = std::move(*found);
    entries_.erase(found);
    return mine;
  }

  /// Removes fields that were applied before and no longer are, except those that are `wanted` or owned by another
  /// manager, and their parents: an entry migrated from a client-side apply may own an object as a whole.
  void prune(Json& merged, const FieldSet& dropped, const FieldSet& wanted) const {
    if (dropped.empty()) return;
    FieldSet others = wanted;
    for (const ManagedEntry& entry : entries_) others = set_union(others, entry.fields);
    Remover().run(schema_, merged, dropped, &others);
  }

  Status settle_conflicts(const Json& merged) {
    const Comparison difference = compare_fields(schema_, live_, merged);
    std::vector<FieldConflict> conflicts;
    for (ManagedEntry& entry : entries_) {
      const FieldSet taken = set_intersection(entry.fields, difference.changed);
      for (const std::string& path : taken.paths()) conflicts.push_back({print_manager(entry), path});
      entry.fields = set_difference(set_difference(entry.fields, taken), difference.removed);
    }
    if (!context_.force && !conflicts.empty()) return conflict_error(std::move(conflicts));
    return {};
  }

  const Resource& resource_;
  const PatchContext& context_;
  const SchemaCursor schema_;
  Json live_ = Json::object();
  std::vector<ManagedEntry> entries_;
};

}  // namespace

Result<Json> apply_server_side(const Resource& resource, const Json& current, const Json& config,
                               const PatchContext& context) {
  RETURN_IF_ERROR(check_config(resource, config, context));
  return Apply(resource, current, context).run(config);
}

}  // namespace tpuslice::sim
