"""What to record, or to look at, where a recording has a hole: the line of code or the command to type."""

from __future__ import annotations

RECORD_UNITS = (
    'record what the memory keeps where it is stored, with memtrace.variable(..., kind="MemoryUnit"), and return those '
    "values from the search, or name them with memtrace.retrieved(query, considered, returned)"
)
RECORD_TOGETHER = (
    "what it returned was written in another trace, or by a process that was not recorded; let the writing and the "
    "asking belong to one trace: name the user in both, or open memtrace.trace(id=...) around both"
)
WRITE_HERE = (
    "another trace, or a process that was not recorded, wrote its units: let the writing and the asking belong to one "
    "trace: name the user in both, or open memtrace.trace(id=...) around both"
)
RECORD_SEARCH = (
    'decorate what looks into the memory with @memtrace.operation(kind="Retrieval"), and give it the question'
)
CONNECT_ANSWER = (
    "give what the search returned to the operation that answers as it is, or join the two with memtrace.link"
)
CONNECT_SEARCH = (
    "give what the search returned to the operation that answers, as an argument and as it is, or join the two with "
    "memtrace.link"
)
RECORD_BETWEEN = "decorate that code with @memtrace.operation, and let it be given what the search returned"
RECORD_MESSAGES = (
    'record what users and assistants said with memtrace.variable(..., kind="Message"), or hand it to an operation as '
    "an argument that is called message or messages"
)
RECORD_ANSWERS = 'decorate what answers with @memtrace.operation(kind="Generation", output="Answer")'
RECORD_STORING = (
    'decorate what stores them with @memtrace.operation(kind="Update", output="MemoryUnit"), and give it the message '
    "as an argument"
)
NAME_KIND = (
    'say what they do to the memory: @memtrace.operation(kind="Update"), or "Extraction", "Deletion", "Retrieval", '
    '"Generation"; those that do none of these are well as they are'
)
RECORD_CHANGES = (
    'if they change the memory, record how: let them make the units that they store, with output="MemoryUnit", name '
    "what they end with memtrace.deleted(...), or wrap what changes in place with memtrace.mutation(...); a unit that "
    "they return as it was given to them is only read, so let the step before them, such as the extraction, hand on "
    'its facts with output="Response"'
)
OVERWRITTEN = (
    "{names} was given the unit with the needed fact, and no change of the memory is recorded of it, so the fact may "
    "have been overwritten before the search"
)
RECORD_PLACE = (
    "say what it writes, and where, with memtrace.store_unit(text, store=..., id=...), where id is the key under which "
    'a later text takes the place of this one, and let the step before it hand on its facts with output="Response"'
)
RECORD_ENDS = (
    "they crashed or still run (`memtrace operations --status running`); read generators to their end, or close() them"
)
RECORD_WIPE = (
    "record what emptied the store: name the units that it ended with memtrace.deleted(...); another process, or the "
    "call of another user, may have done it"
)
RECORD_MUTATION = "wrap the code that changes them in place with `with memtrace.mutation(value):`"
WRITE_RECORDED = (
    "another program, or code beside the recorded package, wrote into the store: let it write through the package, or "
    "record its run, too"
)
SEE_FILTERS = (
    "nothing is missing if that was meant; if not, compare what limits the search (`memtrace operation {search}`) with "
    "how the units were stored (`memtrace units`)"
)
RECORD_DELETED = (
    "if the memory does not keep the others, say so with memtrace.deleted(unit) for each, or take them out of the list "
    "in place, such as units.remove(unit)"
)
RECORD_TAKEN_OUT = (
    "if code that is not recorded takes units out of the memory, such as a slice of a list, record it with "
    "memtrace.deleted(unit); if not, tell what the search chose from with "
    "memtrace.retrieved(query, considered, returned)"
)
RECORD_IN_PLACE = (
    "{update} records no change of the memory: if it changes in place what it is given, put `with "
    "memtrace.mutation(value):` around the change, and give the value to {search}, too, as an argument; if it stores "
    'elsewhere, let it return what it stores, with output="MemoryUnit", and return those values from the search'
)
GIVE_MEMORY = (
    "give {search} the memory that it looks into, as an argument, or name what it returns with "
    "memtrace.retrieved(query, considered, returned)"
)
