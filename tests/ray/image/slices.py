"""A Serve application of which each replica takes a whole slice of two hosts with four chips each."""
from ray import serve


@serve.deployment(num_replicas=2, ray_actor_options={"num_cpus": 0, "resources": {"TPU": 4}},
                  placement_group_bundles=[{"TPU": 4}, {"TPU": 4}], placement_group_strategy="STRICT_SPREAD")
class Model:
    def __init__(self, version):
        self.version = version

    def __call__(self, request):
        return self.version


def app(args):
    return Model.bind(args["version"])
