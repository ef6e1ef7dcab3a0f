"""Access to `rdfm serve`: tokens, TLS and addresses."""

import json
import signal

import grpc
import pytest
from certificates import Authority
from cryptography.hazmat.primitives import serialization
from jelly_grpc import ONCE, TOKEN, Client, frames_of, message, numbers, serve
from support import as_batch

import rdfm
from rdfm.errors import OptionError
from rdfm.live.tls import Tls

pytestmark = pytest.mark.slow

READ_TOKEN = "read-token"


def header(token, scheme="Bearer"):
    return (("authorization", f"{scheme} {token}"),)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    with rdfm.create_log(folder / "a.jelly") as log:
        log.write_batch(as_batch([message(0)]))
    return folder


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("tls"), "authority")


def code_of(call):
    with pytest.raises(grpc.RpcError) as failed:
        call()
    return failed.value.code().name


def test_subscriptions_need_the_read_token_if_there_is_one(folder, tmp_path):
    (tmp_path / "token").write_text(f"{READ_TOKEN}\n")
    with serve(folder, "--read-token-file", tmp_path / "token") as served:
        client = Client(served.port)
        for metadata in (
            (),
            header("wrong"),
            header(READ_TOKEN, "Basic"),
            header(f"{READ_TOKEN}x"),
        ):
            assert code_of(lambda m=metadata: client.messages("a", None, (*ONCE, *m))) == (
                "UNAUTHENTICATED"
            )
        for token in (READ_TOKEN, TOKEN):
            found, _ = client.messages("a", None, (*ONCE, *header(token)))
            assert numbers(found) == [0]
        # The token of subscribers does not permit publications.
        frames = frames_of([message(1)], "a")
        assert code_of(lambda: client.publish(frames, header(READ_TOKEN))) == "UNAUTHENTICATED"
        assert code_of(lambda: client.publish(frames, ())) == "UNAUTHENTICATED"


def test_the_read_token_can_come_from_the_environment(folder):
    with serve(folder, env={"RDFM_READ_TOKEN": READ_TOKEN}) as served:
        client = Client(served.port)
        assert code_of(lambda: client.messages("a")) == "UNAUTHENTICATED"
        assert client.messages("a", None, (*ONCE, *header(READ_TOKEN)))[0]


def test_publications_are_rejected_unless_allowed(folder):
    with serve(folder, publish=False) as served:
        client = Client(served.port)
        frames = frames_of([message(1)], "a")
        assert code_of(lambda: client.publish(frames)) == "PERMISSION_DENIED"
        assert client.messages("a")[0]


def test_metadata_of_a_subscription_is_checked(folder):
    with serve(folder) as served:
        client = Client(served.port)
        for metadata in ((("rdfm-start", "5"),), (("rdfm-follow", "maybe"),)):
            assert code_of(lambda m=metadata: client.messages("a", None, m)) == "INVALID_ARGUMENT"


def test_clients_must_trust_the_certificate_of_the_server(folder, authority):
    server = authority.issue("server")
    arguments = ("--tls-cert", server.certificate, "--tls-key", server.key)
    with serve(folder, *arguments) as served:
        trusted = grpc.ssl_channel_credentials(authority.file.read_bytes())
        assert Client(served.port, trusted).messages("a")[0]
        assert code_of(lambda: Client(served.port).messages("a")) == "UNAVAILABLE"
        default_trust = grpc.ssl_channel_credentials()
        assert code_of(lambda: Client(served.port, default_trust).messages("a")) == "UNAVAILABLE"


