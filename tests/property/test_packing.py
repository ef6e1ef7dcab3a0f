"""Files are packed in order into balanced tasks, with enough tasks for all cores."""

from hypothesis import given
from hypothesis import strategies as st

from rdfm.spark.readers.packing import pack_files
from rdfm.storage.files import File

SIZES = st.lists(st.integers(0, 40) | st.sampled_from([0, 1, 1000]), max_size=60)
PACK_BYTES = st.integers(1, 200)
OPEN_COST = st.integers(0, 20)
CORES = st.integers(1, 9)


def files_of(sizes):
    return [File(f"{number}", size, None) for number, size in enumerate(sizes)]


@given(SIZES, PACK_BYTES, OPEN_COST, CORES)
def test_every_file_is_in_one_pack_and_packs_are_balanced(sizes, pack_bytes, open_cost, cores):
    files = files_of(sizes)
    packs = list(pack_files(files, pack_bytes, open_cost, cores))
    assert [file for group in packs for file in group] == files
    assert all(packs)
    assert len(packs) >= min(cores, len(files))

    def cost(group):
        return sum(max(file.size + open_cost, 1) for file in group)

    small_costs = [cost([file]) for file in files if cost([file]) <= pack_bytes]
    for group in packs:
        if len(group) > 1:
            assert all(cost([file]) <= pack_bytes for file in group)
            assert cost(group) < pack_bytes + max(small_costs)
    if len(small_costs) == len(files):
        rounds = -(-sum(small_costs) // (pack_bytes * cores))
        assert len(packs) == min(rounds * cores, len(files))


@given(st.integers(1, 2000), st.integers(0, 40), PACK_BYTES, OPEN_COST, CORES)
def test_packs_of_equal_files_differ_by_at_most_one_file(
    file_count, size, pack_bytes, open_cost, cores
):
    packs = list(pack_files(files_of([size] * file_count), pack_bytes, open_cost, cores))
    counts = {len(group) for group in packs}
    assert max(counts) - min(counts) <= 1


def test_many_small_files_are_packed_together():
    packs = list(pack_files(files_of([2300] * 20_000), 4 << 20, 256 << 10))
    assert {len(group) for group in packs} == {15, 16}
    assert len(packs) == 1261
