"""The Python examples, each script over each transport, squeezed.   usage: suite.py SENTINEL"""

import pathlib
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import agents  # noqa: E402
import harness as h  # noqa: E402

SENTINEL = sys.argv[1]
# The healthy script over one transport, those with a finding over both in turn.
ROUNDS = (("stuck", "grpc"), ("premature", "http/protobuf"), ("healthy", "http/protobuf"))


def judged(agent):
    with h.Stage() as stage, agents.scripted_model() as model, ThreadPoolExecutor(2) as pool:
        judge = agents.Judge(stage, SENTINEL)
        command = [sys.executable, str(agents.EXAMPLES / agent)]
        runs = [pool.submit(judge.play, command, agents.EXAMPLES, script, way, model) for script, way in ROUNDS]
        for run in runs:
            run.result()
        judge.verdicts()


def pydantic_ai():
    judged("pydantic_ai_agent.py")


def langgraph():
    judged("langgraph_agent.py")


def openai_agents():
    judged("openai_agents_agent.py")


def smolagents():
    judged("smolagents_agent.py")


if __name__ == "__main__":
    h.run([pydantic_ai, langgraph, openai_agents, smolagents])
