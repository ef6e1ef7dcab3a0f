"""Hadoop's settings of object stores become fsspec options."""

import pytest

from rdfm.errors import OptionError
from rdfm.spark.hadoop import translate_settings
from rdfm.spark.readers import reader

KEYS = {"fs.s3a.access.key": "K1", "fs.s3a.secret.key": "S1", "fs.s3a.session.token": "T1"}
PROVIDER = "fs.s3a.aws.credentials.provider"
AZURE = "fs.azure.account"
HOST = "logs.dfs.core.windows.net"
SECRETS = ("K1", "S1", "T1", "K2", "S2")
EXAMPLES = [
    ("s3://b/x", {}, {}),
    ("s3://b/x", KEYS, {"key": "K1", "secret": "S1", "token": "T1"}),
    (
        "s3://b/x",
        {**KEYS, PROVIDER: "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider"},
        {"key": "K1", "secret": "S1"},
    ),
    (
        "s3://b/x",
        {
            "fs.s3a.access.key": "K1",
            "fs.s3a.secret.key": "S1",
            "fs.s3a.bucket.b.access.key": "K2",
            "fs.s3a.bucket.b.secret.key": "S2",
        },
        {"key": "K2", "secret": "S2"},
    ),
    (
        "s3://b/x",
        {PROVIDER: "org.apache.hadoop.fs.s3a.AnonymousAWSCredentialsProvider"},
        {"anon": True},
    ),
    ("s3://b/x", {PROVIDER: "com.amazonaws.auth.InstanceProfileCredentialsProvider"}, {}),
    (
        "s3://b/x",
        {
            "fs.s3a.endpoint": "minio:9000",
            "fs.s3a.connection.ssl.enabled": "false",
            "fs.s3a.endpoint.region": "eu-central-1",
            "fs.s3a.path.style.access": "true",
        },
        {
            "endpoint_url": "http://minio:9000",
            "client_kwargs": {"region_name": "eu-central-1"},
            "config_kwargs": {"s3": {"addressing_style": "path"}},
        },
    ),
    ("s3://b/x", {"fs.s3a.bucket.b.endpoint": "s3.eu"}, {"endpoint_url": "https://s3.eu"}),
    (
        f"abfss://c@{HOST}/x",
        {f"{AZURE}.key.{HOST}": "K1"},
        {"account_name": "logs", "account_key": "K1"},
    ),
    (
        f"abfss://c@{HOST}/x",
        {f"{AZURE}.auth.type.{HOST}": "SAS", "fs.azure.sas.fixed.token": "T1"},
        {"account_name": "logs", "sas_token": "T1"},
    ),
    (
        f"abfss://c@{HOST}/x",
        {
            f"{AZURE}.auth.type": "OAuth",
            f"{AZURE}.oauth.provider.type": "org.apache.hadoop.fs.azurebfs.oauth2.ClientCredsTokenProvider",
            f"{AZURE}.oauth2.client.id": "id",
            f"{AZURE}.oauth2.client.secret.{HOST}": "S1",
            f"{AZURE}.oauth2.client.endpoint": "https://login.microsoftonline.com/tenant/oauth2/token",
        },
        {"account_name": "logs", "client_id": "id", "client_secret": "S1", "tenant_id": "tenant"},
    ),
    ("gs://b/x", {"fs.gs.auth.type": "UNAUTHENTICATED"}, {"token": "anon"}),
    (
        "gs://b/x",
        {"fs.gs.auth.service.account.json.keyfile": "/key.json", "fs.gs.project.id": "p"},
        {"token": "/key.json", "project": "p"},
    ),
    ("hdfs://host/x", KEYS, {}),
]


@pytest.mark.parametrize(("url", "settings", "expected"), EXAMPLES)
def test_settings_become_fsspec_options(url, settings, expected):
    assert translate_settings(url, settings.get) == expected


@pytest.mark.parametrize(
    ("url", "settings", "name"),
    [
        ("s3://b/x", {**KEYS, PROVIDER: "x.AssumedRoleCredentialProvider"}, "x.AssumedRole"),
        (
            "s3://b/x",
            {"fs.s3a.security.credential.provider.path": "jceks://x"},
            "security.credential",
        ),
        (f"abfss://c@{HOST}/x", {f"{AZURE}.auth.type": "Custom"}, "auth.type=Custom"),
        ("gs://b/x", {"fs.gs.auth.type": "USER_CREDENTIALS"}, "USER_CREDENTIALS"),
    ],
)
def test_settings_without_an_equivalent_are_named(url, settings, name):
    with pytest.raises(OptionError, match="pass the credentials as storage_options") as caught:
        translate_settings(url, settings.get)
    assert name in str(caught.value)
    assert not any(secret in str(caught.value) for secret in SECRETS)
    assert translate_settings(url, settings.get, credentials=False) == {}


class NoCredentialsError(Exception):
    """An error of a package of fsspec."""


@pytest.mark.parametrize("error", [PermissionError("Forbidden"), NoCredentialsError("none found")])
def test_an_error_without_access_names_the_option(monkeypatch, error):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(reader, "find_settled", fail)
    source = reader.LogSourceReader(
        {"path": "memory://bucket/x", "format": "nq", "columns": "source"}
    )
    with pytest.raises(PermissionError, match="set storageOptions"):
        source.partitions()
