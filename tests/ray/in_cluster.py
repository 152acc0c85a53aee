"""Runs in the head pod: what Ray knows of the cluster, as JSON in the line "ANSWER <JSON>".

in_cluster.py nodes|identities|slice|request|free
"""
import json
import sys

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy, PlacementGroupSchedulingStrategy


def identity():
    """As Ray's TPU support reads it from the environment of the pod."""
    from ray._private.accelerators import TPUAcceleratorManager as Tpu
    from ray.util import tpu
    return {
        "address": ray.util.get_node_ip_address(),
        "name": tpu.get_current_pod_name(),
        "worker_id": Tpu.get_current_node_tpu_worker_id(),
        "workers": tpu.get_current_pod_worker_count(),
        "topology": Tpu.get_current_node_tpu_topology(),
        "pod_type": Tpu.get_current_node_tpu_pod_type(),
        "chips": tpu.get_num_tpu_chips_on_node(),
    }


def nodes():
    return [{"address": node["NodeManagerAddress"], "resources": node["Resources"], "labels": node["Labels"]}
            for node in ray.nodes() if node["Alive"]]


def identities():
    read = ray.remote(num_cpus=0)(identity)
    return ray.get([read.options(scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)).remote()
                    for node in ray.nodes() if node["Alive"] and "TPU" in node["Resources"]], timeout=100)


def reserved_slice():
    """Reserves a whole slice and runs a task on each of its hosts."""
    from ray.util.tpu import slice_placement_group
    handle = slice_placement_group(topology="4x4", accelerator_version="v6e", head_reservation_timeout_s=60)
    group = handle.placement_group
    ray.get(group.ready(), timeout=60)
    read = ray.remote(num_cpus=0, resources={"TPU": 4})(identity)
    tasks = [read.options(scheduling_strategy=PlacementGroupSchedulingStrategy(group, bundle)).remote()
             for bundle in range(handle.num_bundles)]
    return {"hosts": handle.num_hosts, "identities": ray.get(tasks, timeout=100)}


def request():
    """Asks for a slice that does not exist, and does not wait for it."""
    ray.util.placement_group([{"TPU": 4}] * 4, strategy="STRICT_SPREAD", lifetime="detached", name="wanted")


def free():
    """Takes the request back: the slice is idle then."""
    ray.util.remove_placement_group(ray.util.get_placement_group("wanted"))


if __name__ == "__main__":
    ray.init(address="auto", namespace="test", logging_level="ERROR", log_to_driver=False)
    answer = {"nodes": nodes, "identities": identities, "slice": reserved_slice, "request": request, "free": free}[sys.argv[1]]()
    # One write that begins a line, so that a line that Ray prints meanwhile does not become part of it.
    sys.stdout.write(f"\nANSWER {json.dumps(answer)}\n")
    sys.stdout.flush()
