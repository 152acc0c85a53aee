"""Real Ray processes run the commands that the operator generates, in the environment that it injects.

Applies cluster.yaml, and runs the containers of its pods as processes. Run by ray_test.sh.
"""
import json
import subprocess
import sys
import time
import unittest

from world import HERE, World


class RealRay(unittest.TestCase):
    world = World()

    @classmethod
    def setUpClass(cls):
        cls.addClassCleanup(cls.world.stop)
        cls.world.start()
        begin = time.monotonic()
        cls.world.kubectl("apply", "-f", f"{HERE}/cluster.yaml")
        cls.world.wait_for("the head", lambda: cls.alive_nodes() == 1)
        # The autoscaler in the head pod has the cluster create a slice.
        cls.world.in_cluster("request")
        cls.world.wait_for("five Ray nodes", lambda: cls.alive_nodes() == 5)
        # It keeps the slice although it is idle then.
        cls.set_min_replicas(1)
        cls.world.in_cluster("free")
        print(f"five Ray nodes after {time.monotonic() - begin:.0f} s", file=sys.stderr)

    @classmethod
    def alive_nodes(cls):
        if not cls.world.runner.sandboxes:
            return 0
        try:
            return len(cls.world.in_cluster("nodes"))
        except (RuntimeError, StopIteration, subprocess.TimeoutExpired):
            return 0

    @classmethod
    def set_min_replicas(cls, number):
        cls.world.kubectl("patch", "raycluster", "train", "--type=json", "-p", json.dumps(
            [{"op": "replace", "path": "/spec/workerGroupSpecs/0/minReplicas", "value": number}]))

    def workers(self):
        return {pod["status"]["podIP"]: pod["metadata"]["labels"]
                for pod in self.world.get("pods", "-l", "ray.io/node-type=worker")["items"]}

    def test_nodes_have_the_resources_and_labels_of_a_slice(self):
        nodes = {node["address"]: node for node in self.world.in_cluster("nodes")}
        workers = self.workers()
        self.assertEqual(sum(node["resources"].get("TPU", 0) for node in nodes.values()), 16)
        for address, labels in workers.items():
            host = labels["ray.io/replica-host-index"]
            node = nodes[address]
            self.assertEqual(node["resources"].get("TPU-v6e-16-head"), 1 if host == "0" else None)
            self.assertEqual(node["labels"].get("ray.io/tpu-slice-name"), "tpu-group-0")
            self.assertEqual(node["labels"].get("ray.io/tpu-worker-id"), host)
            self.assertEqual(node["labels"].get("ray.io/tpu-topology"), "4x4")
            self.assertEqual(node["labels"].get("ray.io/tpu-pod-type"), "v6e-16")

    def test_ray_reads_its_identity_from_the_injected_environment(self):
        workers = self.workers()
        identities = self.world.in_cluster("identities")
        self.assertEqual(len(identities), 4)
        for identity in identities:
            host = int(workers[identity["address"]]["ray.io/replica-host-index"])
            self.assertEqual(identity, {"address": identity["address"], "name": "tpu-group-0", "worker_id": host, "workers": 4,
                                        "topology": "4x4", "pod_type": "v6e-16", "chips": 4})

    def test_a_placement_group_reserves_the_whole_slice(self):
        reserved = self.world.in_cluster("slice")
        self.assertEqual(reserved["hosts"], 4)
        self.assertEqual(sorted(identity["worker_id"] for identity in reserved["identities"]), [0, 1, 2, 3])
        self.assertEqual({identity["name"] for identity in reserved["identities"]}, {"tpu-group-0"})

    def test_the_autoscaler_removes_an_idle_slice(self):  # The last one: tests run in the order of their names.
        self.assertEqual(self.group()["replicas"], 1)
        self.set_min_replicas(0)
        self.world.wait_for("the end of the slice", lambda: not self.workers())
        self.assertEqual(self.group()["replicas"], 0)

    def group(self):
        return self.world.get("raycluster", "train")["spec"]["workerGroupSpecs"][0]


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
