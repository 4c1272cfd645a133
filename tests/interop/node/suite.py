"""The Vercel AI SDK's example, over each transport, squeezed.   usage: suite.py SENTINEL FOLDER-WITH-PACKAGES"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import agents  # noqa: E402
import harness as h  # noqa: E402

SENTINEL, FOLDER = sys.argv[1:3]
# NODE_OPTIONS of a user's shell are not this suite's.
CLEAN = {"NODE_OPTIONS": ""}


def judged(protocol):
    with h.Stage() as stage, agents.scripted_model() as model:
        judge = agents.Judge(stage, SENTINEL)
        for script in agents.EXPECTED:
            judge.play(["node", f"{FOLDER}/agent.mjs"], FOLDER, script, protocol, model, CLEAN)
        judge.verdicts()


def vercel_ai_sdk_over_grpc():
    judged("grpc")


def vercel_ai_sdk_over_http_protobuf():
    judged("http/protobuf")


def vercel_ai_sdk_over_http_json():
    judged("http/json")


if __name__ == "__main__":
    h.run([vercel_ai_sdk_over_grpc, vercel_ai_sdk_over_http_protobuf, vercel_ai_sdk_over_http_json])
