"""A graph whose caller names the user's words in Italian; one node stores some sorts of facts only."""

import json
from typing import TypedDict

from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from langgraph.graph import END, START, StateGraph
from langgraph.store.memory import InMemoryStore

embed = OpenAIEmbeddings(model="text-embedding-3-small", check_embedding_ctx_length=False)
store = InMemoryStore(index={"dims": 512, "embed": embed, "fields": ["fatto"]})
model = ChatOpenAI(model="scripted", max_retries=0)


class State(TypedDict, total=False):
    testo: str
    chi: str
    estratto: str
    risposta: str


def draw_out(state):
    return {"estratto": model.invoke("Fatti in JSON: " + state["testo"]).content}


def keep(state, *, store):
    for number, fact in enumerate(json.loads(state["estratto"])):
        if fact["tipo"] == "gusto":
            store.put(("casa",), f"{state['testo'][:9]} {number}", {"fatto": fact["fatto"]})
    return {"risposta": "Bene."}


def reply(state, *, store):
    known = "\n".join(one.value["fatto"] for one in store.search(("casa",), query=state["testo"]))
    return {"risposta": model.invoke([("system", "Noto:\n" + known), ("human", state["testo"])]).content}


builder = StateGraph(State)
for node in (draw_out, keep, reply):
    builder.add_node(node.__name__, node)
builder.add_conditional_edges(START, lambda state: "reply" if state["testo"].endswith("?") else "draw_out")
builder.add_edge("draw_out", "keep")
builder.add_edge("keep", END)
builder.add_edge("reply", END)
graph = builder.compile(store=store)
told = (
    "La zia Berta beve soltanto orzo tostato.",
    "Il falegname Ugo viene lunedì alle nove.",
    "Che cosa beve la zia Berta?",
    "Quando viene il falegname Ugo?",
)
print(
    json.dumps(
        [graph.invoke({"testo": one, "chi": "Gino"}, {"configurable": {"user_id": "casa"}})["risposta"] for one in told]
    )
)
