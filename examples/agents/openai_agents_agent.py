"""OpenAI Agents SDK with OpenInference.   python openai_agents_agent.py [stuck|premature|healthy]"""

import sys

import telemetry
import workbench
from agents import Agent, OpenAIResponsesModel, Runner, function_tool, set_trace_processors
from openai import AsyncOpenAI
from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor

provider = telemetry.start("openai-agents-example")
set_trace_processors([])  # without it the SDK also uploads its traces to its vendor
OpenAIAgentsInstrumentor().instrument(tracer_provider=provider)
scenario = sys.argv[1] if len(sys.argv) > 1 else "stuck"
model = OpenAIResponsesModel(scenario, openai_client=AsyncOpenAI(base_url=workbench.MODEL_URL, api_key="offline"))
tools = [function_tool(f) for f in (workbench.read_file, workbench.edit_file, workbench.bash)]
agent = Agent(name="coder", instructions=workbench.SYSTEM, tools=tools, model=model)
print(Runner.run_sync(agent, workbench.GOAL).final_output)
provider.shutdown()
