"""The interface of memory systems that MemTrace can run over a data set: ``Program``, and a process that runs one.

    class Agent:
        def __init__(self, user, prompts, folder): ...   # prompts: texts in place of the usual ones, by name
        def prompts(self): return {"answer": self._answer_prompt}
        def add(self, messages): ...                     # remember what was said
        def answer(self, question): ...                  # a text; an argument "time" gets the time of the question

``memtrace evaluate package.module:Agent --dataset FILE`` runs it.
"""

from memtrace.program.protocol import Message, Program, ProgramFactory, SavedProgram

__all__ = ["Message", "Program", "ProgramFactory", "SavedProgram"]
