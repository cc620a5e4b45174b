"""A client of EverMind's memory.

To record it: memtrace run -- python examples/integrations/everos_client.py

``EVEROS_URL`` and ``EVEROS_API_KEY`` name the server, which extracts memories by itself: to record that too, let it
send its OpenTelemetry spans to MemTrace (``/v1/traces``).
"""

import os

from everos import EverOS


def main() -> None:
    """Tell the memory something, and search for it."""
    client = EverOS(api_key=os.environ["EVEROS_API_KEY"], base_url=os.environ["EVEROS_URL"])
    message = {"role": "user", "timestamp": 1768471200000, "content": "I live in Berlin."}
    client.v1.memories.add(user_id="alice", messages=[message])
    client.v1.memories.flush(user_id="alice")
    found = client.v1.memories.search(query="Where does Alice live?", filters={"user_id": "alice"})
    for episode in found.data.episodes:
        print(episode.summary)


if __name__ == "__main__":
    main()
