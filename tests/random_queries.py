"""Random SELECT queries with paths, aggregates and subqueries, and messages that match them.

Each number gives one query and one message. Unlike Hypothesis, which prefers small examples, most of
these queries combine several features and have rows.
"""

import random

from queries import BNODES, IRIS, LITERALS, PREDICATES

VARIABLES = ("?a", "?b", "?c", "?d")
STEPS = ("<http://e/p>", "<http://e/q>", "<http://e/r>", "^<http://e/p>", "!<http://e/p>",
         "!(<http://e/p>|^<http://e/q>)", "!(<http://e/r>|^<http://e/r>)")  # fmt: skip
CONSTANTS = ("<http://e/a>", "<http://e/b>", "<http://e/none>", "1", '"text"@en')
CONDITIONS = ("isIRI({0})", "!isLiteral({0})", "bound({0})", "!bound({0})", "sameTerm({0}, {1})",
              "isNumeric({0}) && {0} > 1", "{0} IN ({1}, <http://e/a>)", "isBlank({0}) || {1} = 2",
              "coalesce({0} + 1, 3) > 2")  # fmt: skip
AGGREGATES = ("COUNT(*)", "COUNT(DISTINCT *)", "COUNT(DISTINCT *)", "COUNT({0})", "SUM({0})",
              "COUNT(DISTINCT {0})", "SUM(DISTINCT {0})", "AVG({0})")  # fmt: skip


def random_case(number):
    """Returns the text of a query, and a message."""
    generator = Generator(random.Random(number))
    return generator.query(), generator.message()


class Generator:
    def __init__(self, source):
        self.source = source
        self.pick = source.choice
        self.names = 0

    def message(self):
        nodes = IRIS + BNODES
        graphs = [None, None, None, ("iri", "http://e/g"), ("iri", "http://e/h")]
        quads = [
            (
                self.pick(nodes),
                self.pick(PREDICATES),
                self.pick(nodes if self.source.random() < 0.7 else LITERALS),
                self.pick(graphs),
            )
            for _ in range(self.source.randint(2, 16))
        ]
        return list(dict.fromkeys(quads))

    def query(self):
        where = self.group(3)
        form = self.pick(("*", "DISTINCT *", "?a ?b", "DISTINCT ?b", "", "", ""))
        if form:
            return f"SELECT {form} {{ {where} }}"
        return self.grouped(where)

    def grouped(self, where):
        """Returns a query with an aggregate."""
        key = self.pick(("", "", "?a", "?b", "?a ?c"))
        aggregate = self.pick(AGGREGATES).format(self.pick(VARIABLES))
        group = f" GROUP BY {key}" if key else ""
        having = " HAVING(COUNT(*) > 1)" if self.source.random() < 0.1 else ""
        return f"SELECT {key} ({aggregate} AS {self.new()}) {{ {where} }}{group}{having}"

    def new(self):
        self.names += 1
        return f"?new{self.names}"

    def group(self, depth):
        parts = [self.pick((self.triple, self.path))()]
        parts += [self.part(depth) for _ in range(self.source.randint(0, 2))]
        return " ".join(parts)

    def part(self, depth):
        kinds = [self.triple, self.path, self.path, self.filter]
        inner = self.group(depth - 1) if depth else self.triple()
        other = self.group(depth - 1) if depth else self.path()
        variable = self.pick(VARIABLES)
        kinds += [
            lambda: f"OPTIONAL {{ {inner} }}",
            lambda: f"{{ {inner} }} UNION {{ {other} }}",
            lambda: f"MINUS {{ {inner} }}",
            lambda: f"GRAPH ?g {{ {self.pair()} }}",
            lambda: f"GRAPH <http://e/g> {{ {inner} }}",
            lambda: f"{{ SELECT DISTINCT {variable} {{ {inner} }} }}",
            lambda: f"{{ SELECT {variable} {{ {inner} }} }}",
            lambda: f"{{ {self.grouped(inner)} }}",
            lambda: f"FILTER({self.pick(('', 'NOT '))}EXISTS {{ {self.pair()} }})",
            lambda: f"BIND({self.pick(CONDITIONS).format(variable, '?b')} AS {self.new()})",
            lambda: f"VALUES ({variable} ?e) {{ (<http://e/a> 1) (UNDEF 2) (<http://e/c> UNDEF) }}",
        ]
        return self.pick(kinds)()

    def pair(self):
        return f"{self.triple()} {self.path()}"

    def triple(self):
        predicate = self.pick((*STEPS[:3], *STEPS[:3], "?n"))
        return f"{self.end()} {predicate} {self.end()} ."

    def path(self):
        return f"{self.end()} {self.steps(3)} {self.end()} ."

    def end(self):
        return self.pick((*VARIABLES, *VARIABLES, "[]", self.pick(CONSTANTS[:3])))

    def filter(self):
        condition = self.pick(CONDITIONS)
        return f"FILTER({condition.format(self.pick(VARIABLES), self.pick(VARIABLES))})"

    def steps(self, depth):
        """Returns a property path."""
        if not depth or self.source.random() < 0.2:
            return self.pick(STEPS)
        one, other = self.steps(depth - 1), self.steps(depth - 1)
        forms = (
            "({0}|{1})",
            "({0}|{1})",
            "({0}/{1})",
            "({0}/{1})",
            "({0})*",
            "({0})+",
            "({0})?",
            "^({0})",
        )
        if "/" in one:
            # ARQ loses rows of reversed sequences.
            forms = forms[:-1]
        return self.pick(forms).format(one, other)
