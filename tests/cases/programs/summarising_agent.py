"""An agent whose middleware puts a summary in the place of older messages."""

import json

from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver

model = ChatOpenAI(model="scripted", max_retries=0)
agent = create_agent(
    model,
    tools=[],
    checkpointer=InMemorySaver(),
    middleware=[SummarizationMiddleware(model=model, trigger=("messages", 6), keep=("messages", 2))],
    system_prompt="You help a crofter.",
)
said = []
config = {"configurable": {"thread_id": "croft"}}
for line in (
    "I keep 19 goats near the loch.",
    "The gate opens with 7731.",
    "Our vet comes on Thursdays.",
    "How is the weather up here?",
    "Which code opens the gate?",
    "How many goats do I have?",
):
    state = agent.invoke({"messages": [{"role": "user", "content": line}]}, config)
    said.append(state["messages"][-1].content)
print(json.dumps(said))
