"""Options of Spark: their names in any spelling."""

import pytest

from rdfm import formats
from rdfm.errors import OptionError
from rdfm.spark.options import Options

NQ = formats.nq.spec


@pytest.mark.parametrize("name", ["maxMessageBytes", "max_message_bytes", "maxmessagebytes"])
def test_in_spark_a_name_is_compared_without_case_and_underscores(name):
    assert Options({name: "1000"}).of_formats([NQ], "read") == {"max_message_bytes": 1000}


def test_an_unknown_option_is_an_error_that_lists_the_known_ones():
    with pytest.raises(OptionError, match=r"no option 'maxmesagebytes'; .*max_message_bytes"):
        Options({"maxmesagebytes": "1"}).of_formats([NQ], "read")


def test_an_option_in_two_spellings_is_an_error():
    with pytest.raises(OptionError, match="maxDepth is given twice"):
        Options({"max_depth": "1", "maxDepth": "1"})
