"""Several processes hand out the cases of one queue."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from pathlib import Path

from attribution.review.annotation.queues import progress_of
from store.open import open_database
from tests.contract.annotating import failing, queue_of

_WORKER = """
import asyncio, sys
from store.open import open_database
from attribution.review.annotation.queues import find_queue
from attribution.review.annotation.work import Bench
from attribution.review.people import Judgement

async def main(uri, project, people):
    async with await open_database(uri) as database:
        store, records = database.project(project), database.records(project)
        queue = await find_queue(records, project, "queue")
        benches = {person: Bench(store, records, queue, person) for person in people}
        for said in ("ready", "first"):
            print(said, flush=True)
            sys.stdin.readline()
            if said == "ready":
                await asyncio.gather(*(bench.next() for bench in benches.values()))
        async def work(bench):
            while (case := await bench.next()) is not None:
                await bench.submit(Judgement(case.failure.id, None, reason="so"))
                print(case.failure.id, flush=True)
        await asyncio.gather(*map(work, benches.values()))

asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
"""


async def test_processes_on_one_file_never_get_a_case_twice(tmp_path: Path) -> None:
    uri = f"sqlite:///{tmp_path / 'shared.db'}"
    async with await open_database(uri) as database:
        await failing("shared", 40).write(database.project("shared"))
        queue = await queue_of(database, "shared", annotators=1)
        people = (("Ada", "Ben", "Cleo"), ("Dan", "Eve", "Finn"))
        pipe = asyncio.subprocess.PIPE
        workers = [
            await asyncio.create_subprocess_exec(
                sys.executable, "-c", _WORKER, uri, "shared", *some, stdin=pipe, stdout=pipe
            )
            for some in people
        ]
        for said in (b"ready\n", b"first\n"):
            for worker in workers:
                assert worker.stdout is not None
                assert await worker.stdout.readline() == said
            for worker in workers:
                assert worker.stdin is not None
                worker.stdin.write(b"go\n")
        given = [out.decode().split() for out, _ in await asyncio.gather(*(one.communicate() for one in workers))]
        assert [worker.returncode for worker in workers] == [0, 0]
        assert min(map(len, given)) >= 3
        assert Counter(id_ for some in given for id_ in some) == Counter(queue.failure_ids)
        progress = await progress_of(database.records("shared"), queue)
        assert (progress.done, progress.verdicts) == (40, 40)
