// EnvConvention: where the webhooks of the ecosystem differ in the environment that they give TPU workers.
#pragma once

namespace tpuslice::tpu {

/// The defaults are those of GKE's webhook for Indexed Jobs.
struct EnvConvention {
  int process_port = 8471;                ///< TPU_PROCESS_PORT of the first process of a host.
  int megascale_port = 8080;              ///< MEGASCALE_PORT of the first process of a host.
  bool always_addresses = false;          ///< TPU_PROCESS_ADDRESSES even if hosts are not split between processes.
  bool hostnames_per_process = false;     ///< TPU_WORKER_HOSTNAMES repeats a host for each of its processes.
  bool hostnames_of_single_host = false;  ///< A slice of one host has them too; else the device plugin sets localhost.
  bool respects_user_identity = false;    ///< Nothing is injected if the user set the worker's id or hostnames.
};

}  // namespace tpuslice::tpu
