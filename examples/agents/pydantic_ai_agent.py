"""pydantic-ai with its own instrumentation.   python pydantic_ai_agent.py [stuck|premature|healthy]"""

import sys

import telemetry
import workbench
from pydantic_ai import Agent, InstrumentationSettings, ModelRetry
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

provider = telemetry.start("pydantic-ai-example")
Agent.instrument_all(InstrumentationSettings(tracer_provider=provider))
scenario = sys.argv[1] if len(sys.argv) > 1 else "stuck"
model = OpenAIChatModel(scenario, provider=OpenAIProvider(base_url=workbench.MODEL_URL, api_key="offline"))
agent = Agent(model, name="coder", instructions=workbench.SYSTEM, retries=6, tools=[workbench.edit_file, workbench.bash])


@agent.tool_plain
def read_file(path: str) -> str:
    """Read a file."""
    try:
        return workbench.read_file(path)
    except FileNotFoundError as error:
        raise ModelRetry(str(error)) from error


print(agent.run_sync(workbench.GOAL).output)
provider.shutdown()
