// kubectl tpu create: prints, or applies, the manifest of a workload.
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "api/types/yaml.h"
#include "cmd/kubectl-tpu/commands/commands.h"
#include "cmd/kubectl-tpu/manifests.h"
#include "cmd/kubectl-tpu/workload_pods.h"

namespace tpuslice::plugin {
namespace {

struct CreateOptions {
  std::string kind;
  ManifestOptions manifest;
  std::string tpu;
  bool apply = false;
};

Result<ResourceType> type_of(const Json& object) {
  const std::string kind = string_at(object, {"kind"});
  if (kind == kServices.kind) return kServices;
  return workload_type_of(kind);
}

std::string documents_of(const std::vector<Json>& objects) {
  std::string text;
  for (const Json& object : objects) text += (text.empty() ? "" : "---\n") + to_yaml(object);
  return text;
}

/// The same command with --apply, without the command of the containers.
std::string apply_command(const CreateOptions& options) {
  std::string text = fmt::format("create {} {} --tpu {} --slices {} --image {} --apply", options.kind,
                                 options.manifest.name, options.tpu, options.manifest.slices, options.manifest.image);
  if (!options.manifest.namespace_name.empty()) text += " -n " + options.manifest.namespace_name;
  if (!options.manifest.command.empty()) text += " -- ...";
  return text;
}

/// Creates the objects, the workload last; none if the API server would refuse one of them. Errors: AlreadyExists;
/// Invalid if admission refuses one.
Status create_all(Context& context, const std::vector<Json>& objects) {
  ASSIGN_OR_RETURN(client::Client* const api, context.api());
  for (const Json& object : objects) {
    ASSIGN_OR_RETURN(const ResourceType type, type_of(object));
    const Result<Object> accepted = api->create(type, Object(object), {.dry_run = true}, context.stop());
    if (!accepted) return accepted.error();
  }
  for (const Json& object : objects) {
    ASSIGN_OR_RETURN(const ResourceType type, type_of(object));
    const Result<Object> created = api->create(type, Object(object), {}, context.stop());
    if (!created) return created.error();
    context.print(fmt::format("{}/{} created\n", type.resource(), created->name()));
  }
  return {};
}

Result<ExitCode> create_workload(Context& context, CreateOptions options) {
  const Result<SliceShape> shape = parse_slice_shape(options.tpu);
  if (!shape) return shape.error().within("--tpu");
  options.manifest.shape = *shape;
  options.manifest.namespace_name = context.options().namespace_name;
  if (options.apply) {
    ASSIGN_OR_RETURN(options.manifest.namespace_name, context.namespace_name());
  }
  ASSIGN_OR_RETURN(const std::vector<Json> objects, make_manifest(options.kind, options.manifest));
  if (!options.apply) {
    if (context.format() == Format::kJson) {
      context.print_document({{"apiVersion", "v1"}, {"kind", "List"}, {"items", objects}});
    } else {
      context.print(documents_of(objects));
    }
    context.suggest(apply_command(options));
    return ExitCode::kYes;
  }
  const Status created = create_all(context, objects);
  if (!created && (created.error().code() == ErrorCode::kInvalid ||
                   (created.error().code() == ErrorCode::kForbidden &&
                    created.error().message().find("admission webhook") != std::string::npos))) {
    context.note("kubectl-tpu: " + created.error().message());
    return ExitCode::kRefused;
  }
  if (!created) return created.error();
  context.suggest(
      fmt::format("explain {}/{} -n {}", options.kind, options.manifest.name, options.manifest.namespace_name));
  return ExitCode::kYes;
}

}  // namespace

void add_create(CLI::App& app, Commands& commands) {
  const auto options = std::make_shared<CreateOptions>();
  CLI::App& command =
      commands.add(app, "create", "Print the manifest of a workload: create KIND NAME --tpu v6e-4x4 --image I -- CMD",
                   [options](Context& context) { return create_workload(context, *options); });
  command.add_option("kind", options->kind, "job, jobset, raycluster or lws")
      ->required()
      ->check(CLI::IsMember(manifest_kinds()));
  command.add_option("name", options->manifest.name, "Name of the workload")->required();
  command.add_option("command", options->manifest.command, "Command of the containers, behind --");
  command.add_option("--tpu", options->tpu, "Generation and topology, e.g. v6e-4x4 or v5p-2x2x4")->required();
  command.add_option("--slices", options->manifest.slices, "Number of slices. Default: 1")->check(CLI::Range(1, 1000));
  command.add_option("--image", options->manifest.image, "Image of the containers")->required();
  command.add_flag("--apply", options->apply, "Create the objects instead of printing them");
}

}  // namespace tpuslice::plugin
