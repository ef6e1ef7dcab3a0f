"""Translates Hadoop's settings of object stores to fsspec options.

In: the URLs of a read or write, and Hadoop's settings (`fs.s3a.*`, `fs.azure.*`, `fs.gs.*`). Out: the
fsspec options with the same effect, or an error that names a setting without an equivalent.
Law: options that the user gives win, and errors contain names of settings, never their values.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import urlsplit

from rdfm.errors import OptionError
from rdfm.formats.spec import key
from rdfm.spark.compat import is_remote
from rdfm.spark.paths import user_path
from rdfm.spark.spark_options import SECRET_STORAGE, STORAGE, camel_case
from rdfm.storage.paths import is_url

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["add_hadoop_settings", "find_storage_options", "translate_settings"]

# Returns the value of a setting, or None if it is not set or has Hadoop's default value.
Settings: TypeAlias = Callable[[str], "str | None"]

_ADVICE = "pass the credentials as storage_options"
# Options of fsspec that are credentials. If the user gives one, no setting adds another.
_CREDENTIALS = frozenset(
    [
        "key",
        "secret",
        "token",
        "anon",
        "profile",
        "account_key",
        "sas_token",
        "connection_string",
        "credential",
        "client_id",
        "client_secret",
        "tenant_id",
    ]
)
# Names of credential providers of S3 without packages: they use the settings below, no credentials,
# or what fsspec also looks for.
_S3_KEY_PROVIDERS = frozenset({"SimpleAWSCredentialsProvider", "TemporaryAWSCredentialsProvider"})
_S3_ANONYMOUS = "AnonymousAWSCredentialsProvider"
_S3_ENVIRONMENT = frozenset(
    {
        "ContainerCredentialsProvider",
        "DefaultAWSCredentialsProviderChain",
        "DefaultCredentialsProvider",
        "EC2ContainerCredentialsProviderWrapper",
        "EnvironmentVariableCredentialsProvider",
        "IAMInstanceCredentialsProvider",
        "InstanceProfileCredentialsProvider",
        "ProfileAWSCredentialsProvider",
        "ProfileCredentialsProvider",
        "WebIdentityTokenCredentialsProvider",
        "WebIdentityTokenFileCredentialsProvider",
    }
)
# Some settings with which Spark Connect's clients can recognize that there are credentials.
_KNOWN_SETTINGS = {
    "s3": ("fs.s3a.access.key", "fs.s3a.aws.credentials.provider", "fs.s3a.endpoint"),
    "abfs": ("fs.azure.account.auth.type",),
    "gs": ("fs.gs.auth.type", "fs.gs.auth.service.account.json.keyfile"),
}


def add_hadoop_settings(
    spark: SparkSession, paths: Iterable[str], text_options: Mapping[str, str]
) -> dict[str, str]:
    """Return the options of a read or write, with the session's Hadoop settings as fsspec options.

    All fsspec options move to an option that Spark shows in no plan, log or page.

    Raises:
        OptionError: If a setting has no equivalent, or the URLs need different settings.
    """
    options = dict(text_options)
    given: dict[str, Any] = {}
    for name, text in text_options.items():
        if key(name) in (key(STORAGE.name), key(SECRET_STORAGE.name)):
            given |= STORAGE.value(text, f"the option {camel_case(STORAGE.name)}")
            del options[name]
    if storage := find_storage_options(spark, paths, given):
        options[camel_case(SECRET_STORAGE.name)] = json.dumps(storage)
    return options


def find_storage_options(
    spark: SparkSession, paths: Iterable[str], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the given fsspec options and, for URLs, those of the session's Hadoop settings.

    Raises:
        OptionError: If a setting has no equivalent, or the URLs need different settings.
    """
    urls = [path for path in map(user_path, paths) if is_url(path)]
    get = _read_settings(spark, given) if urls else None
    if get is None:
        return dict(given)
    has_credentials = not _CREDENTIALS.isdisjoint(given)
    first, *others = [
        {**translate_settings(url, get, credentials=not has_credentials), **given} for url in urls
    ]
    if any(other != first for other in others):
        raise OptionError(
            f"the URLs have different Hadoop settings; read or write them separately, or {_ADVICE}"
        )
    return first


def translate_settings(url: str, get: Settings, *, credentials: bool = True) -> dict[str, Any]:
    """Return the fsspec options for a URL.

    Args:
        url: The URL.
        get: Returns the value of a setting.
        credentials: Whether to translate credentials too.

    Raises:
        OptionError: If credentials have no equivalent.

    Example:
        >>> settings = {"fs.s3a.access.key": "k", "fs.s3a.secret.key": "s"}
        >>> translate_settings("s3://bucket/log.nq", settings.get)
        {'key': 'k', 'secret': 's'}
    """
    parts = urlsplit(url)
    if parts.scheme == "s3":
        return _translate_s3(parts.netloc, get, credentials)
    if parts.scheme in ("abfs", "abfss"):
        host = parts.netloc.rpartition("@")[2]
        return _translate_azure(host, get) if credentials else {}
    if parts.scheme in ("gs", "gcs"):
        return _translate_gs(get, credentials)
    return {}