def test_client_certificates_must_be_issued_by_the_client_ca(folder, authority, tmp_path):
    server, trusted_identity = authority.issue("server"), authority.issue("client")
    stranger = Authority(tmp_path, "other").issue("stranger")
    arguments = ("--tls-cert", server.certificate, "--tls-key", server.key)
    with serve(folder, *arguments, "--client-ca", authority.file) as served:

        def client(identity):
            parts = (identity.key.read_bytes(), identity.certificate.read_bytes())
            trusted = grpc.ssl_channel_credentials(authority.file.read_bytes(), *parts)
            return Client(served.port, trusted)

        assert client(trusted_identity).messages("a")[0]
        assert code_of(lambda: client(stranger).messages("a")) == "UNAVAILABLE"
        no_identity = grpc.ssl_channel_credentials(authority.file.read_bytes())
        assert code_of(lambda: Client(served.port, no_identity).messages("a")) == "UNAVAILABLE"


# --- invalid files ---


def test_a_certificate_must_match_its_key(authority, tmp_path):
    server, other = authority.issue("one"), authority.issue("two")
    with pytest.raises(OptionError, match=r"one\.pem and .*two\.key do not belong together"):
        Tls(server.certificate, other.key).read()
    assert Tls(server.certificate, server.key).read().client_ca is None


def test_encrypted_keys_are_rejected(authority, tmp_path):
    server = authority.issue("one")
    key = serialization.load_pem_private_key(server.key.read_bytes(), None)
    encrypted = tmp_path / "encrypted.key"
    encrypted.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"secret"),
        )
    )
    with pytest.raises(OptionError, match=r"encrypted\.key is encrypted; decrypt it with"):
        Tls(server.certificate, encrypted).read()


def test_invalid_pem_files_are_rejected(authority, tmp_path):
    server = authority.issue("one")
    for kind, text in (("CERTIFICATE", "AAAA"), ("PRIVATE KEY", "AAAA"), ("CERTIFICATE", "")):
        (tmp_path / f"{kind}.pem").write_text(
            f"-----BEGIN {kind}-----\n{text}\n-----END {kind}-----\n"
        )
        with pytest.raises(OptionError, match="not a valid certificate and private key"):
            if kind == "CERTIFICATE":
                Tls(tmp_path / f"{kind}.pem", server.key).read()
            else:
                Tls(server.certificate, tmp_path / f"{kind}.pem").read()
    with pytest.raises(OptionError, match="has no valid certificate"):
        Tls(server.certificate, server.key, tmp_path / "CERTIFICATE.pem").read()


# --- reload ---


def test_sighup_reloads_the_tokens(folder, tmp_path):
    read, publish = tmp_path / "read", tmp_path / "publish"
    read.write_text("read-1")
    publish.write_text("publish-1")
    frames = frames_of([message(1)], "new")
    with serve(
        folder, "--read-token-file", read, "--publish-token-file", publish, "--create-topics"
    ) as served:
        client = Client(served.port)

        def accepted():
            read_tokens = [
                n
                for n in (1, 2)
                if attempt(lambda n=n: client.messages("a", None, (*ONCE, *header(f"read-{n}"))))
            ]
            publish_tokens = [
                n
                for n in (1, 2)
                if attempt(lambda n=n: client.publish(frames, header(f"publish-{n}")))
            ]
            return read_tokens, publish_tokens

        assert accepted() == ([1], [1])
        open_call = client.subscribe("a", None, header("read-1"))
        next(open_call)
        read.write_text("read-2")
        publish.write_text("publish-2")
        served.process.send_signal(signal.SIGHUP)
        served.wait_for("info reload")
        assert accepted() == ([2], [2])
        # A reload that fails changes nothing.
        read.write_text("read-1")
        publish.write_text("")
        served.process.send_signal(signal.SIGHUP)
        (line,) = served.wait_for("error reload")
        assert "publish has no token" in line
        assert accepted() == ([2], [2])
        assert open_call.is_active()
        assert served.stop() == 0
        client.close()


def attempt(call):
    """Returns whether a call is accepted; otherwise its token must be wrong."""
    try:
        call()
    except grpc.RpcError as error:
        assert error.code() is grpc.StatusCode.UNAUTHENTICATED
        return False
    return True


