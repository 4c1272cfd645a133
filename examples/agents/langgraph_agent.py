"""LangGraph with OpenInference.   python langgraph_agent.py [stuck|premature|healthy]"""

import sys

import telemetry
import workbench
from langchain.agents import create_agent
from langchain_core.tools import StructuredTool, ToolException
from langchain_openai import ChatOpenAI
from openinference.instrumentation.langchain import LangChainInstrumentor

provider = telemetry.start("langgraph-example")
LangChainInstrumentor().instrument(tracer_provider=provider)
scenario = sys.argv[1] if len(sys.argv) > 1 else "stuck"


def read_file(path: str) -> str:
    """Read a file."""
    try:
        return workbench.read_file(path)
    except FileNotFoundError as error:
        raise ToolException(str(error)) from error


tools = [StructuredTool.from_function(f, handle_tool_error=True) for f in (read_file, workbench.edit_file, workbench.bash)]
model = ChatOpenAI(model=scenario, base_url=workbench.MODEL_URL, api_key="offline")
agent = create_agent(model, tools, system_prompt=workbench.SYSTEM, name="coder")
answer = agent.invoke({"messages": [{"role": "user", "content": workbench.GOAL}]})
print(answer["messages"][-1].content)
provider.shutdown()
