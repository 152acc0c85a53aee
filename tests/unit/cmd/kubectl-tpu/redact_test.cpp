#include "cmd/kubectl-tpu/redact.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types/yaml.h"

namespace tpuslice::plugin {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Redacted, ValuesOfUsersAreRemovedAtAnyDepth) {
  const Json object = parse_yaml(R"(
metadata:
  name: train
  managedFields: [{manager: secret-1}]
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: secret-2
    example.com/note: secret-3
    tpuslice.dev/placed-in: pool-a
spec:
  entrypoint: python secret-4
  replicatedJobs:
    - template:
        spec:
          template:
            metadata: {annotations: {note: secret-5}}
            spec:
              initContainers: [{name: init, env: [{name: TOKEN, value: secret-6}]}]
              containers:
                - name: main
                  image: example/train:1
                  command: [sh, -c, secret-7]
                  args: [secret-8]
                  env:
                    - {name: PASSWORD, value: secret-9}
                    - {name: TPU_WORKER_ID, value: "3"}
                    - {name: FROM, valueFrom: {secretKeyRef: {name: kept-name, key: kept-key}}}
                  readinessProbe: {httpGet: {httpHeaders: [{name: Authorization, value: secret-11}]}}
              tolerations: [{key: team, value: kept-value}]
  gcsFaultToleranceOptions: {redisPassword: {value: secret-12}}
status: {containerStatuses: [{state: {terminated: {reason: Error, message: secret-13}}}]}
data: {a: secret-10}
)")
                          .value();
  const std::string text = redacted(object).dump();
  EXPECT_THAT(text, Not(HasSubstr("secret-")));
  for (const char* kept :
       {"pool-a", "example/train:1", "TPU_WORKER_ID\",\"value\":\"3", "PASSWORD", "kept-name", "kept-value"}) {
    EXPECT_THAT(text, HasSubstr(kept));
  }
}

}  // namespace
}  // namespace tpuslice::plugin
