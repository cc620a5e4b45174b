"""A chain with a history, whose input has the key of a question, and a chain that answers by translation."""

import json

from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder, PromptTemplate
from langchain_core.runnables import RunnablePassthrough
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_openai import ChatOpenAI

model = ChatOpenAI(model="scripted", max_retries=0)
template = ChatPromptTemplate([MessagesPlaceholder("history"), ("human", "{question}")])
history = InMemoryChatMessageHistory()
talk = RunnableWithMessageHistory(
    template | model, lambda _: history, input_messages_key="question", history_messages_key="history"
)
config = {"configurable": {"session_id": "hike"}}
said = [talk.invoke({"question": one}, config).content for one in ("Aino brings the pots.", "Who brings the pots?")]

notes = InMemoryVectorStore.from_documents(
    [Document("The last ferry leaves at 19:45.")], DeterministicFakeEmbedding(size=8)
)
to_english = PromptTemplate.from_template("Translate to English: {q}") | model | StrOutputParser()
answer = (
    {"context": notes.as_retriever(), "question": RunnablePassthrough()}
    | ChatPromptTemplate([("system", "Notes: {context}"), ("human", "{question}")])
    | model
    | StrOutputParser()
)
to_italian = PromptTemplate.from_template("Translate to Italian: {a}") | model | StrOutputParser()
chain = {"q": RunnablePassthrough()} | to_english | answer | {"a": RunnablePassthrough()} | to_italian
print(json.dumps([*said, chain.invoke("A che ora parte l'ultimo traghetto?")]))
