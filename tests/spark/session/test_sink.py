"""The streaming sink in a real session."""

import json
import shutil
from pathlib import Path

import pytest
from parts import Query, messages_in, numbered, numbers_in, remaining_files, visible_files


@pytest.fixture
def query(spark, tmp_path):
    return Query(spark, tmp_path)


def test_parts_are_named_after_their_batch(query):
    for numbers in ([0, 1], [2, 3, 4], [5]):
        query.add(*numbers)
    query_id = query.run(compression="gzip")
    assert numbers_in(query.out) == [0, 1, 2, 3, 4, 5]
    names = [path.name for path in visible_files(query.out)]
    assert names == [f"part-0000{batch}-00000-{query_id}-c000.jelly.gz" for batch in range(3)]
    assert remaining_files(query.out) == []
    assert not (query.out / "_SUCCESS").exists()


def test_a_query_continues_from_its_checkpoint(query):
    query.add(0)
    first = query.run()
    query.add(1)
    query.add(2)
    assert query.run() == first
    query.run()
    assert numbers_in(query.out) == [0, 1, 2]


@pytest.mark.feature("write streams", since=(4, 1))
def test_a_repeated_batch_is_not_written_again(query):
    query.add(0, 1)
    query.add(2)
    query_id = query.run()
    assert query.forget_last_commit() == 1
    query.add(3)
    assert query.run() == query_id
    assert numbers_in(query.out) == [0, 1, 2, 3]
    assert remaining_files(query.out) == []


def test_a_committed_batch_is_finished_and_not_written_again(query):
    query.add(0, 1)
    query.add(2)
    query_id = query.run()
    batch = query.forget_last_commit()
    # Simulates a driver that died right after the commit.
    (part,) = [
        path for path in visible_files(query.out) if path.name.startswith(f"part-0000{batch}-")
    ]
    staging = query.out / "_rdfm/staging/stream-x-1/00000-attempt"
    staging.mkdir(parents=True)
    part.rename(staging / part.name)
    commits = query.out / f"_rdfm/commits/query-{query_id}"
    (commits / str(batch)).rename(commits / str(batch - 1))
    journal = {
        "version": 1,
        "job": "stream-x-1",
        "parts": [f"00000-attempt/{part.name}"],
        "removals": [],
        "marks": False,
        "write_id": None,
        "query": query_id,
        "batch": batch,
    }
    path = query.out / f"_rdfm/journal/query-{query_id}-{batch}.json"
    path.write_text(json.dumps(journal))
    query.add(3)
    query.run()
    assert numbers_in(query.out) == [0, 1, 2, 3]
    assert remaining_files(query.out) == []


def test_two_queries_share_a_folder(query, tmp_path):
    query.add(0)
    (tmp_path / "other").mkdir()
    other = Query(query.spark, tmp_path / "other")
    other.out = query.out
    other.add(10)
    assert query.run() != other.run()
    query.add(1)
    query.run()
    assert sorted(numbers_in(query.out)) == [0, 1, 10]


def test_a_new_checkpoint_is_a_new_query(query):
    query.add(0)
    query.run()
    shutil.rmtree(query.checkpoint)
    query.run()
    assert numbers_in(query.out) == [0, 0]


def test_a_batch_without_rows_writes_nothing(query):
    query.add(0)
    query.run(transform=lambda rows: numbered(rows).where("id < 0"))
    assert visible_files(query.out) == []
    query.add(1)
    query.run()
    assert numbers_in(query.out) == [1]
    assert remaining_files(query.out) == []


def test_a_failed_batch_leaves_no_files_and_is_retried(query):
    query.add(0, 1)

    def invalid(rows):
        return numbered(rows).selectExpr(
            "id", "if(id = 1, transform(quads, q -> named_struct('subject', 'no term', 'predicate', "
            "q.predicate, 'object', q.object, 'graph', q.graph)), quads) AS quads"
        )  # fmt: skip

    with pytest.raises(Exception, match="found 'no'"):
        query.run(transform=invalid)
    assert visible_files(query.out) == []
    assert remaining_files(query.out) == []
    query.run()
    assert numbers_in(query.out) == [0, 1]


def test_only_append_mode_is_supported(query):
    query.add(0)
    count_quads = "array(named_struct('subject', '_:s', 'predicate', '<http://ex/p>', 'object', "
    count_quads += "concat('\"', count(*), '\"'), 'graph', cast(null as string)))"

    def count(rows):
        from pyspark.sql.functions import expr

        return rows.groupBy("id").agg(expr(count_quads).alias("quads"))

    with pytest.raises(Exception, match="only the output mode 'append'"):
        query.run(mode="complete", transform=count)
    with pytest.raises(Exception, match="does not support Update mode"):
        query.run(mode="update", transform=count)
    with pytest.raises(Exception, match="writeId applies only to batch writes"):
        query.run(writeId="x")
    assert not Path(query.out).exists() or visible_files(query.out) == []


def test_messages_keep_their_quads(query):
    query.add(7)
    query.run()
    (message,) = messages_in(query.out)
    assert [str(quad) for quad in message] == [
        '<http://ex/7> <http://ex/number> "7" .',
        "<http://ex/7> <http://ex/p> _:b .",
        '_:b <http://ex/p> "Grüße"@de .',
    ]
