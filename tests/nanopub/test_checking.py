"""Nanopublication checks: signatures, requirements, literals, IRIs, counts and positions."""

import builtins

import nanopubs
import pytest
from nanopubs import NPX, iri, literal, triple

import rdfm
from rdfm.errors import MissingExtraError, OptionError, UnknownFormatError
from rdfm.nanopub.checking import RULES, check

N = nanopubs.BASE + "1"
XSD = "http://www.w3.org/2001/XMLSchema#"

# A message that is not a nanopublication.
OTHER = [(*triple("http://e/s", "http://e/p", "http://e/o"), iri("http://e/g"))]


def findings(quads, **options):
    return list(check(nanopubs.nq(quads), "nq", **options))


def errors(quads, **options):
    return [
        (found.rule, found.text)
        for found in findings(quads, **options)
        if found.severity == "error"
    ]


def signed(key, **values):
    return nanopubs.signed(key.sign, key.algorithm, key.public, **values)


@pytest.mark.parametrize("algorithm", ["RSA", "DSA"])
def test_valid_signatures_are_verified(keys, algorithm):
    checked = check(nanopubs.nq(signed(keys[algorithm])), "nq")
    assert list(checked) == []
    assert (checked.nanopubs, checked.trusty, checked.signed) == (1, 1, 1)


@pytest.mark.parametrize("algorithm", ["RSA", "DSA"])
def test_white_space_in_base64_is_ignored(keys, algorithm):
    key = keys[algorithm]
    wrapped = "\n".join(key.public[at : at + 64] for at in range(0, len(key.public), 64))
    assert errors(nanopubs.signed(key.sign, algorithm, wrapped)) == []


def test_a_signature_covers_every_other_quad(keys):
    quads = signed(keys["RSA"])
    info = quads[-1][3]
    code = nanopubs.own_code(quads)
    extended = [*quads, (*triple("http://e/s", "http://e/p", "http://e/o"), info)]
    assert {rule for rule, _ in errors(extended)} == {"artifact-code", "signature"}
    # With the right code, only the signature is wrong.
    filled = nanopubs.with_code(nanopubs.with_code(extended, code), code)
    new_code = nanopubs.code_of(filled, code)
    renamed = [
        tuple(
            ("iri", term[1].replace(code, new_code)) if term and term[0] == "iri" else term
            for term in quad
        )
        for quad in filled
    ]
    assert errors(renamed) == [
        ("signature", "the RSA signature does not match the quads and the public key")
    ]


def test_a_signature_with_another_key_is_wrong(keys, other_key):
    quads = nanopubs.signed(keys["RSA"].sign, "RSA", other_key.public)
    assert errors(quads) == [
        ("signature", "the RSA signature does not match the quads and the public key")
    ]


WRONG_SIGNATURES = {
    "the signature element has no npx:hasAlgorithm": {"Algorithm": None},
    "the signature element has no npx:hasPublicKey": {"PublicKey": None},
    "the signature element has no npx:hasSignature": {"Signature": None},
    'the signature algorithm is "ECDSA", expected "RSA" or "DSA"': {"Algorithm": literal("ECDSA")},
    "the value of npx:hasAlgorithm is <http://e/RSA>, expected a string": {
        "Algorithm": iri("http://e/RSA")
    },
    "the public key is not valid Base64": {"PublicKey": literal("?")},
    "the public key is not a SubjectPublicKeyInfo in DER": {"PublicKey": literal("AAAA")},
    "the algorithm is DSA, but the key is for another algorithm": {"Algorithm": literal("DSA")},
    "the signature is not valid Base64": {"Signature": literal("é")},
    "the RSA signature does not match the quads and the public key": {"Signature": literal("AAAA")},
}


@pytest.mark.parametrize("text", WRONG_SIGNATURES)
def test_each_signature_error_has_its_own_message(keys, text):
    assert errors(signed(keys["RSA"], **WRONG_SIGNATURES[text])) == [("signature", text)]


def test_a_signature_without_a_target_is_an_error(keys):
    assert errors(signed(keys["RSA"], SignatureTarget=None)) == [
        (
            "signature",
            "there is a signature, but no npx:hasSignatureTarget with the value "
            f"<{nanopubs.BASE}{nanopubs.own_code(signed(keys['RSA'], SignatureTarget=None))}>",
        )
    ]


def test_two_signature_elements_are_an_error(keys):
    quads = signed(keys["RSA"])
    base = nanopubs.BASE + nanopubs.own_code(quads)
    second = (*triple(base + "/sig2", NPX + "hasSignatureTarget", base), iri(base + "/info"))
    (code, signature) = errors([*quads, second])
    assert code[0] == "artifact-code"
    assert signature == (
        "signature",
        f"there are two signature elements, <{base}/sig> and <{base}/sig2>, expected one",
    )