def test_sighup_reloads_the_certificates(folder, authority, tmp_path):
    other = Authority(tmp_path, "other")
    certificate, key = tmp_path / "server.pem", tmp_path / "server.key"

    def install(identity):
        certificate.write_bytes(identity.certificate.read_bytes())
        key.write_bytes(identity.key.read_bytes())

    def trusts(file):
        client = Client(served.port, grpc.ssl_channel_credentials(file.read_bytes()))
        try:
            return len(client.messages("a")[0]) == 1
        except grpc.RpcError as error:
            assert error.code() is grpc.StatusCode.UNAVAILABLE
            return False
        finally:
            client.close()

    install(authority.issue("one"))
    with serve(folder, "--tls-cert", certificate, "--tls-key", key) as served:
        assert (trusts(authority.file), trusts(other.file)) == (True, False)
        install(other.issue("two"))
        served.process.send_signal(signal.SIGHUP)
        served.wait_for("info reload")
        assert (trusts(authority.file), trusts(other.file)) == (False, True)
        key.write_bytes(authority.issue("three").key.read_bytes())
        served.process.send_signal(signal.SIGHUP)
        (line,) = served.wait_for("error reload")
        assert "do not belong together" in line
        assert (trusts(authority.file), trusts(other.file)) == (False, True)


# --- events ---


def test_every_call_is_logged(folder, tmp_path):
    (tmp_path / "token").write_text(READ_TOKEN)
    with serve(
        folder, "--read-token-file", tmp_path / "token", "--create-topics", "--log-format", "json"
    ) as served:
        client = Client(served.port)
        client.messages("a", None, (*ONCE, *header(READ_TOKEN)))
        for call in (
            lambda: client.messages("a", None, (*ONCE, *header("secret-guess"))),
            lambda: client.messages("none\n", None, (*ONCE, *header(READ_TOKEN))),
            lambda: client.publish(frames_of([message(1)], "logged"), ()),
        ):
            with pytest.raises(grpc.RpcError):
                call()
        client.publish(frames_of([message(1), message(2)], "logged"))
        client.close()
        assert served.stop() == 0
    text = "".join(served.lines)
    assert "secret-guess" not in text
    assert READ_TOKEN not in text
    found = [json.loads(line) for line in served.lines]
    clients = {event.pop("client") for event in found if "client" in event}
    assert len(clients) == 1
    assert clients.pop().startswith(("127.0.0.1:", "[::1]:"))
    for event in found:
        for key in ("time", "seconds", "bytes", "url", "topics"):
            event.pop(key, None)
    subscription = {"level": "info", "topic": "a"}
    publication = {"level": "info", "topic": "logged"}
    wrong = {"level": "warning", "event": "wrong-token"}
    assert found == [
        {"level": "info", "event": "start"},
        {"event": "subscription", **subscription, "from_end": False, "follow": False},
        {"event": "subscription-end", **subscription, "frames": 1, "status": "OK"},
        {**wrong, "call": "subscription", "reason": "the token is wrong"},
        {
            "level": "warning",
            "event": "rejected",
            "call": "subscription",
            "status": "NOT_FOUND",
            "reason": "there is no topic 'none\\n'",
        },
        {
            **wrong,
            "call": "publication",
            "reason": "the server needs a token (authorization: Bearer TOKEN)",
        },
        {"event": "publication", **publication},
        {"event": "publication-end", **publication, "frames": 2, "messages": 2, "status": "OK"},
        {"level": "info", "event": "stop"},
    ]


def test_errors_of_a_log_are_logged_with_its_path(tmp_path):
    (tmp_path / "broken.jelly").write_bytes(b"\xff" * 100)
    with serve(tmp_path, publish=False) as served:
        client = Client(served.port)
        with pytest.raises(grpc.RpcError) as failed:
            client.messages("broken")
        (line,) = served.wait_for("error error")
        assert f'reason="{tmp_path / "broken.jelly"}: jelly:' in line
        assert str(tmp_path) not in failed.value.details()
        client.close()
