"""An index of LlamaIndex that answers from documents.

To record it: memtrace run -- python examples/integrations/llamaindex_documents.py

``OPENAI_API_BASE`` and ``OPENAI_API_KEY`` name the server of the model. The vectors are a mock here, so that only one
model is needed: all documents are equally near.
"""

from llama_index.core import Document, MockEmbedding, Settings, VectorStoreIndex
from llama_index.llms.openai import OpenAI

FACTS = ("Bo is a dog.", "Alice lives in Berlin.")


def main() -> None:
    """Put facts into an index, and ask about one of them."""
    Settings.embed_model = MockEmbedding(embed_dim=8)
    Settings.llm = OpenAI(model="gpt-4o-mini")
    index = VectorStoreIndex.from_documents([Document(text=fact) for fact in FACTS])
    print(index.as_query_engine(similarity_top_k=2).query("Where does Alice live?"))


if __name__ == "__main__":
    main()