def test_two_values_in_a_signature_element_are_an_error(keys):
    quads = signed(keys["RSA"])
    base = nanopubs.BASE + nanopubs.own_code(quads)
    second = (*triple(base + "/sig", NPX + "hasAlgorithm", literal("DSA")), iri(base + "/info"))
    assert (
        "signature",
        "the signature element has two values of npx:hasAlgorithm, expected one",
    ) in (errors([*quads, second]))


def test_old_signatures_cause_a_warning():
    info = [triple(N, NPX + "hasSignatureElement", N + "/sig")]
    (found,) = findings(nanopubs.nanopub(N, info=info))
    assert (found.severity, found.rule) == ("warning", "old-signature")


def test_signatures_without_a_trusty_uri_are_verified(keys):
    key = keys["RSA"]
    quads = nanopubs.with_code(nanopubs.nanopub(), "1")
    element, info = N + "/sig", iri(N + "/info")
    quads += [
        (*triple(element, NPX + "hasSignatureTarget", N), info),
        (*triple(element, NPX + "hasAlgorithm", literal("RSA")), info),
        (*triple(element, NPX + "hasPublicKey", literal(key.public)), info),
    ]
    import base64

    value = base64.b64encode(key.sign(nanopubs.text_of(quads))).decode()
    quads.append((*triple(element, NPX + "hasSignature", literal(value)), info))
    checked = check(nanopubs.nq(quads), "nq")
    assert (checked.errors, checked.trusty, checked.signed) == (0, 0, 1)


def test_signature_verification_can_be_disabled(keys):
    quads = signed(keys["RSA"], Signature=literal("AAAA"))
    checked = check(nanopubs.nq(quads), "nq", signatures=False)
    assert (checked.errors, checked.signed) == (0, 0)


def test_without_cryptography_the_error_names_the_extra(monkeypatch):
    original_import = builtins.__import__

    def import_without_cryptography(name, *args, **kwargs):
        if name.startswith("cryptography"):
            raise ImportError(name)
        return original_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", import_without_cryptography)
    with pytest.raises(MissingExtraError) as caught:
        check(nanopubs.nq(nanopubs.trusty()), "nq")
    assert str(caught.value) == (
        "checking signatures needs cryptography: pip install 'rdfm[nanopub]', "
        "or leave signatures unchecked with signatures=False"
    )
    assert check(nanopubs.nq(nanopubs.trusty()), "nq", signatures=False).ok


# --- requirements, literals, IRIs ---


def test_plain_nanopublications_are_valid_unless_more_is_required(keys):
    quads = nanopubs.nanopub(N)
    assert errors(quads) == []
    not_trusty = (
        "not-trusty",
        f"<{N}> is not a trusty URI: expected RA and 43 more characters at its end",
    )
    assert errors(quads, require="trusty") == [not_trusty]
    assert errors(quads, require="signed") == [
        not_trusty,
        ("not-signed", f"<{N}> has no signature"),
    ]
    assert errors(nanopubs.trusty(), require="trusty") == []
    assert [rule for rule, _ in errors(nanopubs.trusty(), require="signed")] == ["not-signed"]
    assert errors(signed(keys["RSA"]), require="signed") == []


def test_a_wrong_code_or_signature_is_reported_once(keys):
    invalid = signed(keys["RSA"], Signature=literal("AAAA"))
    assert [rule for rule, _ in errors(invalid, require="signed")] == ["signature"]
    quads = [*nanopubs.trusty(), nanopubs.trusty()[0]]
    quads = [
        quad if quad[2] != iri("http://e/o") else (*quad[:2], iri("http://e/x"), quad[3])
        for quad in quads
    ]
    assert [rule for rule, _ in errors(quads, require="trusty")] == ["artifact-code"]


def test_ill_typed_literals_are_errors_unless_the_uri_is_trusty():
    assertion = [triple("http://e/s", "http://e/p", literal("two", datatype=XSD + "integer"))]
    text = "'two' is not a valid xsd:integer: expected digits with an optional sign"
    assert errors(nanopubs.nanopub(N, assertion=assertion)) == [("ill-typed-literal", text)]
    (found,) = findings(nanopubs.trusty(nanopubs.nanopub(assertion=assertion)))
    assert (found.severity, found.rule, found.text) == ("warning", "ill-typed-literal", text)


def test_malformed_iris_are_errors():
    assertion = [triple("http://e/%zz", "http://e/p", "http://e/%zz")]
    quads = nanopubs.trusty(nanopubs.nanopub(assertion=assertion))
    assert errors(quads) == [("nanopub-iri", "<http://e/%zz> is not a valid IRI")]


# --- counts, positions, inputs ---


def test_several_nanopublications_in_a_message_are_checked_separately():
    third = [
        quad
        for quad in nanopubs.nanopub(nanopubs.BASE + "3")
        if quad[2] != iri(nanopubs.BASE + "3/assertion")
    ]
    checked = check(nanopubs.nq([*nanopubs.nanopub(N), *nanopubs.trusty(), *third]), "nq")
    found = [(each.severity, each.rule, each.text) for each in checked]
    assert found == [
        ("warning", "several-nanopubs", "the message contains 3 nanopublications, expected one"),
        (
            "error",
            "nanopub-link",
            f"<{nanopubs.BASE}3> has no np:hasAssertion in the head, expected one",
        ),
    ]
    assert (checked.messages, checked.nanopubs, checked.trusty) == (1, 3, 1)


