"""smolagents with OpenInference.   python smolagents_agent.py [stuck|premature|healthy]"""

import sys

import telemetry
import workbench
from openinference.instrumentation.smolagents import SmolagentsInstrumentor
from smolagents import OpenAIServerModel, ToolCallingAgent, tool

provider = telemetry.start("smolagents-example")
SmolagentsInstrumentor().instrument(tracer_provider=provider)
scenario = sys.argv[1] if len(sys.argv) > 1 else "stuck"


@tool
def read_file(path: str) -> str:
    """Read a file.

    Args:
        path: the file
    """
    return workbench.read_file(path)


@tool
def edit_file(path: str, old: str, new: str) -> str:
    """Replace a text in a file.

    Args:
        path: the file
        old: what stands there
        new: what shall stand there
    """
    return workbench.edit_file(path, old, new)


@tool
def bash(command: str) -> str:
    """Run a shell command.

    Args:
        command: the command
    """
    return workbench.bash(command)


model = OpenAIServerModel(model_id=scenario, api_base=workbench.MODEL_URL, api_key="offline")
agent = ToolCallingAgent(tools=[read_file, edit_file, bash], model=model, name="coder", max_steps=6, verbosity_level=0)
print(agent.run(workbench.GOAL))
provider.shutdown()
