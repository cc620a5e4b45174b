"""Words in another order, and other names of options, mean what they mean in the usual order."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from api.cli.context import DEFAULT_PROJECT
from api.cli.kinds_meant import kind_meant
from api.cli.option_names import spelled
from api.cli.other_names import OTHER_NAMES
from api.cli.phrases import understood
from schema.kinds import OperationKind, VariableKind
from tests.cli.conftest import SAMPLE, Cli
from tests.factory import TraceBuilder

WRONG = "7a7b5616"
QUESTION = "On which day of the week is Mara's pottery class?"


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    cli = Cli(str(tmp_path_factory.mktemp("phrases") / "team.db"))
    cli("import", SAMPLE)
    cli("attribute", "--all")
    return cli


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("list answers --wrong", "answers --wrong"),
        ("ls failures", "failures"),
        ("list keys", "keys list"),
        ("list all", "list"),
        ("show me the answers", "answers"),
        ("tell me why 7a7b5616", "why 7a7b5616"),
        ("show trace 53341c53", "trace 53341c53"),
        ("show run last", "trace last"),
        ("show answer last", "show last"),
        ("show failure last", "failures last"),
        ("top prompts", "prompts"),
        ("worst operations", "blame --by operation"),
        ("show units", "units"),
        ("find units pottery", "units pottery"),
        ("units search pottery", "units pottery"),
        ("export failures --csv", "failures --csv"),
        ("delete trace 53341c53", "delete 53341c53"),
        ("trace delete 53341c53", "delete 53341c53"),
        ("trace list", "traces"),
        ("answers wrong", "answers --wrong"),
        ("wrong answers", "answers --wrong"),
        ("show wrong answers", "answers --wrong"),
        ("right answers --limit 3", "answers --right --limit 3"),
        ("answers last 3", "answers --last 3"),
        ("last trace", "trace last"),
        ("failures by type", "report"),
        ("failures by operation", "blame --by operation"),
        ("report 7a7b5616 -o r.html", "report --failure 7a7b5616 -o r.html"),
        ("7a7b5616", "show 7a7b5616"),
        ("last", "show last"),
        ("7a7b5616 why --json", "why 7a7b5616 --json"),
        ("assistant-sample export", "export assistant-sample"),
        ("7a7b5616 wrong Thursday", "wrong 7a7b5616 Thursday"),
        ("mark 7a7b5616 wrong", "fail 7a7b5616"),
        ("mark 7a7b5616 as right", "right 7a7b5616"),
        ("judge 7a7b5616 --wrong --gold x", "fail 7a7b5616 --gold x"),
        ("correct 7a7b5616 Thursday", "fail 7a7b5616 Thursday"),
        ("why help", "help why"),
        ("--json answers", "answers --json"),
        ("--limit 3 answers", "answers --limit 3"),
        ("--db team.db list answers", "--db team.db answers"),
        ("python app.py --fast", "run -- python app.py --fast"),
        ("retrievals", "operations --kind Retrieval"),
        ("deletions pottery", "operations --kind Deletion pottery"),
        ("queries --limit 3", "variables --kind Query --limit 3"),
        ("extraction 7a7b5616", "show --kind Extraction 7a7b5616"),
        ("retrieval 7a7b5616 --json", "show --kind Retrieval 7a7b5616 --json"),
        ("prompt 7a7b5616", "show --kind Prompt 7a7b5616"),
        ("context 7a7b5616", "show --kind Context 7a7b5616"),
        ("unit 7a7b5616", "show --kind MemoryUnit 7a7b5616"),
        ("source 7a7b5616", "sources 7a7b5616"),
        ("show memory-unit-12 --history", "versions memory-unit-12"),
        ("why 7a7b5616 --evidence", "why 7a7b5616"),
        ("show 7a7b5616 --why --json", "why 7a7b5616 --json"),
        ("show 7a7b5616 --context", "show --kind Context 7a7b5616"),
        ("trace last --steps", "operations last"),
        ("graph 7a7b5616 -o past.svg", "spine 7a7b5616 --svg past.svg"),
        ("export --format csv -o answers.csv", "answers --format csv -o answers.csv"),
        ("keys", "keys list"),
        ("dlq --json", "dlq list --json"),
        ("keys create ann", "keys create ann"),
        ("verdict 7a7b5616 --history --csv", "labels history 7a7b5616 --csv"),
        ("count operations", "stats"),
        ("retrieval last", "operations --kind Retrieval --last 1"),
        ("extractions last", "operations --kind Extraction last"),
        ("unit last", "units --last 1"),
        ("operation last --json", "operations --last 1 --json"),
        ("last message", "messages --last 1"),
        ("show last prompt", "show --kind Prompt last"),
        ("prompt last", "show --kind Prompt last"),
        ("last answer", "show last"),
        ("failure latest", "failure latest"),
        ("blame prompts", "blame --by prompt"),
        ("failures by prompt", "blame --by prompt"),
        ("failures per type --json", "report --json"),
        ("count failures by type", "report"),
        ("group failures by prompt --json", "blame --by prompt --json"),
        ("answers right --json", "answers --right --json"),
        ("answers wrong --limit 3", "answers --wrong --limit 3"),
        ("answers newest 3", "answers --last 3"),
        ("answers all --json", "answers --json"),
        ("answers show", "answers"),
        ("answers show 7a7b5616", "show 7a7b5616"),
        ("wrong failures", "failures"),
        ("wrong answer 7a7b5616", "wrong 7a7b5616"),
        ("deadbeef", "show deadbeef"),
        ("7a7b5616 --json", "show 7a7b5616 --json"),
        ("7a7b5616 show --json", "show 7a7b5616 --json"),
        ("python -m app", "run -- python -m app"),
        ("python3.11 app.py", "run -- python3.11 app.py"),
        ("show all answers", "answers"),
        ("show last answers", "answers last"),
        ("show me all my answers", "answers"),
        ("list wrong answers", "answers --wrong"),
        ("newest answer --json", "show last --json"),
        ("latest run", "trace last"),
        ("last failures --json", "failures last --json"),
        ("top operation", "blame --by operation"),
        ("worst prompts --json", "prompts --json"),
        ("save failures -o f.json", "failures -o f.json"),
        ("export trace last", "export last"),
        ("list help", "help list"),
        ("answers help", "help answers"),
        ("search units pottery", "units pottery"),
        ("mark 7a7b5616 later wrong", "fail 7a7b5616 later"),
        ("mark 7a7b5616 as wrong Thursday", "fail 7a7b5616 Thursday"),
        ("judge wrong 7a7b5616", "fail 7a7b5616"),
        ("report 7a7b5616 8b8c6727 --csv", "report --failure 7a7b5616 --failure 8b8c6727 --csv"),
        ("count answers", "stats"),
        ("queries", "variables --kind Query"),
        ("queries 7a7b5616", "show --kind Query 7a7b5616"),
        ("Retrievals pottery", "operations --kind Retrieval pottery"),
        ("--json --db x answers --csv", "answers --json --db x --csv"),
        ("--project p show trace last", "--project p trace last"),
        ("record -- python app.py", "run -- python app.py"),
    ],
)
def test_another_order_of_words(said: str, meant: str) -> None:
    assert understood(said.split()) == meant.split()
    assert understood(meant.split()) == understood(understood(said.split()))


@pytest.mark.parametrize(
    "line",
    [
        "run -- python list answers",
        "run python answers list",
        "search answers",
        "search wrong",
        "fail 7a7b5616 right",
        "fail 7a7b5616 wrong",
        "trace assistant-sample",
        "show why",
        "why last",
        "report compare a.json b.json",
        "labels export",
        "keys list",
        "import list.json",
        "correct 7a7b5616",
        "answers pottery",
        "retrieval",
        "others",
        "failures by",
        "answers last pottery",
        "answers last",
        "traces all pottery",
        "failures wrong",
        "fade",
        "deadbeef pottery",
        "python",
        "show all",
        "show wrong",
        "top 3",
        "dump trace",
        "help why",
        "why help --json",
        "find pottery",
        "find units",
        "units find",
        "mark 7a7b5616",
        "mark 7a7b5616 a b c wrong",
        "correct 7a7b5616 --gold x",
        "report --failure 7a7b5616",
        "query",
        "generation",
        "--db=team.db answers",
        "- answers",
        "-- answers",
        "count",
        "evaluate my:Agent",
        "replay 7a7b5616",
    ],
)
def test_what_is_in_order_keeps_its_meaning(line: str) -> None:
    assert understood(line.split()) == line.split()


def test_a_file_of_python_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert understood(["app.py"]) == ["app.py"]
    (tmp_path / "app.py").touch(mode=0o644)
    for said in (["app.py", "x"], ["run", "app.py", "x"], ["record", "--", "app.py", "x"]):
        assert understood(said)[:2] == ["run", "--"]
        assert understood(said)[2].startswith("python")
        assert understood(said)[3:] == ["app.py", "x"]
    (tmp_path / "app.py").chmod(0o755)
    assert understood(["run", "./app.py"]) == ["run", "./app.py"]


def test_no_option_has_another_name_that_is_an_option_before_the_command() -> None:
    before = {"--values", "--project", "--debug", "--help", "-h"}
    assert not before & {other for others in OTHER_NAMES.values() for other in others}


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("-n 3", "--limit 3"),
        ("-n3", "--limit 3"),
        ("-3", "--limit 3"),
        ("--max=3", "--limit 3"),
        ("--failed", "--wrong"),
        ("--csv", "--format csv"),
        ("--dot", "--dot"),
        ("--format dot", "--dot"),
        ("--type unit", "--kind MemoryUnit"),
        ("--search --failed", "--search --failed"),
        ("-- --failed", "-- --failed"),
        ("--unknown 3", "--unknown 3"),
        ("--all", "--limit 0"),
        ("--id 7a7b5616", "7a7b5616"),
        ("--failure=7a7b5616", "7a7b5616"),
        ("--id", "--id"),
        ("--no-llm", "--method flow"),
    ],
)
def test_other_names_of_options(said: str, meant: str) -> None:
    options = {"--limit": True, "--wrong": False, "--search": True, "--kind": True, "--dot": False, "--format": True}
    options["--method"] = True
    if "dot" in said:
        options.pop("--format")
    assert spelled(said.split(), options, ["table", "csv"], takes_id=True) == meant.split()


@pytest.mark.parametrize("said", ["--id 7a7b5616", "--all", "--no-llm", "--answer x"])
def test_what_a_command_does_not_have_stays_unknown(said: str) -> None:
    assert spelled(said.split(), {"--json": False}) == said.split()


def test_an_option_of_the_command_is_never_another_name() -> None:
    assert spelled(["--type", "x", "-p", "y"], {"--type": True, "--kind": True, "-p": True, "--port": True}) == [
        *("--type", "x", "-p", "y")
    ]


def test_kinds_in_any_spelling() -> None:
    for kind in (*VariableKind, *OperationKind):
        assert kind_meant(kind.value.lower()) == kind_meant(f"{kind.value}s") == kind.value
    assert kind_meant("memory unit") == kind_meant("units") == kind_meant("memories") == "MemoryUnit"
    assert kind_meant("nothing") == "nothing"


def test_the_last_is_the_newest_of_what_is_wanted(sample: Cli) -> None:
    answers = sample("answers", "--json").json
    (last,) = sample("answers", "--last", "1", "--json").json
    assert last == answers[-1] == sample("answers", "last", "--json").json[0]
    assert sample("show", "last", "--json").json["id"] == last["id"]
    assert sample("trace", "last", "--json").json["externalId"] == "assistant-sample"
    assert "MemoryAgent mara" in sample("check", "latest").out
    failure = sample("failures", "last", "--json").json[0]
    marked = sample("fail", "last", "No", "--json").json
    assert marked["answerId"] == last["id"]
    sample("import", SAMPLE)
    assert failure["id"] in {one["id"] for one in sample("failures", "--json").json}


def test_a_question_names_its_failure_and_its_answer(sample: Cli) -> None:
    for said in ([QUESTION], [QUESTION.lower().rstrip("?")], QUESTION.split(), ["which day"]):
        (verdict,) = sample("why", *said, "--json").json
        assert verdict["errorType"] == "UpdateError"
    assert sample("show", QUESTION, "--json").json["kind"] == "Query"
    assert sample("fail", QUESTION, "Thursday", "--json").json["answerId"].startswith(WRONG)
    assert "no failure" in sample("fail", "which day", "Thursday", code=3).err
    assert "memtrace answers" in sample("why", "What breed is Mara's dog?", code=4).err
    assert "no failure" in sample("why", "zebra", code=3).err


def test_words_after_a_list_narrow_it(sample: Cli) -> None:
    assert len(sample("units", "pottery", "--json").json) == 1
    assert len(sample("answers", "pottery", "--json").json) == 2
    assert len(sample("answers", "assistant-sample", "pottery", "--json").json) == 2
    assert len(sample("failures", "pottery", "--json").json) == 1
    assert len(sample("failures", "mara", "--json").json) == 2
    for said in (["retrieval", "error"], ["retrieval"], ["--type", "retrieval"]):
        assert len(sample("failures", *said, "--json").json) == 1
    assert len(sample("operations", "extract", "--last", "2", "--json").json) == 2
    assert sample("traces", "mara", "--json").json
    assert "no trace" in sample("traces", "zebra").err.lower()
    assert sample("messages", "--last", "2", "--json").json == sample("messages", "--json").json[-2:]


def test_the_id_of_something_else_says_what_it_is(sample: Cli) -> None:
    told = sample("delete", WRONG, "--yes", code=3).err
    assert "no trace: it means an Answer of the trace" in told
    assert f"memtrace show {WRONG}" in told
    for command in ("trace", "export", "check"):
        assert "meant is its Trace 53341c53" in sample(command, WRONG).err
    assert "listed is its trace 53341c53" in sample("messages", WRONG).err
    assert "no failure: it means an Update" in sample("why", "74199103", code=3).err


def test_ids_come_from_standard_input(sample: Cli) -> None:
    wrong = sample("answers", "--wrong").out.encode()
    assert len(sample("why", "-", "--json", input=wrong).json) == 3
    for form in ("--json", "--csv"):
        assert len(sample("why", "-", "--json", input=sample("failures", form).out.encode()).json) == 3
    assert "no JSON list" in sample("why", "-", input=b"[1, ", code=2).err
    assert sample("show", "-", "--json", input=b"7a7b5616\n").json["kind"] == "Answer"
    assert "takes one" in sample("show", "-", input=wrong, code=2).err
    assert sample("spine", WRONG, "--svg", "-", input=b"").out.startswith("<svg")
    assert "there are none" in sample("why", "-", input=b"", code=2).err


def test_a_result_goes_into_a_file(sample: Cli, tmp_path: Path) -> None:
    for name in ("a.json", "a.csv"):
        assert sample("answers", "-o", tmp_path / name).out == ""
    assert len(json.loads((tmp_path / "a.json").read_text("utf-8"))) == 8
    assert len((tmp_path / "a.csv").read_text("utf-8").splitlines()) == 9
    sample("why", WRONG, "--output", tmp_path / "why.txt")
    assert "Update error" in (tmp_path / "why.txt").read_text("utf-8")
    sample("why", "nothing", "-o", tmp_path / "none.txt", code=3)
    assert not (tmp_path / "none.txt").exists()


def test_an_unknown_option_says_what_there_is(sample: Cli) -> None:
    told = sample("answers", "--colour", "x", code=2).err
    assert "--trace, --search, --wrong, --right" in told
    assert "Did you mean" not in told
    assert "Did you mean --limit?" in sample("answers", "--limi", "3", code=2).err
    assert "MEMTRACE_LLM_MODEL" in sample("show", WRONG, "--model", "x", code=2).err
    assert "`memtrace answers --wrong`" in " ".join(sample.plain("--wrong", code=2).err.replace("│", "").split())


def test_a_missing_id_says_where_ids_are(sample: Cli) -> None:
    assert "memtrace versions last" in sample("versions", code=2).err
    assert "`memtrace failures` lists" in sample("unfail", code=2).err


def test_a_right_answer_that_was_judged_wrong_says_how_to_take_that_back(sample: Cli) -> None:
    assert "memtrace unfail 02df014d" in sample("right", WRONG, code=4).err


def test_the_tables_of_sql(sample: Cli) -> None:
    columns = sample("tables", "--json").json
    assert "gold_answers" in columns["failure"]
    for said in ("show tables", ".tables", ".schema"):
        assert sample("sql", said, "--json").json == columns
    assert "failure" in sample("tables").out
    assert "memtrace tables" in sample("sql", input=b"", code=2).err
    for table in columns:
        sample("sql", f"SELECT * FROM {table} LIMIT 1")
    rows = sample("sql", "SELECT question FROM failure ORDER BY 1", "--csv").out.splitlines()
    assert rows[0] == "question"
    assert len(rows) == 4


def test_other_formats(sample: Cli) -> None:
    assert sample("closure", WRONG, "--format", "dot").out.startswith("digraph")
    assert sample("closure", "assistant-sample", "--dot").out.startswith("digraph")
    assert sample("export", "assistant-sample", "--json").out == sample("export", "assistant-sample").out
    assert len(sample("operations", "--kind", "Retrieval", "--csv").out.splitlines()) == 9
    assert "--verbose is not needed" in sample("why", WRONG, "--verbose").err
    assert "--top is not needed" in sample("why", WRONG, "--top", "5").err
    assert "Did you mean" not in sample("memory", "--on", "5", code=2).err


def test_help_lists_other_names_of_options(sample: Cli) -> None:
    assert "-n, --max" in sample("help", "options").out
    assert "memtrace help options" in sample("answers", "--help").out


def test_the_text_of_a_message_stands_for_the_answer_to_it(stored: Callable[[TraceBuilder], Cli]) -> None:
    """A program that is not decorated asks by messages; a reply may be recorded as a message, too."""
    told = TraceBuilder(DEFAULT_PROJECT, "chat")
    asked = told.variable("asked", "When does the coach leave?", kind=VariableKind.MESSAGE)
    reply = told.variable("reply", "I shall look it up for you.", kind=VariableKind.MESSAGE)
    step = told.operation("chat", kind=OperationKind.GENERATION)
    told.use(step, asked)
    answer = told.variable("answer", "At noon.", by=step, kind=VariableKind.ANSWER)
    told.derive(answer, asked, by=step)
    cli = stored(told)
    assert cli("answers", "--json").json[0]["questionId"] == asked.id
    assert cli("fail", "when does the coach leave", "8:15", "--json").json["answerId"] == answer.id
    for words in ("When does the coach leave?", "coach leave"):
        assert [one["answerId"] for one in cli("failures", words, "--json").json] == [answer.id]
    assert (
        cli("fail", "I shall look it up for you.", "8:15", "--question", asked.id, "--json").json["answerId"]
        == reply.id
    )


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            "failures --colour red",
            "has no option --colour. No command that lists or shows has it. It has",
        ),
        ("graph last --png x.png", "`memtrace spine last --svg x.svg` draws the past of a wrong answer"),
        ("check --since 7d", "`memtrace answers --since 7d`"),
        ("stats --by pottery", "there is no column 'pottery'"),
        ("export --to neo4j://host:7687", "then `memtrace import trace.json --store neo4j://host:7687`"),
        ("answers --until neo4j://host", "is no time"),
        ("rerun 02df014d --llm", "`memtrace attribute 02df014d --method llm`"),
        ("failures --by prompt", "what lost most answers: `memtrace blame --by prompt`"),
        ("verdicts --by alice", "--author alice"),
        ("failures -o yaml", "there is no such format; there is json"),
        ("config set store neo4j://host", "export MEMTRACE_STORE=neo4j://host"),
        ("config colour", "`memtrace config --all`"),
        ("delete --all last", "leave out the TRACE"),
        ("delete", "memtrace delete --all"),
        ("benchmark", "`memtrace benchmark` needs PATH (Files"),
        ("benchmark", ", such as: memtrace benchmark graphs/ --method flow"),
        ("benchmark", "the people who judged this project: `memtrace agreement flow ann`"),
        ("export last --format csv", "such as: `memtrace answers last --format csv`"),
        ("verdict 7a7b5616 wrong", 'memtrace verdict 7a7b5616 --type UpdateError --reason "the reason in words"'),
        ("verdict 7a7b5616 retrieval", "memtrace verdict 7a7b5616 --type RetrievalError --reason"),
        ("assign 02df014d ann", "`memtrace annotate queue create for-ann --failure 02df014d --person ann`"),
        ("comment 02df014d short", "`memtrace fail 02df014d --comment short`"),
        ("keys create ann --name bob", "the name of the key is said twice"),
        ("show last --kind colour", "the kinds are Extraction, Update,"),
        ("verdict last --operations x", "Did you mean --operation?"),
        ("trace last --since today", "`memtrace answers last --since today`"),
        (
            "run --experiment first python app.py",
            "`memtrace run` has no option --experiment; a program comes last: memtrace run -- ",
        ),
        ("why last --columns question", "Lists have it: `memtrace answers --columns id,question,verdict`"),
        ("compare", "`memtrace compare` needs two traces: `memtrace traces` lists them"),
        ("compare last", "needs two traces"),
        ("doctor pottery", "`memtrace doctor` takes no words such as 'pottery'. It has "),
        ("trace last other", "`memtrace trace` takes fewer words: 'other' is too much"),
    ],
)
def test_what_a_command_does_not_take_leads_to_what_does(sample: Cli, line: str, told: str) -> None:
    assert told in sample(*line.split(), code=2).err


@pytest.mark.parametrize("words", ["blue teapot", "Where is the teapot?"])
def test_words_that_name_nothing_lead_to_the_search(sample: Cli, words: str) -> None:
    for command in ("versions", "show", "closure"):
        told = sample(command, words, code=3).err
        assert f". By its words: memtrace search '{words}'" in told
    assert "By its words" not in sample("show", "0123456789ab", code=3).err
    assert "By its words" not in sample("show", "unit-999", code=3).err


def test_check_without_a_trace_checks_the_newest(sample: Cli, tmp_path: Path) -> None:
    assert sample("check").out == sample("check", "last").out
    empty = Cli(str(tmp_path / "empty.db"))
    empty("migrate")
    assert "memtrace run -- python app.py" in empty("check", code=2).err