@pytest.mark.slow
def test_a_message_may_contain_thousands_of_nanopublications():
    quads = [
        quad for number in range(2000) for quad in nanopubs.nanopub(f"{nanopubs.BASE}{number}/")
    ]
    checked = check(nanopubs.nq(quads), "nq")
    assert (checked.nanopubs, checked.errors, checked.warnings) == (2000, 0, 1)


def test_quads_of_several_nanopublications_may_be_interleaved():
    first, second = nanopubs.nanopub(N), nanopubs.nanopub(nanopubs.BASE + "2")
    interleaved = [quad for pair in zip(first, second, strict=True) for quad in pair]
    checked = check(nanopubs.nq(interleaved), "nq")
    assert (checked.nanopubs, checked.errors) == (2, 0)


def test_the_first_twenty_malformed_terms_are_reported():
    numbers = [literal(f"x{number}", datatype=XSD + "integer") for number in range(30)]
    assertion = [triple("http://e/s", "http://e/p", each) for each in numbers]
    assert len(errors(nanopubs.nanopub(N, assertion=assertion))) == 20


def test_a_finding_has_the_position_of_its_term():
    valid, invalid = nanopubs.trusty(), nanopubs.nanopub(N)
    invalid.append((*triple("http://e/s", "http://e/p", "http://e/o"), iri(N + "/fifth")))
    (found,) = check(nanopubs.nq(valid, invalid), "nq")
    lines = nanopubs.nq(valid, invalid).decode().splitlines()
    assert (found.message_index, found.line) == (1, len(lines))
    assert lines[-1][found.column - 1 :].startswith(f"<{N}/fifth>")


def test_the_order_of_findings_does_not_depend_on_batches():
    messages = [nanopubs.trusty(), nanopubs.nanopub(N), OTHER] * 50
    data = nanopubs.nq(*messages)
    at_once = [(found.message_index, found.rule) for found in check(data, "nq", require="trusty")]
    one_by_one = check(data, "nq", require="trusty", batch_messages=1)
    assert [(found.message_index, found.rule) for found in one_by_one] == at_once
    assert len(at_once) == 100


def test_checking_continues_after_an_invalid_message():
    data = nanopubs.nq(nanopubs.trusty()) + b"# @message\noops\n# @message\n" + nanopubs.nq(OTHER)
    found = [(each.rule, each.message_index) for each in check(data, "nq")]
    assert found == [("syntax", 1), ("nanopub-head", 2)]


def test_the_summary_can_be_written_as_json(keys):
    checked = check([nanopubs.nq(signed(keys["RSA"])), nanopubs.nq(nanopubs.nanopub(N))], "nq")
    assert checked.summary() == {
        "inputs": 2,
        "logs": 2,
        "messages": 2,
        "records": 18,
        "errors": 0,
        "warnings": 0,
        "rules": {},
        "omitted": {},
        "stopped": False,
        "nanopubs": 2,
        "trusty": 1,
        "signed": 1,
    }


def test_checking_stops_at_the_maximum_number_of_errors():
    checked = check(nanopubs.nq(OTHER, OTHER, OTHER), "nq", max_errors=2)
    assert (len(list(checked)), checked.stopped) == (2, True)


def test_a_check_can_be_iterated_once():
    checked = check(nanopubs.nq(nanopubs.trusty()), "nq").run()
    with pytest.raises(ValueError, match="a check can be iterated only once; call check again"):
        list(checked)


def test_every_rule_is_declared():
    from rdfm._core import check_nanopubs

    assert check_nanopubs(rdfm.MessageBatch.from_messages([[]]))[0][4][0][0] in RULES
    assert all(rule.severity in ("error", "warning") for rule in RULES.values())


@pytest.mark.parametrize(
    ("arguments", "options", "error", "text"),
    [
        (([],), {}, OptionError, "there is nothing to check"),
        ((b"",), {"format": "x"}, UnknownFormatError, "'x'"),
        (
            (b"",),
            {"format": "nq", "max_errors": 0},
            OptionError,
            "max_errors is 0, expected 1 or more",
        ),
        ((b"",), {"format": "nq", "require": "all"}, OptionError, "require"),
        ((b"",), {"format": "nq", "frames": "frame"}, OptionError, "frames"),
    ],
)
def test_invalid_arguments_are_rejected(arguments, options, error, text):
    with pytest.raises(error, match=text):
        check(*arguments, **options).run()


def test_patches_are_rejected():
    with pytest.raises(OptionError, match="contains patches, but nanopublications are messages"):
        check(b"TX .\nTC .\n", "rdf-patch").run()
