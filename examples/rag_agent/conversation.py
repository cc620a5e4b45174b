"""Tomas plants an orchard: what he tells his assistant, what is asked about it, and what can go wrong."""

from examples.shared.talk import Fault, Question, sessions

SESSIONS = sessions(
    (
        (
            "Tomas: I planted twelve apple trees behind the barn.",
            "Assistant: How long until they bear fruit?",
            "Tomas: The quince beside the gate is from my grandmother Halina.",
            "Assistant: She would be glad to see it.",
            "Tomas: Deer ate the young cherry trees, so I built a fence of chestnut wood.",
            "Assistant: That should keep the deer away.",
            "Tomas: The soil near the stream is too wet for apricots.",
            "Assistant: Perhaps willows would like it there.",
        ),
        (
            Question("quince", "Who gave Tomas the quince?", "grandmother Halina", ("D1:3",)),
            Question("fence", "Which wood is the fence made of?", "chestnut", ("D1:5",)),
        ),
    ),
    (
        (
            "Tomas: I joined a course on grafting trees at the abbey in Tyniec.",
            "Assistant: Grafting takes a steady hand.",
            "Tomas: Bees arrived on Saturday, two hives from a man named Wojtek.",
            "Assistant: The apple trees will thank you for the bees.",
            "Tomas: The old press makes ninety litres of juice an hour.",
            "Assistant: That is a lot of juice for one cellar.",
            "Tomas: My dog Figa guards the trees at night.",
            "Assistant: The deer must be afraid of her.",
        ),
        (
            Question("hives", "From whom are the hives?", "Wojtek", ("D2:3",)),
            Question("press", "How many litres of juice does the press make in an hour?", "ninety litres", ("D2:5",)),
        ),
    ),
    (
        (
            "Tomas: The plum trees by the road are of a kind called Wangenheim.",
            "Assistant: A good plum for cakes.",
            "Tomas: I sell the juice at the market in Bochnia.",
            "Assistant: Bring enough bottles to the market.",
            "Tomas: A late frost killed the blossom of the pears.",
            "Assistant: Next spring will be kinder to the pears.",
        ),
        (
            Question("plums", "What kind of plum trees are by the road?", "Wangenheim", ("D3:1",)),
            Question("course", "Where is the course on grafting?", "the abbey in Tyniec", ("D2:1",)),
            Question("market", "At which market is the juice sold?", "Bochnia", ("D3:3",)),
        ),
    ),
)

FAULTS = (
    Fault("chunk", "chunk", "hives", "hives", "ExtractionError", "a chunk leaves its first message out"),
    Fault("retrieval", "search", "grafting", "course", "RetrievalError", "the search cuts its best results off"),
    Fault("prompt", "write_prompt", "plum trees", "plums", "ResponseError", "a prompt leaves the best chunk out"),
    Fault("response", "answer", "juice sold?", "market", "ResponseError", "the model does not heed its context"),
)