def _translate_s3(bucket: str, get: Settings, credentials: bool) -> dict[str, Any]:
    def find(name: str) -> str | None:
        value = get(f"fs.s3a.bucket.{bucket}.{name}")
        return get(f"fs.s3a.{name}") if value is None else value

    options = _translate_s3_credentials(find) if credentials else {}
    if endpoint := find("endpoint"):
        is_encrypted = (find("connection.ssl.enabled") or "true").lower() == "true"
        scheme = "https" if is_encrypted else "http"
        options["endpoint_url"] = endpoint if "://" in endpoint else f"{scheme}://{endpoint}"
    if region := find("endpoint.region"):
        options["client_kwargs"] = {"region_name": region}
    if (find("path.style.access") or "").lower() == "true":
        options["config_kwargs"] = {"s3": {"addressing_style": "path"}}
    return options


def _translate_s3_credentials(find: Settings) -> dict[str, Any]:
    """Translate the settings below `fs.s3a.`."""
    providers = (find("aws.credentials.provider") or "").replace(",", " ").split()
    names = [provider.rpartition(".")[2] for provider in providers]
    access_key, secret_key, token = map(find, ("access.key", "secret.key", "session.token"))
    uses_keys = not names or not _S3_KEY_PROVIDERS.isdisjoint(names)
    if uses_keys and access_key is not None and secret_key is not None:
        uses_token = not names or "TemporaryAWSCredentialsProvider" in names
        tokens = {"token": token} if uses_token and token is not None else {}
        return {"key": access_key, "secret": secret_key, **tokens}
    if names[:1] == [_S3_ANONYMOUS]:
        return {"anon": True}
    for provider, name in zip(providers, names, strict=True):
        if name not in {*_S3_KEY_PROVIDERS, *_S3_ENVIRONMENT, _S3_ANONYMOUS}:
            raise _unsupported_error(f"fs.s3a.aws.credentials.provider={provider}")
    if uses_keys and find("security.credential.provider.path") is not None:
        raise _unsupported_error("fs.s3a.security.credential.provider.path")
    return {}


def _translate_azure(host: str, get: Settings) -> dict[str, Any]:
    def find(name: str) -> str | None:
        value = get(f"{name}.{host}")
        return get(name) if value is None else value

    account = {"account_name": host.partition(".")[0]}
    auth_type = find("fs.azure.account.auth.type")
    if (auth_type or "SharedKey").lower() == "sharedkey":
        account_key = find("fs.azure.account.key")
        return {} if account_key is None else {**account, "account_key": account_key}
    sas_token = find("fs.azure.sas.fixed.token")
    if auth_type == "SAS" and sas_token is not None:
        return {**account, "sas_token": sas_token}
    provider = (find("fs.azure.account.oauth.provider.type") or "").rpartition(".")[2]
    if auth_type == "OAuth" and provider == "MsiTokenProvider":
        return {**account, "anon": False}  # the identity of the machine
    if auth_type == "OAuth" and provider == "ClientCredsTokenProvider":
        names = ("id", "secret", "endpoint")
        client_id, secret, url = (find(f"fs.azure.account.oauth2.client.{name}") for name in names)
        tenant = urlsplit(url or "").path.strip("/").partition("/")[0]
        if client_id and secret and tenant:
            client = {"client_id": client_id, "client_secret": secret, "tenant_id": tenant}
            return {**account, **client}
    raise _unsupported_error(f"fs.azure.account.auth.type={auth_type} {provider}".rstrip())


def _translate_gs(get: Settings, credentials: bool) -> dict[str, Any]:
    options: dict[str, Any] = {}
    auth_type = (get("fs.gs.auth.type") or "").upper()
    keyfile = get("fs.gs.auth.service.account.json.keyfile")
    if keyfile is None:
        keyfile = get("google.cloud.auth.service.account.json.keyfile")
    if not credentials:
        pass
    elif auth_type == "UNAUTHENTICATED":
        options["token"] = "anon"
    elif keyfile is not None and auth_type in ("", "SERVICE_ACCOUNT_JSON_KEYFILE"):
        options["token"] = keyfile
    elif auth_type not in ("", "APPLICATION_DEFAULT", "COMPUTE_ENGINE"):
        raise _unsupported_error(f"fs.gs.auth.type={auth_type}")
    if project := get("fs.gs.project.id"):
        options["project"] = project
    if endpoint := get("fs.gs.storage.root.url"):
        options["endpoint_url"] = endpoint.rstrip("/")
    return options


def _unsupported_error(setting: str) -> OptionError:
    return OptionError(f"the Hadoop setting {setting} has no equivalent in fsspec; {_ADVICE}")


def _read_settings(spark: SparkSession, given: Mapping[str, Any]) -> Settings | None:
    """Return a function that reads the Hadoop settings of a session; None if they are not needed.

    Raises:
        OptionError: If it is a session of Spark Connect that has such settings, and no fsspec
            options are given.
    """
    if is_remote(spark):
        if given:
            return None
        for names in _KNOWN_SETTINGS.values():
            for name in names:
                if spark.conf.get(f"spark.hadoop.{name}", None) is not None:
                    raise OptionError(
                        f"Spark Connect hides the values of Hadoop settings such as {name}; {_ADVICE}"
                    )
        return None
    session: Any = spark
    settings = session._jsparkSession.sessionState().newHadoopConf()

    def get(name: str) -> str | None:
        for each in (f"spark.hadoop.{name}", name):  # set in the session, or when it was created
            sources = settings.getPropertySources(each)
            if sources is None or list(sources)[-1:] == ["core-default.xml"]:
                continue
            value: str | None = settings.get(each)
            if value is not None:
                return value.strip()
        return None

    return get
