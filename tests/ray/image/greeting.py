"""A Serve application that answers with a word of its configuration."""
from ray import serve


@serve.deployment(ray_actor_options={"num_cpus": 0.1})
class Greeting:
    def __init__(self, word):
        self.word = word

    def __call__(self, request):
        return self.word


def app(args):
    return Greeting.bind(args["word"])
