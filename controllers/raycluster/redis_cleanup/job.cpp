#include "controllers/raycluster/redis_cleanup/job.h"

#include <utility>

#include "api/types/resource_type.h"
#include "controllers/raycluster/names.h"
#include "controllers/raycluster/pods/environment.h"
#include "controllers/raycluster/pods/pod_builder.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "controllers/raycluster/upgrade.h"
#include "tpu/labels.h"

namespace tpuslice::raycluster {
namespace {

/// The command of the Job. It uses the first of several addresses. Earlier versions of Ray do not accept a user name.
constexpr std::string_view kScript = R"(exec python3 -c "
import os, sys
from urllib.parse import urlparse
from ray._private.gcs_utils import cleanup_redis_storage
address = os.environ.get('RAY_REDIS_ADDRESS', '').split(',')[0]
url = urlparse(address if '://' in address else 'redis://' + address)
arguments = {
    'host': url.hostname,
    'port': url.port,
    'password': os.environ.get('REDIS_PASSWORD', url.password or ''),
    'use_ssl': url.scheme == 'rediss',
    'storage_namespace': os.environ.get('RAY_external_storage_namespace'),
}
if 'REDIS_USERNAME' in os.environ:
    arguments['username'] = os.environ['REDIS_USERNAME']
print('deleting storage namespace', arguments['storage_namespace'], 'from Redis at', url.hostname, url.port)
sys.exit(0 if cleanup_redis_storage(**arguments) else 1)
"
)";

Json cleanup_container(Json container) {
  for (const char* member : {"livenessProbe", "readinessProbe", "startupProbe"}) container.erase(member);
  container["command"] = {"/bin/bash", "-c", "--"};
  container["args"] = Json::array({kScript});
  // The process keeps trying to reach Redis for a minute.
  add_variable(container, {{"name", "RAY_redis_db_connect_retries"}, {"value", "120"}});
  add_variable(container, {{"name", "RAY_redis_db_connect_wait_milliseconds"}, {"value", "500"}});
  const Json resources = {{"cpu", "200m"}, {"memory", "256Mi"}};
  container["resources"] = {{"limits", resources}, {"requests", resources}};
  return container;
}

}  // namespace

Result<Object> build_redis_cleanup_job(const RayClusterSpec& spec, const Options& options) {
  // The Job needs neither token authentication nor the autoscaler, and a foreground deletion deletes their Secret and
  // service account before the Job runs.
  RayClusterSpec head_alone = spec;
  head_alone.auth = {};
  head_alone.autoscaling = {};
  ASSIGN_OR_RETURN(Object pod, build_head_pod(head_alone, options));
  Json& metadata = pod.mutable_json()["metadata"];
  set_label(metadata["labels"], kRayNodeType, kRedisCleanupNode);
  for (const std::string_view hash : {kSpecHash, kSpecHashVersion}) metadata["annotations"].erase(std::string(hash));
  const Json labels_and_annotations = {{"labels", metadata["labels"]}, {"annotations", metadata["annotations"]}};

  Json pod_spec = pod.json()["spec"];
  pod_spec["containers"] = Json::array({cleanup_container(pod_spec["containers"][0])});
  pod_spec["restartPolicy"] = "Never";

  Json job_metadata = labels_and_annotations;
  job_metadata["name"] = redis_cleanup_job_name(spec);
  job_metadata["namespace"] = spec.key.namespace_name;
  job_metadata["ownerReferences"] = Json::array({spec.owner.to_json()});
  return Object({{"apiVersion", kJobs.api_version()},
                 {"kind", kJobs.kind},
                 {"metadata", std::move(job_metadata)},
                 {"spec",
                  {{"backoffLimit", 0},
                   {"activeDeadlineSeconds", 300},
                   {"template", {{"metadata", labels_and_annotations}, {"spec", std::move(pod_spec)}}}}}});
}

}  // namespace tpuslice::raycluster
