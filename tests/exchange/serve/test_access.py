"""Access to `rdfm serve`: tokens, TLS and addresses."""

import grpc
import pytest
from certificates import Authority
from jelly_grpc import ONCE, TOKEN, Client, frames_of, message, numbers, serve
from support import as_batch

import rdfm

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
